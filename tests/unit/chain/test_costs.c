/* SPDX-License-Identifier: BSD-2-Clause */
/* What cost how much: by cause, by pool, by process, with and without episodes. */
#include "episode.h"
#include "trial.h"

#define OTHER	   300u
#define OTHER_MM   (MM + 0x9000)
#define OUTSIDE_LO (POOL - (1ull << 30))

/* Stopped for 60 ms, the first 20 of them by the pool's mover, the rest by a scan or two. */
static void prolonged(struct stream *s, unsigned int at, __u32 scanners)
{
	struct stop stop = {
		.start = MS(at),
		.attempt = MS(at) - 10,
		.reason = MR_SYSCALL,
		.trigger = BY_USERPTR,
		.lo = POOL,
		.hi = POOL_END,
	};
	struct hit hit = {
		.start = MS(at + 10),
		.last = MS(at + 10),
		.count = 1,
		.via = HCW_VIA_NUMA_SCAN,
	};

	stream_stop(s, &stop);
	for (hit.tid = SCANNER; hit.tid < SCANNER + scanners; hit.tid++)
		stream_hit(s, MS(at + 10), &hit);
	stream_pass(s, MS(at + 2), MS(at + 20), MM, WORK, false);
	stream_restart(s, MS(at + 60), SERVER, MM);
	stream_pass(s, MS(at + 21), MS(at + 60), MM, WORK, true);
}

static void test_causes(void **state)
{
	const struct hcw_cause_total *t;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	prolonged(&s, 100, 1);
	prolonged(&s, 200, 2);
	prolonged(&s, 300, 0);
	stream_evict(&s, MS(400), MS(401), SERVER, MM, BY_TTM);
	m = stream_end(&s, MS(500));
	t = &m->causes[HCW_CAUSE_MIGRATE_SYSCALL];
	assert_int_equal(t->started, 3);
	assert_int_equal(t->started_ns, MS(60));
	assert_int_equal(t->worst_ns, MS(60));
	assert_int_equal(t->prolonged + t->prolonged_ns, 0);
	t = &m->causes[HCW_CAUSE_NUMA_SCANNING];
	assert_int_equal(t->started + t->started_ns + t->worst_ns, 0);
	assert_int_equal(t->prolonged, 2);
	assert_int_equal(t->prolonged_ns, MS(80));
	assert_int_equal(m->episodes[2].prolonged_rest, MS(40));
	t = &m->causes[HCW_CAUSE_TTM];
	assert_int_equal(t->started, 1);
	assert_int_equal(t->worst_ns, MS(100));
	/* once more is no more, and an open one goes on */
	stream_restore(&s, MS(600), SERVER, MM);
	hcw_chain_finish(s.chain);
	assert_int_equal(t->started, 1);
	assert_int_equal(t->started_ns, MS(200));
	assert_int_equal(m->causes[HCW_CAUSE_MIGRATE_SYSCALL].started, 3);
	stream_close(&s);
}

/* Many threads, each overtakes a pass of its own, or all of them one: the cause is charged with all
 * of it, whoever is named. */
static void check_many_actors(unsigned int n, bool one_pass)
{
	const struct hcw_episode *e;
	const struct hcw_model *m;
	struct stream s;
	unsigned int i, at = 102;

	cast_begin(&s);
	for (i = 0; i < n; i++) {
		at = one_pass ? 102 : 102 + 10 * i;
		cast_scan(&s, at + 2, 1000 + i, 1);
		if (!one_pass || i + 1 == n)
			stream_pass(&s, MS(at), MS(at + 8), MM, WORK, false);
	}
	at += 10;
	stream_restart(&s, MS(at + 8), SERVER, MM);
	stream_pass(&s, MS(at), MS(at + 8), MM, WORK, true);
	m = stream_end(&s, MS(at + 100));
	e = &m->episodes[0];
	check_sum(e, MS(at + 8));
	assert_int_equal(e->n_prolonged, HCW_MAX_PROLONGERS);
	assert_int_equal(e->prolonged_rest, 0);
	assert_true(e->prolonged_others > e->prolonged_by[3].ns);
	assert_int_equal(e->prolonged_ns[HCW_CAUSE_NUMA_SCANNING], MS(at + 8) - MS(110));
	assert_int_equal(m->causes[HCW_CAUSE_NUMA_SCANNING].prolonged, 1);
	assert_int_equal(m->causes[HCW_CAUSE_NUMA_SCANNING].prolonged_ns, MS(at + 8) - MS(110));
	stream_close(&s);
}

static void test_many_actors(void **state)
{
	static const unsigned int sizes[] = {6, 30, 200};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_many_actors(sizes[i], false);
		check_many_actors(sizes[i], true);
	}
}

