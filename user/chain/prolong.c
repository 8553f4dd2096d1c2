/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an episode lasted because of whom: passes and invalidations in, shares out. */
#include <stdlib.h>
#include <string.h>
#include "prolong.h"

static struct ledger *ledger_of(const struct hcw_chain *c, int v, int ep)
{
	const struct victim_state *vs = &c->victims[v];

	if (vs->ledger_open && vs->ledger_open->episode == ep)
		return vs->ledger_open;
	if (vs->ledger_last && vs->ledger_last->episode == ep)
		return vs->ledger_last;
	return NULL;
}

void chain_prolong_open(struct hcw_chain *c, int v, int ep)
{
	struct victim_state *vs = &c->victims[v];

	if (!vs->ledger_open)
		vs->ledger_open = malloc(sizeof(*vs->ledger_open));
	if (!vs->ledger_open) {
		c->model.dropped_charges++;
		return;
	}
	memset(vs->ledger_open, 0, sizeof(*vs->ledger_open));
	vs->ledger_open->episode = ep;
}

void chain_prolong_close(struct hcw_chain *c, int v)
{
	struct victim_state *vs = &c->victims[v];
	struct ledger *l = vs->ledger_last;

	vs->ledger_last = vs->ledger_open;
	vs->ledger_open = l;
}

static __u64 charge_weight(const struct charge *ch, bool known)
{
	return known ? ch->known : ch->other;
}

/* Sum of the weights of a thrown-away pass, 0 when nobody was seen to overtake it; *known: they are
 * those that met a registered range. */
static __u64 pass_weight(const struct kept_pass *p, bool *known)
{
	__u64 sum[2] = {0, 0};
	unsigned int i;

	for (i = 0; i < p->n_charges; i++) {
		sum[0] += p->charge[i].other;
		sum[1] += p->charge[i].known;
	}
	*known = sum[1] != 0;
	return sum[*known];
}

/* `ns` that followed the pass `before`; NULL = the start of the episode. */
static void share_time(struct account *a, const struct kept_pass *before, __u64 ns)
{
	unsigned int i, last = LEDGER_OTHERS;
	__u64 total, left = ns;
	bool known;

	if (!before || !before->thrown) {
		a->started += ns;
		return;
	}
	total = pass_weight(before, &known);
	if (!total) {
		a->rest += ns;
		return;
	}
	for (i = 0; i < before->n_charges; i++) {
		const struct charge *ch = &before->charge[i];
		__u64 part = (__u64)((unsigned __int128)ns * charge_weight(ch, known) / total);

		if (!charge_weight(ch, known))
			continue;
		last = ch->who;
		part = part < left ? part : left;
		a->ns[last] += part;
		left -= part;
	}
	a->ns[last] += left; /* of rounding */
}

static void share_pass(struct account *a, const struct kept_pass *p)
{
	unsigned int i;
	__u64 total;
	bool known;

	total = p->thrown ? pass_weight(p, &known) : 0;
	for (i = 0; total && i < p->n_charges; i++)
		a->passes[p->charge[i].who] +=
			(double)charge_weight(&p->charge[i], known) / (double)total;
}

/* The oldest kept pass leaves; it can no longer change. */
static void settle_oldest(struct ledger *l)
{
	const struct kept_pass *p = &l->pass[0];

	if (l->has_settled)
		share_time(&l->settled, &l->settled_last, p->end - l->settled_last.end);
	else
		l->first_end = p->end;
	share_pass(&l->settled, p);
	l->settled_last = *p;
	l->has_settled = true;
	l->n_passes--;
	memmove(&l->pass[0], &l->pass[1], l->n_passes * sizeof(l->pass[0]));
}

static __u64 clamp(__u64 t, __u64 lo, __u64 hi)
{
	t = t < hi ? t : hi;
	return t > lo ? t : lo;
}

/* Divides the time from `start` to `end` over all passes, kept and settled. */
static void divide(const struct ledger *l, struct account *a, __u64 start, __u64 end)
{
	const struct kept_pass *before = NULL;
	__u64 at = start;
	unsigned int i;

	*a = l->settled;
	if (l->has_settled) {
		before = &l->settled_last;
		at = before->end;
		a->started += l->first_end > start ? l->first_end - start : 0;
	}
	for (i = 0; i < l->n_passes; i++) {
		const struct kept_pass *p = &l->pass[i];
		__u64 to = clamp(p->end, at, end);

		share_time(a, before, to - at);
		share_pass(a, p);
		before = p;
		at = to;
	}
	if (at < end)
		share_time(a, before, end - at);
}

