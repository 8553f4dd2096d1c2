/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatch of records and the tables of the chain. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

bool chain_room(void *array, size_t *cap, size_t n, size_t max, size_t size, __u64 *dropped)
{
	void **slot = array;
	size_t want = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return true;
	if (want > max)
		want = max;
	p = n < want ? realloc(*slot, want * size) : NULL;
	if (!p) {
		(*dropped)++;
		return false;
	}
	memset((char *)p + *cap * size, 0, (want - *cap) * size);
	*slot = p;
	*cap = want;
	return true;
}

void chain_body(const struct hcw_rec *rec, void *out, size_t size)
{
	size_t n = rec->len < size ? rec->len : size;

	memset(out, 0, size);
	memcpy(out, rec + 1, n);
}

struct hcw_chain *hcw_chain_new(void)
{
	return calloc(1, sizeof(struct hcw_chain));
}

void hcw_chain_free(struct hcw_chain *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->model.n_victims; i++) {
		free(c->victims[i].hist);
		free(c->victims[i].calm);
		free(c->victims[i].ledger_open);
		free(c->victims[i].ledger_last);
	}
	chain_stacks_free(c);
	free(c->victims);
	free(c->threads);
	free(c->model.attempts);
	free(c->model.episodes);
	free(c->model.stalls);
	free(c->model.pools);
	free(c->model.victims);
	free(c->model.holes);
	free(c);
}

void hcw_chain_sources(struct hcw_chain *c, unsigned int mask)
{
	c->sources = mask;
}

void hcw_chain_one_group(struct hcw_chain *c, bool yes)
{
	c->one_group = yes;
}

static void take_hole(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_model *m = &c->model;
	struct hcw_hole h;

	chain_body(rec, &h, sizeof(h));
	if (h.cause == HCW_HOLE_DAMAGED_FRAME)
		m->damaged++;
	if (!h.source || h.source == HCW_R_ITER_BEGIN || h.source == HCW_R_ITER_END)
		c->iter_hole = h.to > c->iter_hole ? h.to : c->iter_hole;
	chain_before_lost(c, h.from);
	if (!chain_room(&m->holes, &c->cap_holes, m->n_holes, HCW_MAX_HOLES, sizeof(*m->holes),
			&m->dropped))
		return;
	m->holes[m->n_holes++] = (struct hcw_hole_info){
		.from = h.from,
		.to = h.to,
		.count = h.count,
		.source = h.source,
		.cause = h.cause,
	};
}

static void take_totals(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_totals t;
	size_t i;

	chain_body(rec, &t, sizeof(t));
	if (!t.source || t.source >= HCW_R_BPF_COUNT)
		return;
	c->model.totals[t.source] = t;
	c->model.lost = 0;
	for (i = 0; i < HCW_R_BPF_COUNT; i++)
		c->model.lost += c->model.totals[i].lost;
}

static void take_limits(struct hcw_chain *c, const struct hcw_rec *rec)
{
	chain_body(rec, &c->model.limits, sizeof(c->model.limits));
}

static void take_end(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_end e;

	chain_body(rec, &e, sizeof(e));
	c->model.ended = true;
	c->model.end_reason = e.reason;
}

static void take_sample(struct hcw_chain *c, const struct hcw_rec *rec)
{
	(void)rec;
	c->model.kfd_samples++;
}

typedef void (*take_fn)(struct hcw_chain *c, const struct hcw_rec *rec);

static const take_fn takers[] = {
	[HCW_R_MOVE_PAGES] = chain_move_pages,
	[HCW_R_MIGRATE] = chain_migrate,
	[HCW_R_INVAL] = chain_inval,
	[HCW_R_QUIESCE] = chain_quiesce,
	[HCW_R_RESUME] = chain_resume,
	[HCW_R_EVICT] = chain_evict,
	[HCW_R_RESTORE] = chain_restore,
	[HCW_R_PASS] = chain_pass,
	[HCW_R_ITER_BEGIN] = chain_iter,
	[HCW_R_ITER_END] = chain_iter,
	[HCW_R_POOL_ALLOC] = chain_pool_alloc,
	[HCW_R_POOL_FREE] = chain_pool_free,
	[HCW_R_TASK] = chain_task,
	[HCW_R_TASK_EXIT] = chain_task_exit,
	[HCW_R_REQUEST] = chain_request,
	[HCW_R_HOLE] = take_hole,
	[HCW_R_STACK] = chain_stack,
	[HCW_R_MAPPING] = chain_mapping,
	[HCW_R_SAMPLE] = take_sample,
	[HCW_R_TOTALS] = take_totals,
	[HCW_R_LIMITS] = take_limits,
	[HCW_R_CLOCK] = chain_clock,
	[HCW_R_END] = take_end,
};

int hcw_chain_add(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_model *m = &c->model;

	m->records++;
	if (!m->first_ts || rec->ts < m->first_ts)
		m->first_ts = rec->ts;
	if (rec->ts > m->last_ts)
		m->last_ts = rec->ts;
	if (rec->type < sizeof(takers) / sizeof(takers[0]) && takers[rec->type])
		takers[rec->type](c, rec);
	return 0;
}

void hcw_chain_late(struct hcw_chain *c, __u64 n)
{
	c->model.late = n;
}

void hcw_chain_finish(struct hcw_chain *c)
{
	chain_costs(c);
	chain_verdicts(c);
}

const struct hcw_model *hcw_chain_model(const struct hcw_chain *c)
{
	return &c->model;
}

/* The middle of the last bucket can lie above the largest value in it. */
static __u64 at_most(__u64 v, __u64 max)
{
	return v < max ? v : max;
}

__u64 hcw_chain_percentile(const struct hcw_chain *c, __u32 tgid, double percent)
{
	size_t i;

	for (i = c->model.n_victims; i-- > 0;)
		if (c->model.victims[i].tgid == tgid && c->victims[i].hist)
			return at_most(hcw_hist_percentile(c->victims[i].hist, percent),
				       c->model.victims[i].iteration_max);
	return 0;
}

__u64 hcw_chain_percentile_calm(const struct hcw_chain *c, __u32 tgid, double percent, __u64 *max)
{
	size_t i;

	if (max)
		*max = 0;
	for (i = c->model.n_victims; i-- > 0;) {
		const struct victim_state *vs = &c->victims[i];

		if (c->model.victims[i].tgid != tgid || !vs->hist)
			continue;
		if (max)
			*max = vs->calm_max;
		return vs->calm ? at_most(hcw_hist_percentile(vs->calm, percent), vs->calm_max) : 0;
	}
	return 0;
}
