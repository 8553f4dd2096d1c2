/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterations, their running median, and the stalls among them. */
#include <stdlib.h>
#include "internal.h"

#define STALL_FACTOR 3
#define STALL_EXCESS 1000000ull /* ns over the median */
#define STALL_AFTER  8		/* iterations before a median means anything */

/* The open iteration of this thread and id, NULL = none. */
static struct open_iter *iter_find(struct victim_state *vs, __u32 tid, __u64 id)
{
	size_t i;

	for (i = 0; i < HCW_OPEN_ITERS; i++)
		if (vs->iter[i].tid == tid && vs->iter[i].id == id)
			return &vs->iter[i];
	return NULL;
}

/* A free place, or that of the oldest, whose end will not come any more. */
static struct open_iter *iter_place(struct hcw_chain *c, int v)
{
	struct open_iter *iter = c->victims[v].iter, *oldest = iter;
	size_t i;

	for (i = 0; i < HCW_OPEN_ITERS; i++) {
		if (!iter[i].tid)
			return &iter[i];
		if (iter[i].start < oldest->start)
			oldest = &iter[i];
	}
	c->model.victims[v].iterations_unpaired++;
	return oldest;
}

static void stall_add(struct hcw_chain *c, const struct hcw_stall *s)
{
	struct hcw_model *m = &c->model;

	if (!chain_room(&m->stalls, &c->cap_stalls, m->n_stalls, HCW_MAX_STALLS, sizeof(*m->stalls),
			&m->dropped_stalls))
		return;
	m->stalls[m->n_stalls++] = *s;
}

static bool hist_take(struct hcw_chain *c, struct hcw_hist **h)
{
	if (!*h)
		*h = calloc(1, sizeof(**h));
	if (!*h)
		c->model.dropped_stalls++;
	return *h;
}

static __u64 overlap(const struct hcw_episode *e, __u64 start, __u64 end)
{
	__u64 from = e->start > start ? e->start : start;
	__u64 to = e->end && e->end < end ? e->end : end;

	return from < to ? to - from : 0;
}

/* Of the episodes of the group, the one it overlaps longest; for an iteration that overlaps none of
 * its own process. */
static int collateral_of(const struct hcw_chain *c, __u64 start, __u64 end)
{
	__u64 longest = 0, ns;
	int ep, best = -1;
	size_t i;

	for (i = 0; c->one_group && i < c->model.n_victims; i++) {
		const struct victim_state *vs = &c->victims[i];

		for (ep = vs->open >= 0 ? vs->open : vs->last; ep >= 0;
		     ep = c->model.episodes[ep].previous) {
			if (c->model.episodes[ep].end && c->model.episodes[ep].end < start)
				break;
			ns = overlap(&c->model.episodes[ep], start, end);
			if (ns > longest) {
				longest = ns;
				best = ep;
			}
		}
	}
	return best;
}

static void count_calm(struct hcw_chain *c, int v, __u64 ns)
{
	struct victim_state *vs = &c->victims[v];

	if (!hist_take(c, &vs->calm))
		return;
	hcw_hist_add(vs->calm, ns);
	if (ns > vs->calm_max)
		vs->calm_max = ns;
}

static bool is_stall(const struct hcw_hist *h, __u64 median, __u64 ns)
{
	return h->n >= STALL_AFTER && ns / STALL_FACTOR >= median && ns > STALL_FACTOR * median &&
	       ns - median > STALL_EXCESS;
}

static void iter_done(struct hcw_chain *c, int v, __u64 start, __u64 end)
{
	struct hcw_victim *vi = &c->model.victims[v];
	struct hcw_stall s = {.start = start, .end = end, .victim = vi->tgid, .collateral = -1};
	__u64 ns = end - start;
	struct hcw_hist *h;
	bool stall;

	if (!hist_take(c, &c->victims[v].hist))
		return;
	h = c->victims[v].hist;
	s.median = hcw_hist_median(h);
	stall = is_stall(h, s.median, ns);
	s.episode = chain_episodes_under(c, v, start, end, stall);
	if (s.episode < 0)
		s.collateral = collateral_of(c, start, end);
	if (s.episode < 0 && s.collateral < 0)
		count_calm(c, v, ns);
	if (stall)
		stall_add(c, &s);
	hcw_hist_add(h, ns);
	vi->iterations++;
	vi->iteration_ns += ns;
	if (ns > vi->iteration_max)
		vi->iteration_max = ns;
}

static void iter_begin(struct hcw_chain *c, int v, __u32 tid, __u64 id, __u64 ts)
{
	struct open_iter *slot = iter_find(&c->victims[v], tid, id);
	struct thread_slot *s = chain_thread(c, tid);

	if (slot)
		c->model.victims[v].iterations_unpaired++;
	else
		slot = iter_place(c, v);
	*slot = (struct open_iter){.id = id, .start = ts, .tid = tid};
	if (!s)
		return;
	slot->unique = s->iter_seen && id > s->iter;
	s->iter = id;
	s->iter_seen = true;
}

/* Between the two marks others were lost: does this end belong to that begin? */
static bool pair_doubtful(const struct hcw_chain *c, const struct open_iter *slot, __u64 end)
{
	const struct hcw_model *m = &c->model;
	size_t i;

	if (slot->unique || slot->start > c->iter_hole)
		return false;
	for (i = m->n_holes; i-- > 0;) {
		const struct hcw_hole_info *h = &m->holes[i];

		if ((!h->source || h->source == HCW_R_ITER_BEGIN || h->source == HCW_R_ITER_END) &&
		    h->from <= end && h->to >= slot->start)
			return true;
	}
	return false;
}

static void iter_end(struct hcw_chain *c, int v, __u32 tid, __u64 id, __u64 ts)
{
	struct open_iter *slot = iter_find(&c->victims[v], tid, id);

	if (!slot || ts < slot->start) {
		c->model.victims[v].iterations_unpaired++;
		return;
	}
	if (pair_doubtful(c, slot, ts))
		c->model.victims[v].iterations_unpaired += 2;
	else
		iter_done(c, v, slot->start, ts);
	slot->tid = 0;
}

void chain_iter(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_iter it;
	int v;

	chain_body(rec, &it, sizeof(it));
	v = chain_victim(c, it.tgid, 0);
	if (v < 0 || !rec->tid)
		return; /* no thread has id 0 */
	if (rec->type == HCW_R_ITER_BEGIN)
		iter_begin(c, v, rec->tid, it.id, rec->ts);
	else
		iter_end(c, v, rec->tid, it.id, rec->ts);
}

void chain_iter_abandon(struct hcw_chain *c, __u32 tgid, __u32 tid)
{
	int v = tid && tgid ? chain_victim_find(c, tgid, 0) : -1;
	size_t i;

	for (i = 0; v >= 0 && i < HCW_OPEN_ITERS; i++) {
		struct open_iter *slot = &c->victims[v].iter[i];

		if (slot->tid != tid)
			continue;
		c->model.victims[v].iterations_unpaired++;
		slot->tid = 0;
	}
}