void chain_prolong_publish(struct hcw_chain *c, int v, int ep)
{
	struct hcw_episode *e = &c->model.episodes[ep];
	const struct ledger *l = ledger_of(c, v, ep);
	__u64 end = e->end ? e->end : c->model.last_ts, length;
	struct account a;

	length = end > e->start ? end - e->start : 0;
	if (!l) {
		e->started_ns = length;
		return;
	}
	divide(l, &a, e->start, e->start + length);
	/* the parts add up to the length even when times in a damaged trace contradict each other
	 */
	e->started_ns = a.started < length ? a.started : length;
	culprits_publish(l, &a, e, length - e->started_ns);
}

/* How many of its places named actors took. */
static unsigned int charged_actors(const struct kept_pass *p)
{
	unsigned int i, n = 0;

	for (i = 0; i < p->n_charges; i++)
		n += p->charge[i].who < LEDGER_CULPRITS;
	return n;
}

static unsigned int charge_find(const struct kept_pass *p, unsigned int who)
{
	unsigned int i;

	for (i = 0; i < p->n_charges && p->charge[i].who != who; i++)
		;
	return i;
}

static void charge_add(struct hcw_chain *c, const struct ledger *l, struct kept_pass *p,
		       const struct pending_inval *in)
{
	unsigned int who = in->who, i = charge_find(p, who);

	if (i == p->n_charges && who < LEDGER_CULPRITS && charged_actors(p) == LEDGER_CHARGES) {
		c->model.dropped_charges++;
		who = LEDGER_OTHERS + l->culprit[who].cause;
		i = charge_find(p, who);
	}
	if (i == p->n_charges)
		p->charge[p->n_charges++] = (struct charge){.who = who};
	p->charge[i].known += in->known;
	p->charge[i].other += in->other;
}

static bool pass_meets(const struct kept_pass *p, const struct pending_inval *in)
{
	return p->start <= in->last && p->end >= in->start;
}

/* Halves what one thread has waiting: pairs become one entry. Entries of a pass under way may so
 * reach back into the wait before it, a millisecond. */
static void pending_halve(struct ledger *l)
{
	struct pending_inval *in = l->pending;
	unsigned int n = 0, i, j;
	bool gone[LEDGER_PENDING] = {false};

	for (i = 0; i < l->n_pending; i++) {
		if (gone[i])
			continue;
		for (j = i + 1; j < l->n_pending && (gone[j] || in[j].who != in[i].who); j++)
			;
		in[n] = in[i];
		if (j < l->n_pending) {
			gone[j] = true;
			in[n].start = in[j].start < in[n].start ? in[j].start : in[n].start;
			in[n].last = in[j].last > in[n].last ? in[j].last : in[n].last;
			in[n].known += in[j].known;
			in[n].other += in[j].other;
		}
		n++;
	}
	l->n_pending = n;
}

/* Passes are told in order: what ended before the newest did and met none never will. */
static void pending_make_room(struct ledger *l)
{
	__u64 told = l->n_passes ? l->pass[l->n_passes - 1].end : 0;
	unsigned int n = 0, i;

	if (l->n_pending < LEDGER_PENDING)
		return;
	for (i = 0; i < l->n_pending; i++)
		if (l->pending[i].last >= told)
			l->pending[n++] = l->pending[i];
	l->n_pending = n;
	if (n == LEDGER_PENDING)
		pending_halve(l);
}

static void inval_place(struct hcw_chain *c, struct ledger *l, const struct pending_inval *in)
{
	unsigned int i;

	for (i = 0; i < l->n_passes; i++) {
		if (pass_meets(&l->pass[i], in)) {
			charge_add(c, l, &l->pass[i], in);
			return;
		}
	}
	if (l->has_settled && in->start <= l->settled_last.end) {
		c->model.dropped_charges++;
		return;
	}
	pending_make_room(l);
	l->pending[l->n_pending++] = *in;
}

static bool range_known(const struct hcw_chain *c, int v, const struct hcw_inval *in)
{
	const struct victim_state *vs = &c->victims[v];
	unsigned int i;

	for (i = 0; i < vs->n_ranges; i++)
		if (in->lo < vs->range[i].hi && in->hi > vs->range[i].lo)
			return true;
	return chain_pool_registered(c, c->model.victims[v].tgid, in->lo, in->hi, in->start);
}

