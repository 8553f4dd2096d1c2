/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers of processes in other pid namespaces than the initial one. A system call names its target
 * by the caller's namespace's number; records name processes by the host's. The kernel's own
 * translation cannot be asked for on 6.1, so the numbers of the processes that matter, those that
 * are watched or were seen at KFD, are remembered.
 */
#ifndef HCW_PIDNS_BPF_H
#define HCW_PIDNS_BPF_H

#include "emit.bpf.h"
#include <bpf/bpf_core_read.h>

#define HCW_MAX_LEVELS \
	8 /* below the initial namespace; the kernel allows 32, nobody nests so deep */

/* Its address is computed: CO-RE has no relocation of a variable index. */
static __always_inline struct upid *pid_at(struct pid *pid, __u32 level)
{
	return (struct upid *)((char *)pid + bpf_core_field_offset(struct pid, numbers) +
			       level * bpf_core_type_size(struct upid));
}

static __always_inline struct hcw_inner_pid inner_pid_at(struct pid *pid, __u32 level)
{
	struct upid *u = pid_at(pid, level);

	return (struct hcw_inner_pid){.ns = BPF_CORE_READ(u, ns, ns.inum),
				      .pid = BPF_CORE_READ(u, nr)};
}

/* The process's number in each namespace it is in, also those between the host's and its own. */
static __noinline int inner_pids_remember(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level), tgid = BPF_CORE_READ(task, tgid), i;

	for (i = 1; i <= HCW_MAX_LEVELS; i++) {
		struct hcw_inner_pid key;
		bool known;

		if (i > level)
			break;
		key = inner_pid_at(pid, i);
		known = bpf_map_lookup_elem(&inner_pids, &key);
		if (!bpf_map_update_elem(&inner_pids, &key, &tgid, BPF_ANY) && !known)
			count_limit(HCW_LIMIT_INNER_PIDS, 1);
	}
	return 0;
}

#endif
