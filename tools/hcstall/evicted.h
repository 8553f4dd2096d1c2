/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HCSTALL_EVICTED_H
#define HCSTALL_EVICTED_H

#include "result.h"

/*
 * evicted_ms of this process. count is -1 when it cannot be read: no KFD in sysfs, or a pid
 * namespace of our own, in which KFD knows this process by a number we cannot see.
 */
void stall_evicted_read(int root, struct stall_evicted *out);

#endif
