/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One invalidation of a watched mm: aggregated inside an attempt, a record of its own outside. */
#ifndef HCW_INVALIDATION_BPF_H
#define HCW_INVALIDATION_BPF_H

#include "pass.bpf.h"
#include "watch.bpf.h"
#include "thread.bpf.h"

/* So that a long attempt is seen while it runs. */
#define HCW_PENDING_MAX_NS 10000000ULL

/* `ts` is when the last of them was, or the end of the attempt. */
static __noinline int flush_pending(struct hcw_thread *t, __u64 ts)
{
	HCW_RECORD(struct hcw_inval) r = {};

	if (!t || !t->pending.count)
		return 0;
	r.body = t->pending;
	r.body.span = t->last - t->pending.start;
	t->pending.count = 0;
	emit_at(&r.rec, HCW_R_INVAL, sizeof(r), ts);
	return 0;
}

static __always_inline void inval_fill(struct hcw_inval *i, const struct mmu_notifier_range *range,
				       __u64 now, __u32 victim, const struct hcw_thread *t)
{
	i->start = now;
	i->mm = (__u64)BPF_CORE_READ(range, mm);
	i->lo = BPF_CORE_READ(range, start);
	i->hi = BPF_CORE_READ(range, end);
	i->attempt = t ? t->attempt : 0;
	i->count = 1;
	i->event = BPF_CORE_READ(range, event);
	i->victim = victim;
	i->reason = thread_reason(t);
	i->via = thread_via(t);
}

static __always_inline bool inval_joins(const struct hcw_inval *a, const struct hcw_inval *b)
{
	return a->count && a->mm == b->mm && a->event == b->event && a->reason == b->reason &&
	       a->via == b->via && b->start - a->start < HCW_PENDING_MAX_NS;
}

static __always_inline void inval_aggregate(struct hcw_thread *t, const struct hcw_inval *i,
					    __u64 epoch)
{
	t->move.hit = 1;
	t->migrate.hit = 1;
	if (epoch && epoch == t->epoch && inval_joins(&t->pending, i)) {
		if (i->lo < t->pending.lo)
			t->pending.lo = i->lo;
		if (i->hi > t->pending.hi)
			t->pending.hi = i->hi;
		t->pending.count++;
	} else {
		flush_pending(t, t->last);
		t->pending = *i;
		t->epoch = epoch;
	}
	t->last = i->start;
}

static __always_inline void inval_record(const struct mmu_notifier_range *range, __u32 victim)
{
	HCW_RECORD(struct hcw_inval) r = {};
	struct hcw_thread *t = thread_find();
	__u64 now, epoch = pass_epoch(&now);

	inval_fill(&r.body, range, now, victim, t);
	if (t && t->attempt)
		inval_aggregate(t, &r.body, epoch);
	else
		emit_at(&r.rec, HCW_R_INVAL, sizeof(r), now);
}

/* Called for every process of the host: its cost for one that is not watched is what all pay. */
static __always_inline int notifier_entry(const struct mmu_notifier_range *range)
{
	struct mm_struct *mm = BPF_CORE_READ(range, mm);
	__u32 victim = mm_tgid(mm);

	if (mm_watched(mm, victim))
		inval_record(range, victim);
	return 0;
}

#endif
