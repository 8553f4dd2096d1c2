/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Episodes: queues of a victim stopped, from the first eviction to the last restore.
 *
 * Two pairs of functions tell it. kfd_process_evict/restore_queues sees every trigger;
 * kgd2kfd_quiesce/resume_mm, which calls the former in the same thread, knows who and why. Where
 * both are attached the inner pair keeps the count and the outer one adds what it knows; where the
 * inner one is missing the outer one keeps the count.
 */
#include "internal.h"

static bool has_source(const struct hcw_chain *c, enum hcw_record_type type)
{
	return c->sources & (1u << type);
}

enum hcw_cause chain_cause(__u32 trigger, __u32 reason, bool is_move_pages)
{
	static const enum hcw_cause by_reason[] = {
		HCW_CAUSE_COMPACTION,	   HCW_CAUSE_MEMORY_FAILURE, HCW_CAUSE_MEMORY_HOTPLUG,
		HCW_CAUSE_MIGRATE_SYSCALL, HCW_CAUSE_MBIND,	     HCW_CAUSE_NUMA_BALANCING,
		HCW_CAUSE_CONTIG_RANGE,	   HCW_CAUSE_LONGTERM_PIN,   HCW_CAUSE_DEMOTION,
		HCW_CAUSE_DAMON,
	};

	/* enum KFD_QUEUE_EVICTION_TRIGGERS, the same in 6.1 .. 7.3 */
	if (trigger == 2)
		return HCW_CAUSE_TTM;
	if (trigger == 3)
		return HCW_CAUSE_SUSPEND;
	if (trigger == 4 || trigger == 5)
		return HCW_CAUSE_CRIU;
	if (reason == HCW_REASON_NONE)
		return HCW_CAUSE_OTHER_INVALIDATION;
	if (is_move_pages && reason == 3)
		return HCW_CAUSE_MOVE_PAGES;
	if (reason < sizeof(by_reason) / sizeof(by_reason[0]))
		return by_reason[reason];
	return HCW_CAUSE_UNKNOWN;
}

static struct hcw_episode *episode_open(struct hcw_chain *c, int v, __u32 tid, __u64 start)
{
	struct hcw_model *m = &c->model;
	struct hcw_episode *e;

	if (!chain_room(&m->episodes, &c->cap_episodes, m->n_episodes, HCW_MAX_EPISODES,
			sizeof(*m->episodes), &m->dropped))
		return NULL;
	e = &m->episodes[m->n_episodes];
	*e = (struct hcw_episode){
		.start = start,
		.victim = m->victims[v].tgid,
		.mm = m->victims[v].mm,
		.attempt = -1,
		.stack = -1,
		.pool = -1,
	};
	chain_actor(c, tid, &e->started_by);
	c->victims[v].open = (int)m->n_episodes++;
	m->victims[v].episodes++;
	return e;
}

static void count_on_pool(struct hcw_chain *c, struct hcw_episode *e, __u64 ns)
{
	if (e->pool < 0)
		return;
	c->model.pools[e->pool].episode_ns += ns;
}

static void episode_close(struct hcw_chain *c, int v, __u64 end)
{
	struct victim_state *vs = &c->victims[v];
	struct hcw_episode *e = &c->model.episodes[vs->open];

	e->end = end;
	c->model.victims[v].episode_ns += end - e->start;
	count_on_pool(c, e, end - e->start);
	vs->last = vs->open;
	vs->open = -1;
	vs->depth = 0;
}

/* Moves the end of an episode that the inner function already closed. */
static void episode_extend(struct hcw_chain *c, int v, __u64 end)
{
	struct hcw_episode *e = &c->model.episodes[c->victims[v].last];

	if (end <= e->end)
		return;
	c->model.victims[v].episode_ns += end - e->end;
	count_on_pool(c, e, end - e->end);
	e->end = end;
}

static void episode_blame(struct hcw_chain *c, struct hcw_episode *e, const struct hcw_rec *rec,
			  const struct hcw_quiesce *q)
{
	const struct hcw_attempt *a = NULL;

	e->start = q->start;
	e->trigger = q->trigger;
	e->lo = q->lo;
	e->hi = q->hi;
	e->stack = q->stack;
	if (q->attempt)
		e->attempt = chain_attempt(c, rec->tid, q->attempt);
	if (e->attempt >= 0) {
		a = &c->model.attempts[e->attempt];
		c->model.attempts[e->attempt].reason = q->reason;
	}
	e->cause = chain_cause(q->trigger, q->reason, a && a->is_move_pages);
	if (e->hi > e->lo)
		e->pool = chain_pool_at(c, e->victim, e->lo, e->hi, q->start);
	if (e->pool >= 0)
		c->model.pools[e->pool].episodes++;
}

