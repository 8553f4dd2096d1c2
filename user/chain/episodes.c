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

/* KFD_QUEUE_EVICTION_TRIGGER_SVM and _USERPTR; the others are no matter of host memory. */
static bool by_notifier(__u32 trigger)
{
	return trigger <= HCW_TRIGGER_USERPTR;
}

static bool has_source(const struct hcw_chain *c, enum hcw_record_type type)
{
	return c->sources & (1u << type);
}

enum hcw_cause chain_cause(const struct hcw_chain *c, __u32 trigger, __u32 reason, __u32 via,
			   bool is_move_pages)
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
	is_move_pages |= via == HCW_VIA_MOVE_PAGES;
	if (is_move_pages && (reason == 3 || reason == HCW_REASON_NONE))
		return HCW_CAUSE_MOVE_PAGES;
	if (reason == HCW_REASON_NONE && via == HCW_VIA_NUMA_SCAN)
		return HCW_CAUSE_NUMA_SCANNING;
	/* that no migration was around it can only be said where one would have been seen */
	if (reason == HCW_REASON_NONE)
		return has_source(c, HCW_R_MIGRATE) ? HCW_CAUSE_OTHER_INVALIDATION
						    : HCW_CAUSE_UNKNOWN;
	if (reason < sizeof(by_reason) / sizeof(by_reason[0]))
		return by_reason[reason];
	return HCW_CAUSE_UNKNOWN;
}

/* The quiesce around an eviction by a notifier, where it is seen, tells the rest. */
static void evict_nested(struct hcw_chain *c, int v, __u32 trigger, enum hcw_cause cause)
{
	struct hcw_episode *e = &c->model.episodes[c->victims[v].open];

	c->victims[v].depth++;
	e->nested++;
	if (by_notifier(trigger) && has_source(c, HCW_R_QUIESCE))
		return;
	e->nested_unseen |= by_notifier(trigger);
	chain_prolong_nested(c, v, cause);
}

struct hcw_episode *chain_episode_open(struct hcw_chain *c, int v, __u32 tid, __u64 start)
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
		.previous = c->victims[v].last,
		.pool = -1,
	};
	chain_actor(c, tid, &e->started_by);
	c->victims[v].open = (int)m->n_episodes++;
	m->victims[v].episodes++;
	chain_prolong_open(c, v, c->victims[v].open);
	return e;
}

static void episode_close(struct hcw_chain *c, int v, __u64 end)
{
	struct victim_state *vs = &c->victims[v];
	struct hcw_episode *e = &c->model.episodes[vs->open];

	e->end = end;
	c->model.victims[v].episode_ns += end - e->start;
	chain_pools_time(c, e, end - e->start);
	vs->last = vs->open;
	vs->open = -1;
	vs->depth = 0;
	chain_prolong_close(c, v);
	chain_prolong_publish(c, v, vs->last);
}

/* Moves the end of an episode that the inner function already closed. */
static void episode_extend(struct hcw_chain *c, int v, __u64 end)
{
	struct hcw_episode *e = &c->model.episodes[c->victims[v].last];

	if (end <= e->end)
		return;
	c->model.victims[v].episode_ns += end - e->end;
	chain_pools_time(c, e, end - e->end);
	e->end = end;
	chain_prolong_publish(c, v, c->victims[v].last);
}

static void blame_attempt(struct hcw_chain *c, struct hcw_episode *e, __u32 tid,
			  const struct hcw_quiesce *q)
{
	struct hcw_attempt *a;

	e->cause = chain_cause(c, q->trigger, q->reason, q->via, false);
	e->attempt = chain_attempt(c, tid, q->attempt);
	/* an attempt that reached no migrate_pages() yet is named by its own record */
	if (e->cause == HCW_CAUSE_OTHER_INVALIDATION)
		e->cause = HCW_CAUSE_UNKNOWN;
	if (e->attempt < 0)
		return;
	a = &c->model.attempts[e->attempt];
	if (q->reason != HCW_REASON_NONE)
		a->reason = q->reason;
}

/* The invalidation outside any attempt that started it was told before it. */
static void blame_invalidation(struct hcw_chain *c, struct hcw_episode *e, __u32 tid,
			       const struct hcw_quiesce *q)
{
	struct thread_slot *s = chain_thread_find(c, tid);

	e->cause = chain_cause(c, q->trigger, q->reason, q->via, false);
	if (!s || !s->hit || s->hit != q->mm)
		return;
	e->invalidations++;
	s->hit = 0;
}

