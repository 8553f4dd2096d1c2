/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict on each pool, always about page migration. Silence clears nobody: everything that
 * could hide a move or an episode makes it inconclusive, and each such thing is a reason of its
 * own.
 */
#include <stdlib.h>
#include "internal.h"

static bool have(const struct hcw_chain *c, enum hcw_record_type t)
{
	return c->sources & (1u << t);
}

/* Records without which "nothing happened" cannot be said. */
static bool needed(__u32 source)
{
	switch (source) {
	case 0: /* all */
	case HCW_R_MOVE_PAGES:
	case HCW_R_MIGRATE:
	case HCW_R_INVAL:
	case HCW_R_QUIESCE:
	case HCW_R_EVICT:
	case HCW_R_POOL_FREE:
		return true;
	default:
		return false;
	}
}

static bool sources_complete(const struct hcw_chain *c)
{
	return have(c, HCW_R_MOVE_PAGES) && have(c, HCW_R_MIGRATE) && have(c, HCW_R_INVAL) &&
	       (have(c, HCW_R_QUIESCE) || have(c, HCW_R_EVICT));
}

struct span {
	__u64 from, to; /* both inside */
};

static int by_from(const void *a, const void *b)
{
	__u64 x = ((const struct span *)a)->from, y = ((const struct span *)b)->from;

	return (x > y) - (x < y);
}

/* Times in which needed records are missing, apart from each other and in order, `*n` of them; for
 * the caller to free. NULL when memory is short. */
static struct span *lossy_spans(const struct hcw_model *m, size_t *n)
{
	struct span *s = malloc((m->n_holes + 1) * sizeof(*s));
	size_t i, all = 0, kept = 0;

	if (!s)
		return NULL;
	for (i = 0; i < m->n_holes; i++) {
		const struct hcw_hole_info *h = &m->holes[i];

		if (needed(h->source) && h->from <= h->to)
			s[all++] = (struct span){h->from, h->to};
	}
	qsort(s, all, sizeof(*s), by_from);
	for (i = 0; i < all; i++) {
		if (!kept || s[i].from > s[kept - 1].to)
			s[kept++] = s[i];
		else if (s[i].to > s[kept - 1].to)
			s[kept - 1].to = s[i].to;
	}
	*n = kept;
	return s;
}

static bool span_over(const struct span *s, size_t n, __u64 from, __u64 to)
{
	size_t lo = 0, hi = n, mid;

	/* the last one that begins by `to` also ends last of those */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s[mid].from <= to)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && s[lo - 1].to >= from;
}

/* Records that were lost without a hole that says when: they may have been over any attempt. */
static bool loss_unplaced(const struct hcw_model *m)
{
	__u64 placed;
	size_t i;
	__u32 s;

	for (s = 1; s < HCW_R_BPF_COUNT; s++) {
		if (!needed(s) || !m->totals[s].lost)
			continue;
		placed = 0;
		for (i = 0; i < m->n_holes; i++)
			if (m->holes[i].source == s)
				placed += m->holes[i].count;
		if (placed < m->totals[s].lost)
			return true;
	}
	return false;
}

static void count_lossy(struct hcw_model *m)
{
	struct span *lossy;
	size_t i, n;

	lossy = lossy_spans(m, &n);
	if (!lossy) {
		m->dropped++; /* then nothing is cleared */
		return;
	}
	for (i = 0; i < m->n_pools; i++)
		m->pools[i].lossy = 0;
	for (i = 0; i < m->n_attempts; i++)
		if (m->attempts[i].pool >= 0 &&
		    span_over(lossy, n, m->attempts[i].start, m->attempts[i].end))
			m->pools[m->attempts[i].pool].lossy++;
	free(lossy);
}

/*
 * An episode of the pool's process, by a notifier, whose range nobody saw, or such an eviction
 * nested in one: it may have been this pool's.
 */