void chain_quiesce(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_quiesce q;
	struct hcw_episode *e;
	struct victim_state *vs;
	int v;

	chain_body(rec, &q, sizeof(q));
	if (q.ret) {
		/* -ESRCH: the KFD process is already gone while its mm is torn down */
		c->model.noise++;
		return;
	}
	v = chain_victim(c, q.victim, q.mm);
	if (v < 0)
		return;
	vs = &c->victims[v];
	if (vs->open >= 0) {
		e = &c->model.episodes[vs->open];
		/* the eviction inside this very call opened it */
		if (e->start >= q.start && e->started_by.tid == rec->tid)
			episode_blame(c, e, rec, &q);
		else if (!has_source(c, HCW_R_EVICT)) {
			vs->depth++;
			e->nested++;
		}
		return;
	}
	if (has_source(c, HCW_R_EVICT) && vs->last >= 0 &&
	    c->model.episodes[vs->last].start >= q.start) {
		/* restored by another CPU before this record was written */
		episode_blame(c, &c->model.episodes[vs->last], rec, &q);
		return;
	}
	e = episode_open(c, v, rec->tid, q.start);
	if (!e)
		return;
	vs->depth = 1;
	episode_blame(c, e, rec, &q);
}

void chain_evict(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_evict ev;
	struct hcw_episode *e;
	struct victim_state *vs;
	int v;

	chain_body(rec, &ev, sizeof(ev));
	if (ev.ret) {
		c->model.noise++;
		return;
	}
	v = chain_victim(c, ev.victim, ev.mm);
	if (v < 0)
		return;
	vs = &c->victims[v];
	if (vs->open >= 0) {
		vs->depth++;
		c->model.episodes[vs->open].nested++;
		return;
	}
	e = episode_open(c, v, rec->tid, ev.start);
	if (!e)
		return;
	vs->depth = 1;
	e->trigger = ev.trigger;
	e->stack = ev.stack;
	e->cause = chain_cause(ev.trigger, HCW_REASON_NONE, false);
}

void chain_restore(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct victim_state *vs;
	struct hcw_evict ev;
	int v;

	chain_body(rec, &ev, sizeof(ev));
	v = chain_victim(c, ev.victim, ev.mm);
	if (v < 0 || ev.ret)
		return;
	vs = &c->victims[v];
	if (vs->open < 0)
		return; /* stopped before we watched */
	if (vs->depth > 1) {
		vs->depth--;
		return;
	}
	episode_close(c, v, rec->ts);
}

void chain_resume(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct victim_state *vs;
	struct hcw_resume r;
	int v;

	chain_body(rec, &r, sizeof(r));
	v = chain_victim(c, 0, r.mm);
	if (v < 0 || r.ret)
		return;
	vs = &c->victims[v];
	if (has_source(c, HCW_R_RESTORE)) {
		if (vs->last >= 0 && c->model.episodes[vs->last].end >= r.start)
			episode_extend(c, v, rec->ts);
		return;
	}
	if (vs->open < 0)
		return;
	if (vs->depth > 1) {
		vs->depth--;
		return;
	}
	episode_close(c, v, rec->ts);
}

/* Whose restore was it? The mm when the pass showed one, else the process that used this work item
 * before. */
static int pass_victim(struct hcw_chain *c, const struct hcw_pass *p)
{
	size_t i;
	int v;

	if (p->mm) {
		v = chain_victim(c, 0, p->mm);
		if (v >= 0 && p->work)
			c->victims[v].work = p->work;
		return v;
	}
	for (i = 0; p->work && i < c->model.n_victims; i++)
		if (c->victims[i].work == p->work && !c->model.victims[i].exited)
			return (int)i;
	return -1;
}

static bool pass_belongs(const struct hcw_model *m, int ep, const struct hcw_pass *p)
{
	const struct hcw_episode *e;

	if (ep < 0)
		return false;
	e = &m->episodes[ep];
	return p->start >= e->start && (!e->end || p->start <= e->end);
}

void chain_pass(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_model *m = &c->model;
	struct hcw_pass p;
	int v, ep = -1;

	chain_body(rec, &p, sizeof(p));
	v = pass_victim(c, &p);
	if (v >= 0) {
		if (pass_belongs(m, c->victims[v].last, &p))
			ep = c->victims[v].last;
		else if (pass_belongs(m, c->victims[v].open, &p))
			ep = c->victims[v].open;
	}
	if (ep < 0) {
		m->unattributed_passes++;
		return;
	}
	m->episodes[ep].passes++;
	if (!p.resumed)
		m->episodes[ep].passes_thrown++;
}

void chain_victim_died(struct hcw_chain *c, int v, __u64 ts)
{
	struct victim_state *vs = &c->victims[v];

	if (vs->open >= 0) {
		c->model.episodes[vs->open].killed = true;
		episode_close(c, v, ts);
	}
	c->model.victims[v].exited = true;
}

int chain_episode_over(const struct hcw_chain *c, __u32 tgid, __u64 start, __u64 end)
{
	const struct hcw_model *m = &c->model;
	size_t i;

	for (i = m->n_episodes; i-- > 0;) {
		const struct hcw_episode *e = &m->episodes[i];

		if (e->victim != tgid)
			continue;
		if (e->start <= end && (!e->end || e->end >= start))
			return (int)i;
		if (e->end && e->end < start)
			return -1;
	}
	return -1;
}
