// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Children of watched processes, and the end of threads that stood in any record. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "emit.bpf.h"
#include "watch.bpf.h"
#include "thread.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Before the child runs, so it does nothing unseen. */
static __always_inline int task_fork(struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = BPF_CORE_READ(child, tgid), one = HCW_WATCHED;
	__u32 parent_tgid = BPF_CORE_READ(parent, tgid);

	if (tgid == parent_tgid || !tgid_followed(parent_tgid))
		return 0;
	inner_pids_remember(child);
	if (bpf_map_update_elem(&watched, &tgid, &one, BPF_ANY))
		count_limit(HCW_LIMIT_WATCHED, 1);
	else
		tell_task(child, bpf_ktime_get_boot_ns());
	return 0;
}

SEC("tp_btf")
int BPF_PROG(task_fork_tp_btf, struct task_struct *parent, struct task_struct *child)
{
	return task_fork(parent, child);
}

SEC("raw_tp")
int BPF_PROG(task_fork_raw_tp, struct task_struct *parent, struct task_struct *child)
{
	return task_fork(parent, child);
}

/* Once the process is reaped its numbers are other processes'. */
static __noinline int inner_pids_forget(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level), i;

	for (i = 1; i <= HCW_MAX_LEVELS; i++) {
		struct hcw_inner_pid key;

		if (i > level)
			break;
		key = inner_pid_at(pid, i);
		if (!bpf_map_delete_elem(&inner_pids, &key))
			count_limit(HCW_LIMIT_INNER_PIDS, -1);
	}
	return 0;
}

/* do_exit() has counted the current thread out already. */
static __always_inline bool current_is_last(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return !BPF_CORE_READ(task, signal, live.counter);
}

/* The tracepoint's task is the current one, and has no mm any more: the remembered one is told. The
 * last thread, whichever it is, is told for its process, too. */
static __always_inline int task_exit(void)
{
	HCW_RECORD(struct hcw_task_exit) r = {};
	__u32 tid = current_tid(), tgid = current_tgid();
	bool listed = tgid_listed(tgid);
	struct hcw_task *seen;

	thread_gone(tid);
	r.body.last = current_is_last();
	seen = bpf_map_lookup_elem(&seen_tasks, &tid);
	if (!seen && r.body.last)
		seen = bpf_map_lookup_elem(&seen_tasks, &tgid);
	if (seen || (listed && r.body.last)) {
		r.body.mm = seen ? seen->mm : 0;
		r.body.tid = tid;
		r.body.tgid = tgid;
		r.rec.ts = bpf_ktime_get_boot_ns();
		ring_write(&r.rec, HCW_R_TASK_EXIT, sizeof(r));
	}
	/* the leader's entry stands for the process as long as that has threads */
	if (tid != tgid)
		forget_task(tid);
	if (!r.body.last)
		return 0;
	forget_task(tgid);
	inner_pids_forget((struct task_struct *)bpf_get_current_task());
	/* the number may be another process' as soon as it is reaped */
	if (listed)
		bpf_map_delete_elem(&watched, &tgid);
	return 0;
}

SEC("tp_btf")
int BPF_PROG(task_exit_tp_btf)
{
	return task_exit();
}

SEC("raw_tp")
int BPF_PROG(task_exit_raw_tp)
{
	return task_exit();
}
