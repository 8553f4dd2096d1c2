// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* MMU-notifier range starts on watched processes, and the driver's callback that says which
 * registered range was hit. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "invalidation.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("fentry")
int BPF_PROG(notifier_fentry, struct mmu_notifier_range *range)
{
	return notifier_entry(range);
}

SEC("kprobe")
int BPF_KPROBE(notifier_kprobe, struct mmu_notifier_range *range)
{
	return notifier_entry(range);
}

/*
 * A process that was at KFD before we came is first met here, after its notifier hit went by
 * unwatched: it is remembered, and the hit recorded now.
 */
static __always_inline void meet_process(struct mm_struct *mm, __u32 victim,
					 const struct mmu_notifier_range *range)
{
	bool known = kfd_tgid(mm) == victim;

	kfd_remember(mm, victim);
	if (victim && !known && watching_all() && !tgid_listed(victim))
		inval_record(range, victim);
}

static __always_inline int callback_entry(struct mmu_interval_notifier *mni,
					  const struct mmu_notifier_range *range)
{
	struct mm_struct *mm = BPF_CORE_READ(mni, mm);
	__u32 victim = mm_tgid(mm);
	struct hcw_thread *t;

	meet_process(mm, victim, range);
	if (!kfd_watched(mm, victim))
		return 0;
	/* makes no record: a quiesce that follows is counted by its own entry */
	t = thread_get();
	if (!t)
		return 0;
	t->callback.mm = (__u64)mm;
	t->callback.lo = BPF_CORE_READ(mni, interval_tree.start);
	t->callback.hi = BPF_CORE_READ(mni, interval_tree.last) + 1;
	return 0;
}

static __always_inline int callback_return(void)
{
	struct hcw_thread *t = thread_find();

	if (!t || !t->callback.mm)
		return 0;
	t->callback.mm = 0;
	thread_leave(t);
	return 0;
}

/* fentry binds one program to one function: a pair for each driver function that can exist next to
 * the others. */
#define CALLBACK_PAIR(driver)                                                           \
	SEC("fentry")                                                                   \
	int BPF_PROG(hsa_callback_##driver##_fentry, struct mmu_interval_notifier *mni, \
		     const struct mmu_notifier_range *range)                            \
	{                                                                               \
		return callback_entry(mni, range);                                      \
	}                                                                               \
	SEC("fexit")                                                                    \
	int BPF_PROG(hsa_callback_##driver##_fexit)                                     \
	{                                                                               \
		return callback_return();                                               \
	}

CALLBACK_PAIR(hmm)
CALLBACK_PAIR(mn)
CALLBACK_PAIR(svm)
CALLBACK_PAIR(gpusim)

SEC("kprobe")
int BPF_KPROBE(hsa_callback_kprobe, struct mmu_interval_notifier *mni,
	       const struct mmu_notifier_range *range)
{
	return callback_entry(mni, range);
}

SEC("kretprobe")
int BPF_KRETPROBE(hsa_callback_kretprobe)
{
	return callback_return();
}
