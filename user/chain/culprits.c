/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who prolonged an episode. Until the record of an attempt comes, a thread inside it is a culprit
 * of its own; then the attempt names the cause, and it joins the thread's others of that cause.
 */
#include <string.h>
#include "prolong.h"

#define MR_SYSCALL 3u /* enum migrate_reason, the same in 5.14 .. 7.3 */

bool culprit_open(__u64 attempt, __u32 reason)
{
	return attempt && (reason == MR_SYSCALL || reason == HCW_REASON_NONE);
}

static unsigned int find(const struct ledger *l, __u32 tid, enum hcw_cause cause, __u64 attempt)
{
	unsigned int i;

	for (i = 0; i < LEDGER_CULPRITS; i++) {
		const struct culprit *k = &l->culprit[i];

		if (k->used && k->actor.tid == tid && k->attempt == attempt &&
		    (attempt || k->cause == cause))
			return i;
	}
	return LEDGER_OTHERS;
}

/* Everything booked on `from` becomes `to`'s. */
static void join(struct ledger *l, unsigned int from, unsigned int to)
{
	unsigned int i, j;

	for (i = 0; i < l->n_pending; i++)
		if (l->pending[i].who == from)
			l->pending[i].who = to;
	for (i = 0; i < l->n_passes; i++)
		for (j = 0; j < l->pass[i].n_charges; j++)
			if (l->pass[i].charge[j].who == from)
				l->pass[i].charge[j].who = to;
	for (j = 0; j < l->settled_last.n_charges; j++)
		if (l->settled_last.charge[j].who == from)
			l->settled_last.charge[j].who = to;
	l->settled.ns[to] += l->settled.ns[from];
	l->settled.passes[to] += l->settled.passes[from];
	l->settled.ns[from] = 0;
	l->settled.passes[from] = 0;
	l->culprit[to].invalidations += l->culprit[from].invalidations;
	l->culprit[from].used = false;
}

static void make_final(struct ledger *l, unsigned int i, enum hcw_cause cause)
{
	struct culprit *k = &l->culprit[i];
	unsigned int same = find(l, k->actor.tid, cause, 0);

	if (k->nested)
		l->nested_causes |= 1u << cause;
	k->nested = false;
	if (same != LEDGER_OTHERS && same != i) {
		join(l, i, same);
		return;
	}
	k->cause = cause;
	k->attempt = 0;
}

/* A thread is in one attempt at a time: the record that ended an older one was lost. */
static void end_older(struct ledger *l, __u32 tid, __u64 attempt)
{
	unsigned int i;

	for (i = 0; i < LEDGER_CULPRITS; i++)
		if (l->culprit[i].used && l->culprit[i].actor.tid == tid && l->culprit[i].attempt &&
		    l->culprit[i].attempt != attempt)
			make_final(l, i, l->culprit[i].cause);
}

/* So that the attempt's own record finds what waits for it. */
static void remember(struct hcw_chain *c, const struct ledger *l, __u32 tid, __u64 attempt)
{
	struct thread_slot *s = chain_thread(c, tid);

	if (!s || !attempt)
		return;
	if (s->prolongs != attempt) {
		s->prolongs = attempt;
		s->prolongs_from = l->episode;
	}
	if (l->episode < s->prolongs_from)
		s->prolongs_from = l->episode;
}

unsigned int culprit_of(struct hcw_chain *c, struct ledger *l, __u32 tid, enum hcw_cause cause,
			__u64 attempt)
{
	unsigned int i = find(l, tid, cause, attempt);
	struct culprit *k = &l->culprit[i];

	if (i != LEDGER_OTHERS) {
		if (k->cause == HCW_CAUSE_UNKNOWN)
			k->cause = cause;
		return i;
	}
	if (attempt)
		end_older(l, tid, attempt);
	for (i = 0; i < LEDGER_CULPRITS && l->culprit[i].used; i++)
		;
	if (i == LEDGER_OTHERS) {
		c->model.dropped_charges++;
		return LEDGER_OTHERS + cause;
	}
	l->culprit[i] = (struct culprit){.used = true, .cause = cause, .attempt = attempt};
	chain_actor(c, tid, &l->culprit[i].actor);
	remember(c, l, tid, attempt);
	return i;
}

static bool longer(const struct hcw_prolonger *a, const struct hcw_prolonger *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	if (a->passes < b->passes || a->passes > b->passes)
		return a->passes > b->passes;
	return a->actor.tid < b->actor.tid;
}

static void sort(struct hcw_prolonger *p, size_t n)
{
	struct hcw_prolonger one;
	size_t i, j;

	for (i = 1; i < n; i++) {
		one = p[i];
		for (j = i; j && longer(&one, &p[j - 1]); j--)
			p[j] = p[j - 1];
		p[j] = one;
	}
}

static void add(struct hcw_prolonger *to, const struct hcw_prolonger *p)
{
	to->invalidations += p->invalidations;
	to->passes += p->passes;
	to->ns += p->ns;
	if (p->attempt)
		to->attempt = p->attempt;
}

