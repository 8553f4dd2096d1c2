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

/* NULL, counted, when too many threads are inside of something. */
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
	if (!t)
		count_limit(HCW_LIMIT_THREADS, 1);
	return t;
}

/* The same for what is needed to make a record: without an entry it is counted as lost. */
static __always_inline struct hcw_thread *thread_enter(__u32 record_type)
{
	struct hcw_thread *t = thread_get();

	if (!t)
		count_map_full(record_type);
	return t;
}

/*
 * A function of this kind is entered, or its thread ends, and an earlier one is still open since
 * `start` (0 = none): its end was not seen. It is dropped, or the next end would be taken for its
 * own.
 */
static __always_inline void thread_unended(__u32 record_type, __u64 start)
{
	struct hcw_unpaired *u = start ? bpf_map_lookup_elem(&unpaired, &record_type) : NULL;

	if (u)
		__sync_fetch_and_add(&u->unended, 1);
}

/* An end without a start. */
static __always_inline int thread_unbegun(__u32 record_type)
{
	struct hcw_unpaired *u = bpf_map_lookup_elem(&unpaired, &record_type);

	if (u)
		__sync_fetch_and_add(&u->unbegun, 1);
	return 0;
}

/* Whatever the thread is still inside of will not end any more. */
static __always_inline void thread_gone(__u32 tid)
{
	struct hcw_thread *t = bpf_map_lookup_elem(&threads, &tid);

	if (!t)
		return;
	thread_unended(HCW_R_MOVE_PAGES, t->move.start);
	thread_unended(HCW_R_MIGRATE, t->migrate.start);
	thread_unended(HCW_R_QUIESCE, t->quiesce.start);
	thread_unended(HCW_R_RESUME, t->resume.start);
	thread_unended(HCW_R_EVICT, t->evict.start);
	thread_unended(HCW_R_RESTORE, t->restore.start);
	thread_unended(HCW_R_PASS, t->pass.start);
	bpf_map_delete_elem(&threads, &tid);
}

static __always_inline __u32 thread_reason(const struct hcw_thread *t)
{
	return t && t->migrate.start ? t->migrate.reason : HCW_REASON_NONE;
}

static __always_inline __u32 thread_via(const struct hcw_thread *t)
{
	if (t && t->scanning)
		return HCW_VIA_NUMA_SCAN;
	return t && t->move.start ? HCW_VIA_MOVE_PAGES : HCW_VIA_UNKNOWN;
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
