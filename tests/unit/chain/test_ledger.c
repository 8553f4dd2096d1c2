/* SPDX-License-Identifier: BSD-2-Clause */
/* More passes, invalidations, actors and ranges than an episode's ledger keeps. */
#include "episode.h"

/* More passes than are kept, each overtaken; every second one by two. */
static void starve(struct stream *s, unsigned int n, bool late)
{
	unsigned int i, at;

	for (i = 0; i < n; i++) {
		at = 102 + 10 * i;
		if (late)
			stream_pass(s, MS(at), MS(at + 8), MM, WORK, false);
		cast_scan(s, at + 2, SCANNER, 1);
		if (i % 2)
			stream_inval(s, MS(at + 3), MS(at + 4), MOVER, AROUND, 3);
		if (!late)
			stream_pass(s, MS(at), MS(at + 8), MM, WORK, false);
	}
	at = 102 + 10 * n;
	stream_restart(s, MS(at + 8), SERVER, MM);
	stream_pass(s, MS(at), MS(at + 8), MM, WORK, true);
}

static void check_starved(unsigned int n, bool late)
{
	struct hcw_move_pages mp = stream_moved(AROUND, POOL, 512);
	const struct hcw_model *m;
	struct stream s;
	double half = n / 2;

	cast_begin(&s);
	starve(&s, n, late);
	stream_move(&s, MS(110 + 10 * n), MOVER, &mp);
	m = stream_end(&s, MS(200 + 10 * n));
	assert_int_equal(m->episodes[0].passes, n + 1);
	assert_int_equal(m->episodes[0].passes_thrown, n);
	assert_int_equal(m->episodes[0].started_ns, MS(10));
	assert_int_equal(m->episodes[0].n_prolonged, 2);
	check_prolonger(&m->episodes[0].prolonged_by[0], SCANNER, HCW_CAUSE_NUMA_SCANNING, n,
			half * 1.25, MS(125) * n / 20);
	check_prolonger(&m->episodes[0].prolonged_by[1], MOVER, HCW_CAUSE_MOVE_PAGES, 3 * (n / 2),
			half * .75, MS(75) * n / 20);
	assert_int_equal(m->episodes[0].prolonged_rest, 0);
	assert_int_equal(m->dropped_charges, 0);
	stream_close(&s);
}

static void test_starved(void **state)
{
	(void)state;
	check_starved(40, false);
	check_starved(40, true);
	check_starved(3000, false);
	check_starved(3000, true);
}

/* Two actors, told as thousands of records before the pass they overtook. */
static void test_long_pass(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	unsigned int i;

	(void)state;
	cast_begin(&s);
	for (i = 0; i < 5000; i++) {
		stream_inval(&s, MS(103) + 1000 * i, MS(103) + 1000 * i + 500, THIRD, 0, 3);
		cast_scan(&s, 103 + i / 1000, SCANNER, 1);
	}
	cast_passes(&s, 0, 3);
	m = stream_end(&s, MS(200));
	check_prolonger(&m->episodes[0].prolonged_by[0], THIRD, HCW_CAUSE_OTHER_INVALIDATION, 15000,
			.75, MS(15));
	check_prolonger(&m->episodes[0].prolonged_by[1], SCANNER, HCW_CAUSE_NUMA_SCANNING, 5000,
			.25, MS(5));
	assert_int_equal(m->dropped_charges, 0);
	stream_close(&s);
}

/* The four who cost most are named, the others' time is in the rest; more than fit are counted. */
static void check_crowd(unsigned int n, bool late)
{
	const struct hcw_episode *e;
	const struct hcw_model *m;
	double weight = n * (n + 1) / 2;
	struct stream s;
	unsigned int i;

	cast_begin(&s);
	if (late)
		cast_passes(&s, 0, 3);
	for (i = 1; i <= n; i++)
		cast_scan(&s, 105, 1000 + i, i);
	if (!late)
		cast_passes(&s, 0, 3);
	m = stream_end(&s, MS(200));
	e = &m->episodes[0];
	check_sum(e, MS(160));
	assert_int_equal(m->dropped_charges != 0, n > 7);
	if (n <= 7) {
		assert_int_equal(e->n_prolonged, 4);
		for (i = 0; i < 4; i++) {
			assert_int_equal(e->prolonged_by[i].actor.tid, 1000 + n - i);
			assert_close(e->prolonged_by[i].passes, (n - i) / weight);
		}
	}
	/* whoever is named is not blamed for those who are not */
	for (i = 0; i < e->n_prolonged; i++)
		assert_close(e->prolonged_by[i].passes,
			     (double)e->prolonged_by[i].invalidations / weight);
	stream_close(&s);
}

