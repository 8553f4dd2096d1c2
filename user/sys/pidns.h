/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What numbers a process has: one in each pid namespace it is in, from the one /proc was mounted in
 * down to its own. Source: fs/proc/array.c task_state() (NSpid since 4.1), kernel/pid_namespace.c.
 */
#ifndef HCS_PIDNS_H
#define HCS_PIDNS_H

#include "sys.h"

#define HCS_PIDNS_LEVELS  33	      /* MAX_PID_NS_LEVEL 32, and the initial one */
#define HCS_PIDNS_INITIAL 0xEFFFFFFCu /* inode of the initial one: PROC_PID_INIT_INO */

struct hcs_pid_names {
	pid_t tgid; /* the thread's process, as this /proc numbers it; the thread itself if it is
		       one */
	unsigned int levels;		/* at least 1 */
	pid_t number[HCS_PIDNS_LEVELS]; /* [0] as this /proc numbers it, [levels - 1] as it sees
					   itself */
};

/*
 * From /proc/<pid>/status (0 = self); `pid` may be any thread's. A kernel without pid namespaces
 * gives one level. -ENOENT when it is gone.
 */
int hcs_pid_names(int root, pid_t pid, struct hcs_pid_names *out, uint64_t deadline);

/*
 * Inode of the process's pid namespace, as lsns(8) prints it. -EACCES when it is not ours to look
 * at (another user's, without CAP_SYS_PTRACE), -ENOENT when it is gone or a zombie.
 */
int hcs_pid_ns(int root, pid_t pid, uint64_t *inode, uint64_t deadline);

/*
 * The same for each of its `levels` namespaces (of struct hcs_pid_names), in the same order; 0
 * where the kernel will not tell one above its own.
 */
int hcs_pid_ns_levels(int root, pid_t pid, uint64_t *inode, size_t levels, uint64_t deadline);

/*
 * The caller's pid as this /proc numbers it: getpid() says another when it was mounted in a
 * namespace above ours. -ENOENT: it was mounted in one we are not in.
 */
int hcs_pid_self(int root, pid_t *pid, uint64_t deadline);

#endif