static void blame_pool(struct hcw_chain *c, int ep, const struct hcw_quiesce *q)
{
	struct hcw_episode *e = &c->model.episodes[ep];

	e->lo = q->lo;
	e->hi = q->hi;
	if (e->hi <= e->lo || !by_notifier(q->trigger))
		return;
	e->pool = chain_pool_at(c, e->victim, e->lo, e->hi, q->start);
	chain_pools_hit(c, ep, e->lo, e->hi, q->start);
	if (e->end)
		chain_pools_time(c, e, e->end - e->start);
}

/* What only the outer function knows of an episode: who, why, where. */
static void episode_blame(struct hcw_chain *c, int v, int ep, __u32 tid,
			  const struct hcw_quiesce *q)
{
	struct hcw_episode *e = &c->model.episodes[ep];

	if (e->end)
		c->model.victims[v].episode_ns += e->start - q->start;
	e->start = q->start;
	e->trigger = q->trigger;
	e->stack = q->stack;
	if (q->attempt)
		blame_attempt(c, e, tid, q);
	else
		blame_invalidation(c, e, tid, q);
	chain_initiator(c, e);
	blame_pool(c, ep, q);
	chain_prolong_publish(c, v, ep);
}

/* Did the eviction inside this very call open it? */
static bool opened_by(const struct hcw_model *m, int ep, __u32 tid, const struct hcw_quiesce *q)
{
	return ep >= 0 && m->episodes[ep].start >= q->start &&
	       m->episodes[ep].started_by.tid == tid;
}

/* A notifier hit while the queues were stopped already, for this or another reason. */
static void quiesce_nested(struct hcw_chain *c, int v, __u32 tid, const struct hcw_quiesce *q)
{
	struct victim_state *vs = &c->victims[v];
	struct hcw_episode *e = &c->model.episodes[vs->open];

	if (!has_source(c, HCW_R_EVICT)) {
		vs->depth++;
		e->nested++;
	}
	chain_prolong_nested_hit(c, v, tid, q);
	if (!by_notifier(q->trigger))
		return;
	if (q->hi <= q->lo) {
		e->nested_unseen = true;
		return;
	}
	chain_pools_hit(c, vs->open, q->lo, q->hi, q->start);
}

void chain_quiesce(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_quiesce q;
	struct victim_state *vs;
	int v, late;

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
	if (q.hi > q.lo && by_notifier(q.trigger))
		chain_prolong_range(c, v, q.lo, q.hi);
	if (opened_by(&c->model, vs->open, rec->tid, &q)) {
		episode_blame(c, v, vs->open, rec->tid, &q);
	} else if (opened_by(&c->model, vs->last, rec->tid, &q)) {
		/* restored by another CPU before this record was written */
		episode_blame(c, v, vs->last, rec->tid, &q);
	} else if ((late = chain_before_started(c, v, rec->tid, q.start)) >= 0) {
		episode_blame(c, v, late, rec->tid, &q);
	} else if (vs->open >= 0) {
		quiesce_nested(c, v, rec->tid, &q);
	} else if (chain_episode_open(c, v, rec->tid, q.start)) {
		vs->depth = 1;
		episode_blame(c, v, vs->open, rec->tid, &q);
	}
}

void chain_evict(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_evict ev;
	struct victim_state *vs;
	enum hcw_cause cause;
	int v, ep;

	chain_body(rec, &ev, sizeof(ev));
	if (ev.ret) {
		c->model.noise++;
		return;
	}
	/* what a notifier did is for the enclosing quiesce or attempt to say */
	cause = by_notifier(ev.trigger)
			? HCW_CAUSE_UNKNOWN
			: chain_cause(c, ev.trigger, HCW_REASON_NONE, HCW_VIA_UNKNOWN, false);
	v = chain_victim(c, ev.victim, ev.mm);
	if (v < 0)
		return;
	vs = &c->victims[v];
	ep = chain_before_started(c, v, rec->tid, ev.start);
	if (ep < 0 && vs->open >= 0) {
		evict_nested(c, v, ev.trigger, cause);
		return;
	}
	if (ep < 0) {
		if (!chain_episode_open(c, v, rec->tid, ev.start))
			return;
		vs->depth = 1;
		ep = vs->open;
	}
	c->model.episodes[ep].trigger = ev.trigger;
	c->model.episodes[ep].stack = ev.stack;
	c->model.episodes[ep].cause = cause;
	chain_prolong_publish(c, v, ep);
}

