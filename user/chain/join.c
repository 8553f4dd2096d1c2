/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attempts. The records of what happens inside one come before the attempt's own record, which is
 * written at its end; (thread, start of the outermost attempt) joins them.
 */
#include "internal.h"

int chain_attempt(struct hcw_chain *c, __u32 tid, __u64 start)
{
	struct thread_slot *s = chain_thread(c, tid);
	struct hcw_model *m = &c->model;
	struct hcw_attempt *a;

	if (s && s->attempt >= 0 && s->attempt_start == start)
		return s->attempt;
	if (!chain_room(&m->attempts, &c->cap_attempts, m->n_attempts, HCW_MAX_ATTEMPTS,
			sizeof(*m->attempts), &m->dropped))
		return -1;
	a = &m->attempts[m->n_attempts];
	*a = (struct hcw_attempt){.start = start, .reason = HCW_REASON_NONE, .pool = -1};
	chain_actor(c, tid, &a->actor);
	if (s) {
		s->attempt = (int)m->n_attempts;
		s->attempt_start = start;
	}
	return (int)m->n_attempts++;
}

static void attempt_ended(struct hcw_chain *c, __u32 tid)
{
	struct thread_slot *s = chain_thread(c, tid);

	if (s)
		s->attempt = -1;
}

/*
 * Episode that a thread started between two times and that nothing has explained yet: where only
 * the evictions are seen, nesting in one thread still tells the cause. -1 = none.
 */
static int orphan(const struct hcw_model *m, __u32 tid, __u64 from, __u64 to)
{
	size_t i;

	for (i = m->n_episodes; i-- > 0;) {
		const struct hcw_episode *e = &m->episodes[i];

		if (e->end && e->end < from)
			break;
		if (e->attempt < 0 && e->cause == HCW_CAUSE_UNKNOWN && e->started_by.tid == tid &&
		    e->start >= from && e->start <= to)
			return (int)i;
	}
	return -1;
}

static void adopt(struct hcw_chain *c, int attempt, __u32 tid, __u64 to)
{
	struct hcw_model *m = &c->model;
	const struct hcw_attempt *a = &m->attempts[attempt];
	int i;

	while ((i = orphan(m, tid, a->start, to)) >= 0) {
		m->episodes[i].attempt = attempt;
		m->episodes[i].cause = chain_cause(c, m->episodes[i].trigger, a->reason,
						   HCW_VIA_UNKNOWN, a->is_move_pages);
		chain_initiator(c, &m->episodes[i]);
	}
}

/* Episodes that this attempt started have waited to learn that it was a move_pages call. */
static void name_cause(struct hcw_chain *c, int attempt)
{
	struct hcw_model *m = &c->model;
	size_t i;

	for (i = m->n_episodes; i-- > 0;) {
		struct hcw_episode *e = &m->episodes[i];

		if (e->attempt == attempt &&
		    (e->cause == HCW_CAUSE_MIGRATE_SYSCALL || e->cause == HCW_CAUSE_UNKNOWN))
			e->cause = HCW_CAUSE_MOVE_PAGES;
		chain_initiator(c, e);
		if (e->end && e->end < m->attempts[attempt].start)
			break;
	}
}

void chain_move_pages(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_move_pages mp;
	struct hcw_attempt *a;
	int i;

	chain_body(rec, &mp, sizeof(mp));
	chain_prolong_attempt(c, rec->tid, mp.start, HCW_CAUSE_MOVE_PAGES);
	i = chain_attempt(c, rec->tid, mp.start);
	attempt_ended(c, rec->tid);
	if (i < 0)
		return;
	a = &c->model.attempts[i];
	a->is_move_pages = true;
	a->move = mp;
	a->end = rec->ts;
	adopt(c, i, rec->tid, rec->ts);
	name_cause(c, i);
	chain_pool_attempt(c, i);
}

void chain_migrate(struct hcw_chain *c, const struct hcw_rec *rec)
{
	const struct thread_slot *s = chain_thread(c, rec->tid);
	struct hcw_migrate mg;
	struct hcw_attempt *a;
	int i;

	chain_body(rec, &mg, sizeof(mg));
	if (mg.attempt == mg.start)
		chain_prolong_attempt(
			c, rec->tid, mg.attempt,
			chain_cause(c, HCW_TRIGGER_USERPTR, mg.reason, HCW_VIA_UNKNOWN, false));
	/* a migration of its own that stopped nobody is not kept: compaction makes thousands a
	 * second */
	if (mg.attempt == mg.start && !(s && s->attempt >= 0 && s->attempt_start == mg.attempt) &&
	    orphan(&c->model, rec->tid, mg.start, rec->ts) < 0)
		return;
	i = chain_attempt(c, rec->tid, mg.attempt);
	if (i < 0)
		return;
	a = &c->model.attempts[i];
	a->reason = mg.reason;
	a->migrated += mg.ok;
	a->failed += mg.failed;
	adopt(c, i, rec->tid, rec->ts);
	if (mg.attempt == mg.start) {
		a->end = rec->ts;
		attempt_ended(c, rec->tid);
	}
}

/* Were these invalidations made while the episode was open? */
static bool inval_in(const struct hcw_model *m, int ep, const struct hcw_inval *in)
{
	const struct hcw_episode *e;

	if (ep < 0)
		return false;
	e = &m->episodes[ep];
	return in->start + in->span >= e->start && (!e->end || in->start <= e->end);
}

/* The invalidation that starts an episode begins just before it. */
static bool inval_starts(const struct hcw_model *m, int ep, __u32 tid, const struct hcw_inval *in)
{
	const struct hcw_episode *e;

	if (ep < 0)
		return false;
	e = &m->episodes[ep];
	return in->attempt && e->attempt >= 0 && e->started_by.tid == tid &&
	       m->attempts[e->attempt].start == in->attempt && in->start + in->span <= e->start;
}

static int inval_episode(const struct hcw_model *m, const struct victim_state *vs, __u32 tid,
			 const struct hcw_inval *in)
{
	const int ep[2] = {vs->open, vs->last};
	int i;

	for (i = 0; i < 2; i++)
		if (inval_in(m, ep[i], in))
			return ep[i];
	for (i = 0; i < 2; i++)
		if (inval_starts(m, ep[i], tid, in))
			return ep[i];
	return -1;
}

void chain_inval(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct thread_slot *s;
	struct hcw_inval in;
	int v, ep;

	chain_body(rec, &in, sizeof(in));
	if (rec->len < sizeof(in))
		in.reason = HCW_REASON_NONE; /* written before there was one */
	s = in.attempt ? NULL : chain_thread(c, rec->tid);
	if (s)
		s->hit = in.mm; /* its episode, if it makes one, comes next */
	v = chain_victim_find(c, in.victim, in.mm);
	if (v < 0)
		return;
	ep = inval_episode(&c->model, &c->victims[v], rec->tid, &in);
	if (ep < 0)
		return;
	c->model.episodes[ep].invalidations += in.count;
	chain_prolong_inval(c, v, ep, rec->tid, &in);
}
