/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random episodes against a plain account of them that knows everything at once: whatever the order
 * of arrival, the shares must be the same, and the parts the whole.
 */
#include <stdio.h>
#include <string.h>
#include "episode.h"

#define ACTORS	   6
#define MAX_PASSES 32
#define MAX_HITS   80
#define CALLED	   MS(50)
#define FIRST	   1000u /* tid of the first actor */

struct plan {
	__u64 start[MAX_PASSES], end[MAX_PASSES];
	bool resumed[MAX_PASSES];
	unsigned int n_passes, n_hits;
	struct hit hit[MAX_HITS];
	unsigned int arrival[MAX_HITS]; /* told after so many passes */
	int pass[MAX_HITS];		/* it lies in, -1 = none */
	bool known[MAX_HITS];
	bool killed;
	__u64 stopped_until;
};

struct sums {
	double passes[ACTORS], ns[ACTORS], started, rest;
	unsigned int thrown, unexplained;
};

static unsigned int below(__u64 *seed, unsigned int n)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (unsigned int)((*seed >> 11) % n);
}

static void plan_hit(__u64 *seed, struct plan *p, unsigned int i)
{
	unsigned int at = below(seed, p->n_passes), actor = below(seed, ACTORS);
	__u64 from = p->start[at], to = p->end[at];
	struct hit *h = &p->hit[i];

	p->pass[i] = (int)at;
	if (below(seed, 4) == 0) {
		/* in the wait before this pass */
		to = from - 1;
		from = at ? p->end[at - 1] + 1 : STOPPED + 1;
		p->pass[i] = -1;
	}
	h->start = from + below(seed, (unsigned int)(to - from + 1));
	h->last = h->start + below(seed, (unsigned int)(to - h->start + 1));
	h->tid = FIRST + actor;
	h->count = 1 + below(seed, 5);
	/* two in a call of move_pages, one by compaction, one by scanning, two by other means */
	h->attempt = actor < 3 ? CALLED + actor : 0;
	h->reason = actor < 2 ? MR_SYSCALL : 0;
	h->via = actor == 3 ? HCW_VIA_NUMA_SCAN : HCW_VIA_UNKNOWN;
	p->known[i] = below(seed, 3) != 0;
	h->lo = p->known[i] ? POOL : POOL - (1ull << 30);
	h->hi = h->lo + PAGE;
	p->arrival[i] = below(seed, p->n_passes + 1);
}

static void plan_episode(__u64 *seed, struct plan *p)
{
	__u64 at = STOPPED;
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->n_passes = 1 + below(seed, MAX_PASSES);
	p->n_hits = below(seed, MAX_HITS);
	for (i = 0; i < p->n_passes; i++) {
		p->start[i] = at + 10 + below(seed, 1000);
		p->end[i] = at = p->start[i] + 100 + below(seed, 100000);
		p->resumed[i] = below(seed, 16) == 0;
	}
	p->killed = below(seed, 4) == 0;
	p->resumed[p->n_passes - 1] = !p->killed;
	p->stopped_until = at + (p->killed ? 5000 : 0);
	for (i = 0; i < p->n_hits; i++)
		plan_hit(seed, p, i);
}

static double weight_of(const struct plan *p, int pass, int actor, bool known)
{
	double w = 0;
	unsigned int i;

	for (i = 0; i < p->n_hits; i++)
		if (p->pass[i] == pass && p->known[i] == known &&
		    (actor < 0 || p->hit[i].tid == FIRST + (__u32)actor))
			w += p->hit[i].count;
	return w;
}

static void sum_pass(const struct plan *p, int pass, double redo, struct sums *s)
{
	bool known = weight_of(p, pass, -1, true) > 0;
	double total = weight_of(p, pass, -1, known);
	int a;

	if (p->resumed[pass]) {
		s->started += redo;
		return;
	}
	s->thrown++;
	if (total <= 0) {
		s->unexplained++;
		s->rest += redo;
		return;
	}
	for (a = 0; a < ACTORS; a++) {
		s->passes[a] += weight_of(p, pass, a, known) / total;
		s->ns[a] += redo * weight_of(p, pass, a, known) / total;
	}
}

static void sum_up(const struct plan *p, struct sums *s)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->started = (double)(p->end[0] - STOPPED);
	for (i = 0; i < p->n_passes; i++) {
		__u64 redone = i + 1 < p->n_passes ? p->end[i + 1] : p->stopped_until;

		sum_pass(p, (int)i, (double)(redone - p->end[i]), s);
	}
}

static void tell_hits(struct stream *s, const struct plan *p, unsigned int after)
{
	unsigned int i;

	for (i = 0; i < p->n_hits; i++)
		if (p->arrival[i] == after)
			stream_hit(s, p->end[after ? after - 1 : 0], &p->hit[i]);
}

static void tell(__u64 *seed, struct stream *s, const struct plan *p)
{
	const struct stop stop = {
		.start = STOPPED,
		.trigger = BY_USERPTR,
		.lo = POOL,
		.hi = POOL + POOL_BYTES,
	};
	unsigned int i, last = p->n_passes - 1;

	stream_stop(s, &stop);
	tell_hits(s, p, 0);
	for (i = 0; i < p->n_passes; i++) {
		if (i == last && !p->killed)
			stream_restart(s, p->stopped_until, SERVER, MM);
		stream_pass(s, p->start[i], p->end[i], MM, WORK, p->resumed[i]);
		if (below(seed, 8) == 0 && i < last) {
			hcw_chain_finish(s->chain);
			check_sum(&hcw_chain_model(s->chain)->episodes[0],
				  hcw_chain_model(s->chain)->last_ts);
		}
		tell_hits(s, p, i + 1);
	}
	if (p->killed)
		stream_exit(s, p->stopped_until, SERVER, SERVER);
}

