/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterations, their running median, and the stalls among them. */
#include <stdlib.h>
#include "internal.h"

#define STALL_FACTOR 3
#define STALL_EXCESS 1000000ull /* ns over the median */
#define STALL_AFTER  8		/* iterations before a median means anything */

static struct open_iter *iter_slot(struct victim_state *vs, __u32 tid, __u64 id)
{
	struct open_iter *spare = NULL;
	size_t i;

	for (i = 0; i < HCW_OPEN_ITERS; i++) {
		if (vs->iter[i].tid == tid && vs->iter[i].id == id)
			return &vs->iter[i];
		if (!vs->iter[i].tid && !spare)
			spare = &vs->iter[i];
	}
	return spare;
}

static void stall_add(struct hcw_chain *c, const struct hcw_stall *s)
{
	struct hcw_model *m = &c->model;

	if (!chain_room(&m->stalls, &c->cap_stalls, m->n_stalls, HCW_MAX_STALLS, sizeof(*m->stalls),
			&m->dropped_stalls))
		return;
	m->stalls[m->n_stalls++] = *s;
}

static void iter_done(struct hcw_chain *c, int v, __u64 start, __u64 end)
{
	struct hcw_victim *vi = &c->model.victims[v];
	struct hcw_hist *h = c->victims[v].hist;
	struct hcw_stall s = {.start = start, .end = end, .victim = vi->tgid};
	__u64 ns = end - start;
	bool stall;

	if (!h) {
		h = c->victims[v].hist = calloc(1, sizeof(*h));
		if (!h) {
			c->model.dropped_stalls++;
			return;
		}
	}
	s.median = hcw_hist_median(h);
	stall = h->n >= STALL_AFTER && ns / STALL_FACTOR >= s.median &&
		ns > STALL_FACTOR * s.median && ns - s.median > STALL_EXCESS;
	s.episode = chain_episodes_under(c, v, start, end, stall);
	if (stall)
		stall_add(c, &s);
	hcw_hist_add(h, ns);
	vi->iterations++;
	vi->iteration_ns += ns;
	if (ns > vi->iteration_max)
		vi->iteration_max = ns;
}

void chain_iter(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct open_iter *slot;
	struct hcw_iter it;
	int v;

	chain_body(rec, &it, sizeof(it));
	v = chain_victim(c, it.tgid, 0);
	if (v < 0)
		return;
	slot = iter_slot(&c->victims[v], rec->tid, it.id);
	if (rec->type == HCW_R_ITER_BEGIN) {
		if (!slot || slot->tid) {
			c->model.victims[v].iterations_unpaired++;
			if (!slot)
				return;
		}
		*slot = (struct open_iter){.id = it.id, .start = rec->ts, .tid = rec->tid};
		return;
	}
	if (!slot || !slot->tid || rec->ts < slot->start) {
		c->model.victims[v].iterations_unpaired++;
		return;
	}
	iter_done(c, v, slot->start, rec->ts);
	slot->tid = 0;
}