/* Looking on brings an open episode up to now, and leaves the totals to the end. */
static void test_update(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	cast_begin(&s);
	m = hcw_chain_model(s.chain);
	stream_task(&s, MS(150), 900, 900, MM + 0x7000, "passer-by");
	hcw_chain_update(s.chain);
	assert_int_equal(m->episodes[0].started_ns, MS(50));
	assert_int_equal(m->causes[m->episodes[0].cause].started, 0);
	hcw_chain_finish(s.chain);
	assert_int_equal(m->causes[m->episodes[0].cause].started_ns, MS(50));
	stream_close(&s);
}

/* Scanning starts episodes, too. */
static void test_scan_starts(void **state)
{
	struct stop stop = {
		.start = MS(100),
		.trigger = BY_USERPTR,
		.via = HCW_VIA_NUMA_SCAN,
		.lo = POOL,
		.hi = POOL_END,
	};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_USERPTR);
	stream_stop(&s, &stop);
	stream_restart(&s, MS(130), SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_NUMA_SCANNING);
	assert_int_equal(m->causes[HCW_CAUSE_NUMA_SCANNING].started_ns, MS(30));
	stream_close(&s);
}

static void stop_at(struct stream *s, unsigned int at, __u64 lo, __u64 hi, __u32 trigger)
{
	struct stop stop = {.start = MS(at), .trigger = trigger, .lo = lo, .hi = hi};

	stream_stop(s, &stop);
	stream_restart(s, MS(at + 10), SERVER, MM);
}

static void test_residual(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_task(&s, 500, SERVER, SERVER, MM, "server");
	stop_at(&s, 10, OUTSIDE_LO, OUTSIDE_LO + PAGE, BY_USERPTR);
	stream_pool(&s, MS(50), SERVER, POOL, HCW_BACKING_GTT);
	stream_mapping(&s, MS(50), POOL, POOL, POOL_END, OF_DRIVER);
	stop_at(&s, 100, OUTSIDE_LO, OUTSIDE_LO + PAGE, BY_USERPTR);
	stop_at(&s, 120, POOL_END, POOL_END + PAGE, 0);
	stop_at(&s, 140, POOL_END - 1, POOL_END + PAGE, BY_USERPTR);
	stop_at(&s, 160, 0, 0, BY_USERPTR);
	stop_at(&s, 180, 0, 0, BY_TTM);
	stream_pool_free(&s, MS(200), SERVER, POOL);
	stop_at(&s, 220, OUTSIDE_LO, OUTSIDE_LO + PAGE, BY_USERPTR);
	m = stream_end(&s, MS(300));
	assert_int_equal(m->pools[0].residual, 2);
	assert_int_equal(m->pools[0].residual_ns, MS(20));
	assert_int_equal(m->pools[0].episodes, 1);
	hcw_chain_finish(s.chain);
	assert_int_equal(m->pools[0].residual, 2);
	stream_close(&s);
}

/* A pool is not blamed for what hit something else of its process. */
static void test_residual_does_not_expose(void **state)
{
	struct hcw_move_pages mp = stream_refused(ATTEMPT, POOL, 512);
	const struct hcw_pool_info *p;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	stop_at(&s, 50, OUTSIDE_LO, OUTSIDE_LO + PAGE, BY_USERPTR);
	stream_move(&s, ANSWER, MOVER, &mp);
	p = stream_end(&s, MS(200))->pools;
	assert_int_equal(p->verdict, HCW_VERDICT_IMMUNE);
	assert_int_equal(p->evidence, HCW_EVIDENCE_TRIAL);
	assert_int_equal(p->residual, 1);
	stream_close(&s);
}

/* One rank stands still, the other waits for it; a third process's longer stop is further off. */
static void ranks(struct stream *s, bool group)
{
	struct stop stop = {.start = MS(110), .trigger = BY_USERPTR};

	stream_open(s, ALL_SOURCES);
	hcw_chain_one_group(s->chain, group);
	stream_server(s, HCW_BACKING_REGISTERED);
	stream_task(s, 4000, OTHER, OTHER, OTHER_MM, "other");
	stream_warm_up(s, MS(100), SERVER, 20, MS(1));
	stream_warm_up(s, MS(100), OTHER, 20, MS(1));
	stream_stop(s, &stop);
	stream_restart(s, MS(112), SERVER, MM);
	stop.start = MS(114);
	stream_stop(s, &stop);
	stream_restart(s, MS(150), SERVER, MM);
	stream_iteration(s, MS(105), MS(151), OTHER);
	stream_iteration(s, MS(105), MS(152), SERVER);
	stream_iteration(s, MS(160), MS(190), OTHER);
}