static void test_crowd(void **state)
{
	static const unsigned int sizes[] = {5, 7, 8, 20, 60, 200};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_crowd(sizes[i], false);
		check_crowd(sizes[i], true);
	}
}

/* While nothing runs, hundreds of records come; what waits must not mix with the next pass's. */
static void test_busy_wait(void **state)
{
	const struct hcw_episode *e;
	struct stream s;
	unsigned int i;

	(void)state;
	cast_begin(&s);
	cast_passes(&s, 0, 1);
	for (i = 0; i < 127; i++)
		stream_inval(&s, MS(120) + 500 + i, MS(120) + 500 + i, THIRD, 0, 50);
	/* the pass they came before: now they can meet none any more */
	cast_passes(&s, 1, 2);
	stream_inval(&s, MS(150), MS(150), THIRD, 0, 1);
	stream_inval(&s, MS(151), MS(151), THIRD, 0, 1);
	cast_scan(&s, 152, SCANNER, 2);
	stream_pass(&s, MS(141), MS(160), MM, WORK, false);
	stream_restart(&s, MS(180), SERVER, MM);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->n_prolonged, 2);
	assert_close(e->prolonged_by[0].passes, .5);
	assert_close(e->prolonged_by[1].passes, .5);
	stream_close(&s);
}

/* One record that begins in the wait and reaches into the pass. */
static void test_reaches_into_pass(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	stream_inval(&s, MS(101), MS(103), THIRD, 0, 2);
	cast_passes(&s, 0, 3);
	e = &stream_end(&s, MS(200))->episodes[0];
	check_prolonger(&e->prolonged_by[0], THIRD, HCW_CAUSE_OTHER_INVALIDATION, 2, 1, MS(20));
	stream_close(&s);
}

/* The queues stay stopped after the pass that succeeds: that is not who overtook the one before. */
static void test_slow_restart(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	cast_scan(&s, 110, SCANNER, 1);
	cast_passes(&s, 0, 1);
	stream_pass(&s, MS(121), MS(140), MM, WORK, true);
	stream_restart(&s, MS(190), SERVER, MM);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->started_ns, MS(70));
	assert_int_equal(e->prolonged_by[0].ns, MS(20));
	check_sum(e, MS(190));
	stream_close(&s);
}

/* An eviction by the driver, nested, outlasts the last pass by a minute. */
static void test_nested_outlasts(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	cast_scan(&s, 110, SCANNER, 1);
	cast_passes(&s, 0, 1);
	stream_evict(&s, MS(130), MS(131), SERVER, MM, BY_TTM);
	stream_restart(&s, MS(140) - 1000, SERVER, MM);
	stream_pass(&s, MS(121), MS(140), MM, WORK, true);
	stream_task(&s, MS(30000), THIRD, THIRD, MM + 0x5000, "fourth");
	hcw_chain_update(s.chain);
	e = &hcw_chain_model(s.chain)->episodes[0];
	assert_int_equal(e->end, 0);
	check_sum(e, MS(30000));
	stream_restore(&s, MS(60100), SERVER, MM);
	stream_end(&s, MS(60200));
	assert_int_equal(e->end, MS(60100));
	assert_int_equal(e->n_prolonged, 1);
	check_prolonger(&e->prolonged_by[0], SCANNER, HCW_CAUSE_NUMA_SCANNING, 1, 1, MS(20));
	assert_int_equal(e->started_ns, MS(60000) - MS(20));
	check_sum(e, MS(60100));
	stream_close(&s);
}

/* The queues run before the pass that made them is told: it has no time after that. */
static void test_restart_inside_pass(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	cast_scan(&s, 110, SCANNER, 1);
	cast_passes(&s, 0, 1);
	stream_restart(&s, MS(139), SERVER, MM);
	stream_pass(&s, MS(121), MS(140), MM, WORK, true);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->started_ns, MS(20));
	assert_int_equal(e->prolonged_by[0].ns, MS(19));
	check_sum(e, MS(139));
	stream_close(&s);
}