static bool range_unknown(const struct hcw_model *m, const struct hcw_pool_info *p)
{
	size_t i;

	for (i = 0; i < m->n_episodes; i++) {
		const struct hcw_episode *e = &m->episodes[i];

		if (e->victim == p->tgid &&
		    ((e->trigger <= HCW_TRIGGER_USERPTR && e->hi <= e->lo) || e->nested_unseen) &&
		    e->start >= p->allocated && (!p->freed || e->start <= p->freed))
			return true;
	}
	return false;
}

static unsigned int mapping_reasons(const struct hcw_pool_info *p)
{
	if (p->mapped_ordinary)
		return HCW_WHY_ORDINARY_PAGES;
	if (p->bytes && p->mapped_special == p->bytes)
		return HCW_WHY_DRIVER_PAGES;
	return HCW_WHY_MAPPING_UNREAD;
}

/* What stands between the attempts that were made and calling it a trial. */
static unsigned int doubts(const struct hcw_chain *c, const struct hcw_pool_info *p, bool loss)
{
	const struct hcw_model *m = &c->model;
	unsigned int why = 0;

	if (!p->attempts)
		why |= HCW_WHY_NO_ATTEMPT;
	if (!sources_complete(c))
		why |= HCW_WHY_PROBE_MISSING;
	if (p->lossy)
		why |= HCW_WHY_LOSS;
	if (p->truncated)
		why |= HCW_WHY_STATUS_TRUNCATED;
	if (p->refused_other || p->stayed)
		why |= HCW_WHY_OTHER_STATUS;
	if (p->outside)
		why |= HCW_WHY_ATTEMPT_OUTSIDE;
	if (range_unknown(m, p))
		why |= HCW_WHY_RANGE_UNKNOWN;
	if (m->dropped || loss)
		why |= HCW_WHY_LOSS;
	if (!m->ended)
		why |= HCW_WHY_TRACE_CUT;
	return why;
}

/* `loss`: records of needed sources are missing and nobody knows when. */
static void judge(const struct hcw_chain *c, struct hcw_pool_info *p, bool loss)
{
	unsigned int map = mapping_reasons(p), doubt = doubts(c, p, loss);

	if (p->moved || p->episodes) {
		p->verdict = HCW_VERDICT_EXPOSED;
		p->evidence = HCW_EVIDENCE_TRIAL;
		p->reasons = (map & ~(unsigned int)HCW_WHY_MAPPING_UNREAD) |
			     (p->moved ? HCW_WHY_MOVED : 0) | (p->episodes ? HCW_WHY_EPISODE : 0);
		return;
	}
	if (map == HCW_WHY_ORDINARY_PAGES) {
		/* whether a GPU holds it under a notifier is what its owner said or an episode
		 * shows */
		p->verdict =
			p->backing == HCW_BACKING_REGISTERED || p->backing == HCW_BACKING_USERPTR
				? HCW_VERDICT_EXPOSED
				: HCW_VERDICT_INCONCLUSIVE;
		p->evidence = HCW_EVIDENCE_MAPPING;
		p->reasons = map | doubt;
		return;
	}
	if (map != HCW_WHY_DRIVER_PAGES) {
		p->verdict = HCW_VERDICT_INCONCLUSIVE;
		p->evidence = HCW_EVIDENCE_NONE;
		p->reasons = map | doubt;
		return;
	}
	p->verdict = HCW_VERDICT_IMMUNE;
	p->evidence = doubt ? HCW_EVIDENCE_MAPPING : HCW_EVIDENCE_TRIAL;
	p->reasons = map | (doubt ? doubt : HCW_WHY_REFUSED);
}

void chain_verdicts(struct hcw_chain *c)
{
	bool loss = loss_unplaced(&c->model);
	size_t i;

	count_lossy(&c->model);
	for (i = 0; i < c->model.n_pools; i++)
		judge(c, &c->model.pools[i], loss);
}
