/* SPDX-License-Identifier: BSD-2-Clause */
/* evicted_ms of this process, and under which number KFD knows it. */
#ifndef HCSTALL_EVICTED_H
#define HCSTALL_EVICTED_H

#include "err.h"
#include "result.h"

/*
 * `kfd_pid` is the number of this process on the host, 0 = its own. count is -1 when evicted_ms
 * cannot be read: no KFD in sysfs, or no number was given and this pid namespace is not the host's.
 */
void stall_evicted_read(int root, pid_t kfd_pid, struct stall_evicted *out);

/*
 * Whether a number given by the user can be this process; to be asked before HIP is opened, when
 * KFD must not know it yet. 0, or -1 with err.
 */
int stall_kfd_pid_before(int root, pid_t kfd_pid, struct stall_err *err);

/* The same afterwards, when KFD must know it. */
int stall_kfd_pid_after(int root, pid_t kfd_pid, struct stall_err *err);

#endif