/* The calls of the first two actors return at last. */
static void answer(struct stream *s, const struct plan *p)
{
	__u32 i;

	for (i = 0; i < 2; i++) {
		struct hcw_move_pages mp = stream_moved(CALLED + i, POOL, 1);

		stream_move(s, p->stopped_until + MS(1), FIRST + i, &mp);
	}
}

static void compare(const struct hcw_episode *e, const struct sums *want)
{
	static const enum hcw_cause cause[ACTORS] = {
		HCW_CAUSE_MOVE_PAGES,	 HCW_CAUSE_MOVE_PAGES,	       HCW_CAUSE_COMPACTION,
		HCW_CAUSE_NUMA_SCANNING, HCW_CAUSE_OTHER_INVALIDATION, HCW_CAUSE_OTHER_INVALIDATION,
	};
	double named = 0, all = 0, rest = want->rest, slack = MAX_PASSES + 1;
	unsigned int a, actors = 0;
	__u32 i;

	assert_int_equal(e->passes_thrown, want->thrown);
	assert_in_range(e->started_ns, want->started, want->started);
	for (a = 0; a < ACTORS; a++) {
		all += want->passes[a];
		rest += want->ns[a];
		actors += want->passes[a] > 0;
	}
	for (i = 0; i < e->n_prolonged; i++) {
		a = e->prolonged_by[i].actor.tid - FIRST;
		assert_in_range(a, 0, ACTORS - 1);
		assert_int_equal(e->prolonged_by[i].cause, cause[a]);
		assert_close(e->prolonged_by[i].passes, want->passes[a]);
		assert_true((double)e->prolonged_by[i].ns >= want->ns[a] - slack);
		assert_true((double)e->prolonged_by[i].ns <= want->ns[a] + slack);
		named += e->prolonged_by[i].passes;
		rest -= want->ns[a];
	}
	assert_int_equal(e->n_prolonged, actors < HCW_MAX_PROLONGERS ? actors : HCW_MAX_PROLONGERS);
	assert_close(all, want->thrown - want->unexplained);
	if (actors <= HCW_MAX_PROLONGERS)
		assert_close(named, want->thrown - want->unexplained);
	rest -= (double)e->prolonged_others + (double)e->prolonged_rest;
	assert_true(rest <= HCW_MAX_PROLONGERS * slack && rest >= -HCW_MAX_PROLONGERS * slack);
	assert_in_range(e->prolonged_rest, want->rest, want->rest);
}

static void run(__u64 seed)
{
	const struct hcw_model *m;
	struct sums want;
	struct plan p;
	struct stream s;

	plan_episode(&seed, &p);
	sum_up(&p, &want);
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	tell(&seed, &s, &p);
	answer(&s, &p);
	m = stream_end(&s, p.stopped_until + MS(2));
	assert_int_equal(m->n_episodes, 1);
	check_sum(&m->episodes[0], p.stopped_until);
	compare(&m->episodes[0], &want);
	assert_int_equal(m->dropped_charges, 0);
	stream_close(&s);
}

static void test_random_episodes(void **state)
{
	__u64 i;

	(void)state;
	for (i = 1; i <= 3000; i++)
		run(i * 0x9e3779b97f4a7c15ull);
}

/* Far more passes, hits and actors than are kept, in no good order: the parts are the whole. */
static void flood(__u64 seed)
{
	struct stop stop = {.start = STOPPED, .trigger = BY_USERPTR};
	const struct hcw_model *m;
	struct stream s;
	struct hit h;
	__u64 at = STOPPED;
	unsigned int i, k;

	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &stop);
	for (i = 0; i < 300; i++) {
		__u64 from = at + below(&seed, 2000);

		at = from + below(&seed, 100000);
		for (k = below(&seed, 20); k-- > 0;) {
			h = (struct hit){.start = from + below(&seed, 200000),
					 .count = 1 + below(&seed, 9)};
			h.start -= below(&seed, 8) ? 0 : below(&seed, 3000000);
			h.last = h.start + below(&seed, 1000);
			h.tid = FIRST + below(&seed, 100);
			h.attempt = below(&seed, 2) ? h.start - 5 : 0;
			h.reason = below(&seed, 11);
			stream_hit(&s, at, &h);
		}
		stream_pass(&s, from, at, MM, WORK, below(&seed, 10) == 0);
	}
	hcw_chain_finish(s.chain);
	m = hcw_chain_model(s.chain);
	check_sum(&m->episodes[0], m->last_ts);
	stream_restart(&s, at - below(&seed, 50000), SERVER, MM);
	check_sum(&m->episodes[0], m->episodes[0].end);
	stream_close(&s);
}

static void test_flood(void **state)
{
	__u64 i;

	(void)state;
	for (i = 1; i <= 50; i++)
		flood(i * 0xd1b54a32d192ed03ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_episodes),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