/* A thread's calls one after the other, whose answers are lost, take one place and not hundreds. */
static void test_lost_answers(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	unsigned int i;

	(void)state;
	cast_begin(&s);
	for (i = 0; i < 500; i++)
		stream_inval(&s, MS(103) + i, MS(103) + i, THIRD, MS(50) + i, 1);
	cast_passes(&s, 0, 3);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->dropped_charges, 0);
	assert_int_equal(m->episodes[0].n_prolonged, 1);
	check_prolonger(&m->episodes[0].prolonged_by[0], THIRD, HCW_CAUSE_MIGRATE_SYSCALL, 500, 1,
			MS(20));
	stream_close(&s);
}

static void overtaken_by(struct stream *s, unsigned int i, __u64 attempt)
{
	unsigned int at = 102 + 10 * i;

	stream_inval(s, MS(at + 3), MS(at + 4), MOVER, attempt, 1);
	stream_pass(s, MS(at), MS(at + 8), MM, WORK, false);
}

/* Two calls of one thread: when the second one's name comes, most of its passes are settled. */
static void test_named_after_settling(void **state)
{
	struct hcw_move_pages first = stream_moved(AROUND, POOL, 1);
	struct hcw_move_pages second = stream_moved(MS(112), POOL, 50);
	const struct hcw_model *m;
	struct stream s;
	unsigned int i;

	(void)state;
	cast_begin(&s);
	overtaken_by(&s, 0, AROUND);
	stream_move(&s, MS(111), MOVER, &first);
	for (i = 1; i < 60; i++)
		overtaken_by(&s, i, MS(112));
	stream_move(&s, MS(712), MOVER, &second);
	for (; i < 120; i++)
		overtaken_by(&s, i, 0);
	stream_restart(&s, MS(1310), SERVER, MM);
	m = stream_end(&s, MS(1400));
	assert_int_equal(m->episodes[0].n_prolonged, 2);
	check_prolonger(&m->episodes[0].prolonged_by[0], MOVER, HCW_CAUSE_MOVE_PAGES, 60, 60,
			MS(600));
	check_prolonger(&m->episodes[0].prolonged_by[1], MOVER, HCW_CAUSE_OTHER_INVALIDATION, 60,
			60, MS(600));
	assert_int_equal(m->episodes[0].prolonged_rest, 0);
	stream_close(&s);
}

/* Of the ranges that were hit the last ones stay known. */
static void test_many_ranges(void **state)
{
	struct stop stop = {.trigger = BY_USERPTR};
	struct hit old = {.tid = THIRD, .count = 90}, fresh = {.tid = SCANNER, .count = 1};
	const struct hcw_model *m;
	struct stream s;
	unsigned int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_task(&s, 1000, SERVER, SERVER, MM, "server");
	for (i = 1; i <= 20; i++) {
		stop.start = MS(10 * i);
		stop.lo = POOL + i * POOL_BYTES;
		stop.hi = stop.lo + PAGE;
		stream_stop(&s, &stop);
		if (i < 20)
			stream_restart(&s, MS(10 * i + 5), SERVER, MM);
	}
	old.start = old.last = fresh.start = fresh.last = MS(205);
	old.lo = POOL + 4 * POOL_BYTES;
	fresh.lo = POOL + 5 * POOL_BYTES;
	old.hi = old.lo + PAGE;
	fresh.hi = fresh.lo + PAGE;
	stream_hit(&s, MS(205), &old);
	stream_hit(&s, MS(205), &fresh);
	stream_pass(&s, MS(202), MS(210), MM, WORK, false);
	stream_restart(&s, MS(220), SERVER, MM);
	m = stream_end(&s, MS(300));
	assert_int_equal(m->n_episodes, 20);
	assert_int_equal(m->episodes[19].n_prolonged, 1);
	assert_int_equal(m->episodes[19].prolonged_by[0].actor.tid, SCANNER);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starved),
		cmocka_unit_test(test_long_pass),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_busy_wait),
		cmocka_unit_test(test_reaches_into_pass),
		cmocka_unit_test(test_slow_restart),
		cmocka_unit_test(test_nested_outlasts),
		cmocka_unit_test(test_restart_inside_pass),
		cmocka_unit_test(test_lost_answers),
		cmocka_unit_test(test_named_after_settling),
		cmocka_unit_test(test_many_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