static void test_collateral(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	ranks(&s, true);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_stalls, 3);
	assert_int_equal(m->stalls[0].victim, OTHER);
	assert_int_equal(m->stalls[0].episode, -1);
	assert_int_equal(m->stalls[0].collateral, 1);
	assert_int_equal(m->stalls[1].victim, SERVER);
	assert_int_equal(m->stalls[1].episode, 1);
	assert_int_equal(m->stalls[1].collateral, -1);
	/* a stall after it is its own matter */
	assert_int_equal(m->stalls[2].collateral, -1);
	stream_close(&s);

	ranks(&s, false);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_stalls, 3);
	assert_int_equal(m->stalls[0].collateral, -1);
	stream_close(&s);
}

/* The longest of several is neither the last nor the open one; between them lie others'. */
static void test_collateral_far_back(void **state)
{
	struct stop stop = {.trigger = BY_USERPTR}, third = {.trigger = BY_USERPTR};
	const struct hcw_model *m;
	struct stream s;
	unsigned int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	hcw_chain_one_group(s.chain, true);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_task(&s, 4000, OTHER, OTHER, OTHER_MM, "other");
	stream_warm_up(&s, MS(100), OTHER, 20, MS(1));
	third.tid = third.victim = THIRD;
	third.mm = MM + 0x5000;
	for (i = 0; i < 5; i++) {
		stop.start = MS(110 + 40 * i);
		stream_stop(&s, &stop);
		stream_restart(&s, MS(i == 1 ? 180 : 115 + 40 * i), SERVER, MM);
		third.start = MS(116 + 40 * i);
		if (i != 1)
			stream_stop(&s, &third);
		if (i != 1)
			stream_restart(&s, MS(119 + 40 * i), THIRD, MM + 0x5000);
	}
	stop.start = MS(310);
	stream_stop(&s, &stop);
	stream_iteration(&s, MS(105), MS(320), OTHER);
	m = stream_end(&s, MS(400));
	assert_int_equal(m->n_stalls, 1);
	assert_int_equal(m->stalls[0].episode, -1);
	i = (unsigned int)m->stalls[0].collateral;
	assert_in_range(i, 0, m->n_episodes - 1);
	assert_int_equal(m->episodes[i].victim, SERVER);
	assert_int_equal(m->episodes[i].start, MS(150));
	stream_close(&s);
}

static void test_calm(void **state)
{
	__u64 max = 1;
	struct stream s;

	(void)state;
	ranks(&s, true);
	stream_end(&s, MS(200));
	assert_in_range(hcw_chain_percentile(s.chain, SERVER, 100), MS(44), MS(50));
	assert_in_range(hcw_chain_percentile_calm(s.chain, SERVER, 100, &max), MS(15) / 16,
			MS(17) / 16);
	assert_int_equal(max, MS(1));
	/* what waited for others is out, too; its own unusually long one stays in */
	assert_in_range(hcw_chain_percentile_calm(s.chain, OTHER, 50, NULL), MS(15) / 16,
			MS(17) / 16);
	hcw_chain_percentile_calm(s.chain, OTHER, 50, &max);
	assert_int_equal(max, MS(30));
	assert_int_equal(hcw_chain_percentile_calm(s.chain, 4711, 50, &max), 0);
	assert_int_equal(max, 0);
	stream_close(&s);

	/* where nobody is known to wait for another, it is its own matter */
	ranks(&s, false);
	stream_end(&s, MS(200));
	hcw_chain_percentile_calm(s.chain, OTHER, 50, &max);
	assert_int_equal(max, MS(46));
	stream_close(&s);
}

/* Every iteration was hit: nothing is calm. */
static void test_never_calm(void **state)
{
	__u64 max = 1;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_evict(&s, MS(50), MS(51), SERVER, MM, BY_TTM);
	stream_iteration(&s, MS(60), MS(90), SERVER);
	stream_end(&s, MS(200));
	assert_in_range(hcw_chain_percentile(s.chain, SERVER, 50), MS(28), MS(32));
	assert_int_equal(hcw_chain_percentile_calm(s.chain, SERVER, 50, &max), 0);
	assert_int_equal(max, 0);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),	   cmocka_unit_test(test_many_actors),
		cmocka_unit_test(test_update),	   cmocka_unit_test(test_scan_starts),
		cmocka_unit_test(test_residual),   cmocka_unit_test(test_residual_does_not_expose),
		cmocka_unit_test(test_collateral), cmocka_unit_test(test_collateral_far_back),
		cmocka_unit_test(test_calm),	   cmocka_unit_test(test_never_calm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