/* One eviction less; the last one ends the episode. */
static void restored(struct hcw_chain *c, int v, __u64 ts)
{
	if (c->victims[v].depth > 1)
		c->victims[v].depth--;
	else
		episode_close(c, v, ts);
}

void chain_restore(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_evict ev;
	int v;

	chain_body(rec, &ev, sizeof(ev));
	if (ev.ret)
		return;
	v = chain_restored(c, ev.victim, ev.mm, HCW_R_RESTORE, ev.start);
	if (v >= 0)
		restored(c, v, rec->ts);
}

/* The restore of the queues inside it was told before. */
static void resume_around(struct hcw_chain *c, const struct hcw_resume *r, __u64 ts)
{
	int v = chain_victim_find(c, 0, r->mm);

	if (v < 0 || (c->victims[v].open < 0 && c->victims[v].last < 0)) {
		/* unless its probe came between the two */
		v = chain_before(c, 0, r->mm, HCW_R_RESUME, r->start);
		if (v >= 0)
			episode_close(c, v, ts);
		return;
	}
	/* unless the queues are stopped again by now */
	if (c->victims[v].open < 0 && c->model.episodes[c->victims[v].last].end >= r->start)
		episode_extend(c, v, ts);
}

void chain_resume(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_resume r;
	int v;

	chain_body(rec, &r, sizeof(r));
	if (r.ret)
		return;
	if (has_source(c, HCW_R_RESTORE)) {
		resume_around(c, &r, rec->ts);
		return;
	}
	v = chain_restored(c, 0, r.mm, HCW_R_RESUME, r.start);
	if (v >= 0)
		restored(c, v, rec->ts);
}

/* Whose restore was it? The mm when the pass showed one, else the process that used this work item
 * before. */
static int pass_victim(struct hcw_chain *c, const struct hcw_pass *p)
{
	size_t i;

	if (p->mm) {
		int v = chain_victim_find(c, 0, p->mm);

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

/* The episode a pass belongs to, -1 = none; *v is its victim. A pass that was thrown away shows
 * that the queues are stopped. */
static int pass_episode(struct hcw_chain *c, const struct hcw_pass *p, int *v)
{
	*v = pass_victim(c, p);
	if (*v >= 0 && pass_belongs(&c->model, c->victims[*v].last, p))
		return c->victims[*v].last;
	if (*v >= 0 && pass_belongs(&c->model, c->victims[*v].open, p))
		return c->victims[*v].open;
	if (p->resumed || !p->mm)
		return -1;
	*v = chain_before(c, 0, p->mm, HCW_R_PASS, p->start);
	if (*v < 0)
		return -1;
	c->victims[*v].work = p->work;
	return c->victims[*v].open;
}

void chain_pass(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_model *m = &c->model;
	struct hcw_pass p;
	int v, ep;

	chain_body(rec, &p, sizeof(p));
	ep = pass_episode(c, &p, &v);
	if (ep < 0) {
		m->unattributed_passes++;
		return;
	}
	m->episodes[ep].passes++;
	if (!p.resumed)
		m->episodes[ep].passes_thrown++;
	chain_prolong_pass(c, v, ep, &p, rec->ts);
}

void chain_victim_died(struct hcw_chain *c, int v, __u64 ts)
{
	struct victim_state *vs = &c->victims[v];

	if (vs->open >= 0) {
		c->model.episodes[vs->open].killed = true;
		episode_close(c, v, ts);
	}
	c->model.victims[v].exited = true;
	chain_pools_gone(c, c->model.victims[v].tgid, ts);
}

int chain_episodes_under(struct hcw_chain *c, int v, __u64 start, __u64 end, bool stall)
{
	const struct victim_state *vs = &c->victims[v];
	struct hcw_model *m = &c->model;
	int i, best = -1, newest = vs->open > vs->last ? vs->open : vs->last;
	__u64 longest = 0;

	for (i = newest; i >= 0; i = m->episodes[i].previous) {
		struct hcw_episode *e = &m->episodes[i];
		__u64 from = e->start > start ? e->start : start;
		__u64 to = e->end && e->end < end ? e->end : end;

		if (e->end && e->end < start)
			break;
		if (from > to)
			continue;
		e->stalls += stall;
		if (end - start > e->worst_stall)
			e->worst_stall = end - start;
		if (best < 0 || to - from > longest) {
			longest = to - from;
			best = i;
		}
	}
	return best;
}
