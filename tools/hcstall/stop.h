/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HCSTALL_STOP_H
#define HCSTALL_STOP_H

#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP ask for a clean end; a second one kills. */
void stall_stop_install(void);

/* Whether one of them has come. */
bool stall_stopped(void);

#endif