void chain_prolong_range(struct hcw_chain *c, int v, __u64 lo, __u64 hi)
{
	struct victim_state *vs = &c->victims[v];
	unsigned int i;

	for (i = 0; i < vs->n_ranges; i++)
		if (vs->range[i].lo == lo && vs->range[i].hi == hi)
			return;
	if (vs->n_ranges == HCW_KNOWN_RANGES) {
		vs->n_ranges--;
		memmove(&vs->range[0], &vs->range[1], vs->n_ranges * sizeof(vs->range[0]));
	}
	vs->range[vs->n_ranges].lo = lo;
	vs->range[vs->n_ranges++].hi = hi;
}

/* How many of these are not the one that started the episode. */
static __u64 after_start(const struct hcw_episode *e, __u32 tid, const struct hcw_inval *in)
{
	if (tid != e->started_by.tid || in->start > e->start || !in->count)
		return in->count;
	return in->start + in->span < e->start ? 0 : in->count - 1;
}

void chain_prolong_inval(struct hcw_chain *c, int v, int ep, __u32 tid, const struct hcw_inval *in)
{
	struct pending_inval p = {.start = in->start, .last = in->start + in->span};
	struct ledger *l = ledger_of(c, v, ep);
	enum hcw_cause cause;

	if (!l)
		return;
	cause = chain_cause(c, HCW_TRIGGER_USERPTR, in->reason, in->via, false);
	if (in->attempt && in->reason == HCW_REASON_NONE)
		cause = HCW_CAUSE_UNKNOWN;
	p.who = culprit_of(c, l, tid, cause,
			   culprit_open(in->attempt, in->reason) ? in->attempt : 0);
	l->culprit[p.who].invalidations += after_start(&c->model.episodes[ep], tid, in);
	*(range_known(c, v, in) ? &p.known : &p.other) = in->count;
	inval_place(c, l, &p);
	chain_prolong_publish(c, v, ep);
}

static void pass_insert(struct ledger *l, const struct kept_pass *p)
{
	unsigned int i = l->n_passes++;

	for (; i && l->pass[i - 1].end > p->end; i--)
		l->pass[i] = l->pass[i - 1];
	l->pass[i] = *p;
}

void chain_prolong_pass(struct hcw_chain *c, int v, int ep, const struct hcw_pass *pass, __u64 end)
{
	struct kept_pass p = {.start = pass->start, .end = end, .thrown = !pass->resumed};
	struct ledger *l = ledger_of(c, v, ep);
	unsigned int n = 0, i;

	if (!l)
		return;
	if (l->has_settled && end < l->settled_last.end) {
		c->model.dropped_charges++;
		return;
	}
	for (i = 0; i < l->n_pending; i++) {
		if (pass_meets(&p, &l->pending[i]))
			charge_add(c, l, &p, &l->pending[i]);
		else
			l->pending[n++] = l->pending[i];
	}
	l->n_pending = n;
	if (l->n_passes == LEDGER_PASSES)
		settle_oldest(l);
	pass_insert(l, &p);
	chain_prolong_publish(c, v, ep);
}

void chain_prolong_nested(struct hcw_chain *c, int v, enum hcw_cause cause)
{
	struct ledger *l = ledger_of(c, v, c->victims[v].open);

	c->model.episodes[c->victims[v].open].nested_causes |= 1u << cause;
	if (l)
		l->nested_causes |= 1u << cause;
}

void chain_prolong_nested_hit(struct hcw_chain *c, int v, __u32 tid, const struct hcw_quiesce *q)
{
	enum hcw_cause cause = chain_cause(c, q->trigger, q->reason, q->via, false);
	struct ledger *l = ledger_of(c, v, c->victims[v].open);

	if (q->attempt && q->reason == HCW_REASON_NONE)
		cause = HCW_CAUSE_UNKNOWN;
	if (!l || q->trigger > HCW_TRIGGER_USERPTR || !culprit_open(q->attempt, q->reason)) {
		chain_prolong_nested(c, v, cause);
		return;
	}
	l->culprit[culprit_of(c, l, tid, cause, q->attempt)].nested = true;
	chain_prolong_publish(c, v, l->episode);
}
