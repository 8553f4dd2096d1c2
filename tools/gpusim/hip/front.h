/* SPDX-License-Identifier: BSD-2-Clause */
/* What the entry points share: the back end in use, and HIP's last error. */
#ifndef GPUSIM_FRONT_H
#define GPUSIM_FRONT_H

#include "backend.h"

/* Makes sure the back end is there. Its answer is the same every time. */
hipError_t front_ready(void);

/* Only after front_ready() gave hipSuccess. */
const struct backend *front_backend(void);

/* Remembers a failure for hipGetLastError() and returns it. */
hipError_t front_result(hipError_t error);

#endif
