/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues that were stopped already when the recording started: the first sign of such an episode is
 * what belongs to its end. That it began before is only said when the recording would have seen the
 * start otherwise; a start that may have been lost is no start.
 */
#include "internal.h"

static bool has_source(const struct hcw_chain *c, enum hcw_record_type type)
{
	return c->sources & (1u << type);
}

/* Whether a start that goes with such a record would have been seen. Only
 * kfd_process_evict_queues() sees every start that kfd_process_restore_queues() ends. */
static bool start_watched(const struct hcw_chain *c, enum hcw_record_type sign)
{
	if (sign == HCW_R_RESTORE)
		return has_source(c, HCW_R_EVICT);
	return has_source(c, HCW_R_QUIESCE) || has_source(c, HCW_R_EVICT);
}

/* A restore worker may hold the mm of a process that died while evicted. */
static bool mm_gone(const struct hcw_model *m, __u64 mm)
{
	size_t i;

	for (i = 0; i < m->n_victims; i++)
		if (m->victims[i].exited && m->victims[i].mm == mm)
			return true;
	return false;
}

/* 0 when no thread with this mm was told. */
static __u32 owner_of(const struct hcw_chain *c, __u64 mm)
{
	size_t i;

	for (i = 0; mm && i < c->cap_threads; i++)
		if (c->threads[i].task.tid && c->threads[i].task.mm == mm)
			return c->threads[i].task.tgid;
	return 0;
}

static int victim_of(struct hcw_chain *c, __u32 tgid, __u64 mm)
{
	int v = chain_victim_find(c, tgid, mm);

	if (v >= 0 || mm_gone(&c->model, mm))
		return v;
	if (!tgid)
		tgid = owner_of(c, mm);
	return tgid ? chain_victim(c, tgid, mm) : -1;
}

int chain_before(struct hcw_chain *c, __u32 tgid, __u64 mm, enum hcw_record_type sign, __u64 since)
{
	struct hcw_model *m = &c->model;
	struct hcw_episode *e;
	struct victim_state *vs;
	int v;

	if (!start_watched(c, sign) || m->n_holes || m->lost || hcw_limits_hide(&m->limits))
		return -1;
	v = victim_of(c, tgid, mm);
	if (v < 0 || c->victims[v].open >= 0 || c->victims[v].last >= 0 ||
	    m->victims[v].start_time >= m->first_ts)
		return -1;
	e = chain_episode_open(c, v, 0, m->first_ts);
	if (!e)
		return -1;
	vs = &c->victims[v];
	vs->depth = 1;
	vs->before_since = since;
	e->before = true;
	chain_prolong_publish(c, v, vs->open);
	return v;
}

int chain_restored(struct hcw_chain *c, __u32 tgid, __u64 mm, enum hcw_record_type sign,
		   __u64 since)
{
	int v = chain_victim_find(c, tgid, mm);

	if (v >= 0 && c->victims[v].open >= 0)
		return v;
	v = chain_before(c, tgid, mm, sign, since);
	if (v < 0 && start_watched(c, sign) && !mm_gone(&c->model, mm))
		c->model.unpaired_restores++;
	return v;
}

/* The victim's episode that is said to have begun before, while it is its newest; -1 = none. */
static int newest_before(const struct hcw_chain *c, int v)
{
	int ep = c->victims[v].open >= 0 ? c->victims[v].open : c->victims[v].last;

	return ep >= 0 && c->model.episodes[ep].before ? ep : -1;
}

static void begin_at(struct hcw_chain *c, int v, int ep, __u64 start)
{
	struct hcw_episode *e = &c->model.episodes[ep];

	if (e->end)
		c->model.victims[v].episode_ns += e->start - start;
	e->start = start;
	e->before = false;
}

int chain_before_started(struct hcw_chain *c, int v, __u32 tid, __u64 start)
{
	int ep = newest_before(c, v);

	if (ep < 0 || start >= c->victims[v].before_since)
		return -1;
	begin_at(c, v, ep, start);
	chain_actor(c, tid, &c->model.episodes[ep].started_by);
	return ep;
}

void chain_before_lost(struct hcw_chain *c, __u64 from)
{
	size_t i;
	int ep;

	for (i = 0; i < c->model.n_victims; i++) {
		ep = newest_before(c, (int)i);
		if (ep < 0 || from > c->victims[i].before_since)
			continue;
		begin_at(c, (int)i, ep, c->victims[i].before_since);
		chain_prolong_publish(c, (int)i, ep);
	}
}
