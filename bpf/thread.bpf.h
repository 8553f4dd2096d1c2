/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the current thread is inside of: migrate -> notifier -> evict nest in one thread, and that
 * is the cause. */
#ifndef HCW_THREAD_BPF_H
#define HCW_THREAD_BPF_H

#include "emit.bpf.h"

/* NULL when the thread is inside of nothing. */
static __always_inline struct hcw_thread *thread_find(void)
{
	__u32 tid = current_tid();

	return bpf_map_lookup_elem(&threads, &tid);
}

/* NULL when too many threads are inside of something. */
static __always_inline struct hcw_thread *thread_get(void)
{
	struct hcw_thread *t = thread_find();
	__u32 tid = current_tid();
	__u32 zero = 0;
	void *idle;

	if (t)
		return t;
	idle = bpf_map_lookup_elem(&idle_thread, &zero);
	if (idle && !bpf_map_update_elem(&threads, &tid, idle, BPF_NOEXIST))
		t = bpf_map_lookup_elem(&threads, &tid);
	return t;
}

/* The same for what is needed to make a record: without an entry it is counted as lost. */
static __always_inline struct hcw_thread *thread_enter(__u32 record_type)
{
	struct hcw_thread *t = thread_get();

	if (!t)
		count_lost(record_type);
	return t;
}

static __always_inline __u32 thread_reason(const struct hcw_thread *t)
{
	return t && t->migrate.start ? t->migrate.reason : HCW_REASON_NONE;
}

static __always_inline __u32 thread_via(const struct hcw_thread *t)
{
	return t && t->scanning ? HCW_VIA_NUMA_SCAN : HCW_VIA_UNKNOWN;
}

/* Frees the entry when nothing is open any more. */
static __always_inline void thread_leave(const struct hcw_thread *t)
{
	__u32 tid = current_tid();

	if (t->attempt || t->scanning || t->callback.mm || t->quiesce.start || t->resume.start ||
	    t->evict.start || t->restore.start || t->pass.start)
		return;
	bpf_map_delete_elem(&threads, &tid);
}

#endif
