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

/* Episodes that this attempt started have waited to learn that it was a move_pages call. */
static void name_cause(struct hcw_chain *c, int attempt)
{
	struct hcw_model *m = &c->model;
	size_t i;

	for (i = m->n_episodes; i-- > 0;) {
		struct hcw_episode *e = &m->episodes[i];

		if (e->attempt == attempt && e->cause == HCW_CAUSE_MIGRATE_SYSCALL)
			e->cause = HCW_CAUSE_MOVE_PAGES;
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
	i = chain_attempt(c, rec->tid, mp.start);
	attempt_ended(c, rec->tid);
	if (i < 0)
		return;
	a = &c->model.attempts[i];
	a->is_move_pages = true;
	a->move = mp;
	a->end = rec->ts;
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
	/* a migration of its own that stopped nobody is not kept: compaction makes thousands a
	 * second */
	if (mg.attempt == mg.start && !(s && s->attempt >= 0 && s->attempt_start == mg.attempt))
		return;
	i = chain_attempt(c, rec->tid, mg.attempt);
	if (i < 0)
		return;
	a = &c->model.attempts[i];
	a->reason = mg.reason;
	a->migrated += mg.ok;
	a->failed += mg.failed;
	if (mg.attempt == mg.start) {
		a->end = rec->ts;
		attempt_ended(c, rec->tid);
	}
}

void chain_inval(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_inval in;
	const struct victim_state *vs;
	struct hcw_episode *e;
	int v, ep;

	chain_body(rec, &in, sizeof(in));
	v = chain_victim(c, in.victim, in.mm);
	if (v < 0)
		return;
	vs = &c->victims[v];
	ep = vs->open >= 0 ? vs->open : vs->last;
	if (ep < 0)
		return;
	e = &c->model.episodes[ep];
	/* the invalidation that starts an episode begins just before it */
	if (!e->end || in.start <= e->end)
		e->invalidations += in.count;
}