/* One row for each (tid, cause), the longest first; all[] has room for every culprit. */
static size_t rows(const struct ledger *l, const struct account *a, struct hcw_prolonger *all)
{
	size_t n = 0, kept = 0, i, j;

	for (i = 0; i < LEDGER_CULPRITS; i++) {
		const struct culprit *k = &l->culprit[i];
		struct hcw_prolonger p = {
			.actor = k->actor,
			.cause = k->cause,
			.attempt = k->attempt,
			.invalidations = k->invalidations,
			.passes = a->passes[i],
			.ns = a->ns[i],
		};

		if (!k->used)
			continue;
		for (j = 0; j < n && (all[j].actor.tid != p.actor.tid || all[j].cause != p.cause);
		     j++)
			;
		if (j < n)
			add(&all[j], &p);
		else
			all[n++] = p;
	}
	for (i = 0; i < n; i++)
		if (all[i].passes > 0)
			all[kept++] = all[i];
	sort(all, kept);
	return kept;
}

/* Time by cause, of all who have one, named or not; returns what is left of `left`. */
static __u64 share_causes(const struct ledger *l, const struct account *a, struct hcw_episode *e,
			  __u64 left)
{
	__u64 *of = e->prolonged_ns, part;
	unsigned int i, cause;

	memset(of, 0, sizeof(e->prolonged_ns));
	for (i = 0; i < LEDGER_PLACES; i++) {
		cause = i < LEDGER_OTHERS ? l->culprit[i].cause : i - LEDGER_OTHERS;
		part = a->ns[i] < left ? a->ns[i] : left;
		of[cause] += part;
		left -= part;
	}
	return left;
}

void culprits_publish(const struct ledger *l, const struct account *a, struct hcw_episode *e,
		      __u64 left)
{
	struct hcw_prolonger all[LEDGER_CULPRITS];
	size_t n = rows(l, a, all), i;

	e->prolonged_rest = share_causes(l, a, e, left);
	left -= e->prolonged_rest;
	e->nested_causes = l->nested_causes;
	for (i = 0; i < LEDGER_CULPRITS; i++)
		if (l->culprit[i].used && l->culprit[i].nested)
			e->nested_causes |= 1u << l->culprit[i].cause;
	e->n_prolonged = n < HCW_MAX_PROLONGERS ? (__u32)n : HCW_MAX_PROLONGERS;
	for (i = 0; i < HCW_MAX_PROLONGERS; i++) {
		e->prolonged_by[i] = i < n ? all[i] : (struct hcw_prolonger){.ns = 0};
		if (e->prolonged_by[i].ns > left)
			e->prolonged_by[i].ns = left;
		left -= e->prolonged_by[i].ns;
	}
	e->prolonged_others = left;
}

/* In an episode whose ledger may be gone: the model itself remembers whom the attempt can name. */
static void name_prolongers(struct hcw_episode *e, __u32 tid, __u64 attempt, enum hcw_cause cause)
{
	struct hcw_prolonger *p = e->prolonged_by;
	__u32 i, j;

	for (i = 0; i < e->n_prolonged; i++) {
		if (p[i].actor.tid != tid || p[i].attempt != attempt)
			continue;
		e->prolonged_ns[p[i].cause] -= p[i].ns;
		e->prolonged_ns[cause] += p[i].ns;
		p[i].cause = cause;
		p[i].attempt = 0;
		for (j = 0;
		     j < e->n_prolonged && (j == i || p[j].actor.tid != tid || p[j].cause != cause);
		     j++)
			;
		if (j < e->n_prolonged) {
			add(&p[j], &p[i]);
			p[i] = p[--e->n_prolonged];
			p[e->n_prolonged] = (struct hcw_prolonger){.ns = 0};
		}
		sort(p, e->n_prolonged);
		return;
	}
}

static void name_culprits(struct hcw_chain *c, int v, struct ledger *l, __u32 tid, __u64 attempt,
			  enum hcw_cause cause)
{
	unsigned int i;

	if (!l)
		return;
	i = find(l, tid, cause, attempt);
	if (i == LEDGER_OTHERS)
		return;
	make_final(l, i, cause);
	chain_prolong_publish(c, v, l->episode);
}

void chain_prolong_attempt(struct hcw_chain *c, __u32 tid, __u64 attempt, enum hcw_cause cause)
{
	struct thread_slot *s = chain_thread_find(c, tid);
	size_t i;

	if (!s || !attempt || s->prolongs != attempt)
		return;
	for (i = (size_t)s->prolongs_from; i < c->model.n_episodes; i++)
		name_prolongers(&c->model.episodes[i], tid, attempt, cause);
	for (i = 0; i < c->model.n_victims; i++) {
		name_culprits(c, (int)i, c->victims[i].ledger_open, tid, attempt, cause);
		name_culprits(c, (int)i, c->victims[i].ledger_last, tid, attempt, cause);
	}
	s->prolongs = 0;
}
