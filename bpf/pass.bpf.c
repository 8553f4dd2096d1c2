// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Restore passes: runs of a driver's restore worker. A run without a fault and without a resume had
 * nothing to restore and is no pass. Where hmm_range_fault() cannot be probed only passes that
 * ended in a resume are seen.
 */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "pass.bpf.h"
#include "watch.bpf.h"
#include "thread.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline int pass_entry(struct work_struct *work)
{
	struct hcw_thread *t = thread_enter(HCW_R_PASS);
	__u64 now = pass_edge();

	if (!t)
		return 0;
	thread_unended(HCW_R_PASS, t->pass.start);
	t->pass.start = now;
	t->pass.mm = 0;
	t->pass.work = (__u64)work;
	t->pass.faults = 0;
	t->pass.resumed = 0;
	return 0;
}

static __always_inline int pass_return(void)
{
	HCW_RECORD(struct hcw_pass) r = {};
	struct hcw_thread *t = thread_find();
	__u64 now = pass_edge();
	struct task_struct *owner;
	struct mm_struct *mm;

	if (!t || !t->pass.start)
		return 0;
	r.body = t->pass;
	t->pass.start = 0;
	mm = (struct mm_struct *)r.body.mm;
	if (mm && kfd_watched(mm, mm_tgid(mm))) {
		/* it can be the first that is seen of its process */
		owner = compat_mm_owner(mm);
		if (owner)
			tell_task(owner, now);
		emit_at(&r.rec, HCW_R_PASS, sizeof(r), now);
	}
	thread_leave(t);
	return 0;
}

/* fentry binds one program to one function: a pair for each worker. */
#define PASS_PAIR(worker)                                                      \
	SEC("fentry")                                                          \
	int BPF_PROG(restore_pass_##worker##_fentry, struct work_struct *work) \
	{                                                                      \
		return pass_entry(work);                                       \
	}                                                                      \
	SEC("fexit")                                                           \
	int BPF_PROG(restore_pass_##worker##_fexit)                            \
	{                                                                      \
		return pass_return();                                          \
	}

PASS_PAIR(userptr)
PASS_PAIR(svm)
PASS_PAIR(gpusim)

SEC("kprobe")
int BPF_KPROBE(restore_pass_kprobe, struct work_struct *work)
{
	return pass_entry(work);
}

SEC("kretprobe")
int BPF_KRETPROBE(restore_pass_kretprobe)
{
	return pass_return();
}

static __always_inline int fault_entry(struct hmm_range *range)
{
	struct hcw_thread *t = thread_find();

	if (!t || !t->pass.start)
		return 0;
	t->pass.mm = (__u64)BPF_CORE_READ(range, notifier, mm);
	t->pass.faults++;
	return 0;
}

SEC("fentry")
int BPF_PROG(restore_fault_fentry, struct hmm_range *range)
{
	return fault_entry(range);
}

SEC("kprobe")
int BPF_KPROBE(restore_fault_kprobe, struct hmm_range *range)
{
	return fault_entry(range);
}
