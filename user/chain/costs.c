/* SPDX-License-Identifier: BSD-2-Clause */
/* What cost how much, over all episodes: by cause, and by pool what was not its own. */
#include <string.h>
#include "internal.h"

static __u64 length(const struct hcw_model *m, const struct hcw_episode *e)
{
	__u64 end = e->end ? e->end : m->last_ts;

	return end > e->start ? end - e->start : 0;
}

/* A pass it overtook counts also before any time went into doing it again. */
static bool prolonged_by(const struct hcw_episode *e, unsigned int cause)
{
	__u32 i;

	for (i = 0; i < e->n_prolonged; i++)
		if (e->prolonged_by[i].cause == cause)
			return true;
	return e->prolonged_ns[cause] != 0;
}

static void count_causes(struct hcw_model *m, const struct hcw_episode *e)
{
	struct hcw_cause_total *t = &m->causes[e->cause];
	__u64 ns = length(m, e);
	__u32 i;

	t->started++;
	t->started_ns += e->started_ns;
	if (ns > t->worst_ns)
		t->worst_ns = ns;
	for (i = 0; i < HCW_CAUSE_COUNT; i++) {
		t = &m->causes[i];
		t->prolonged += prolonged_by(e, i);
		t->prolonged_ns += e->prolonged_ns[i];
	}
}

/* Its process was stopped by a notifier for a range that is not the pool's. */
static bool is_residual(const struct hcw_pool_info *p, const struct hcw_episode *e)
{
	return e->victim == p->tgid && e->trigger <= HCW_TRIGGER_USERPTR && e->hi > e->lo &&
	       (e->hi <= p->ptr || e->lo >= p->ptr + p->bytes) && e->start >= p->allocated &&
	       (!p->freed || e->start <= p->freed);
}

static void count_residual(const struct hcw_model *m, struct hcw_pool_info *p)
{
	size_t i;

	p->residual = 0;
	p->residual_ns = 0;
	for (i = 0; i < m->n_episodes; i++) {
		if (!is_residual(p, &m->episodes[i]))
			continue;
		p->residual++;
		p->residual_ns += length(m, &m->episodes[i]);
	}
}

void hcw_chain_update(struct hcw_chain *c)
{
	size_t i;

	for (i = 0; i < c->model.n_victims; i++)
		if (c->victims[i].open >= 0)
			chain_prolong_publish(c, (int)i, c->victims[i].open);
}

void chain_costs(struct hcw_chain *c)
{
	struct hcw_model *m = &c->model;
	size_t i;

	hcw_chain_update(c);
	memset(m->causes, 0, sizeof(m->causes));
	for (i = 0; i < m->n_episodes; i++)
		count_causes(m, &m->episodes[i]);
	for (i = 0; i < m->n_pools; i++)
		count_residual(m, &m->pools[i]);
}
