/* SPDX-License-Identifier: BSD-2-Clause */
/* Control groups of a process. Source: kernel/cgroup/cgroup.c proc_cgroup_show(), cgroups(7). */
#ifndef HCS_CGROUP_H
#define HCS_CGROUP_H

#include "sys.h"

/*
 * Whether the process is in the group `path` or in one below it, in any hierarchy: version 2
 * ("0::PATH") or one of version 1 ("N:CONTROLLERS:PATH"). `path` is relative to the hierarchy's
 * mount and begins with a slash; slashes at its end do not count. Only whole names match: "/a/b" is
 * not below "/a/bc". 1, 0, or -errno; -ENOENT when the process is gone.
 */
int hcs_cgroup_in(int root, pid_t pid, const char *path, uint64_t deadline);

#endif
