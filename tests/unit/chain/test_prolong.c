/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an episode lasted because of whom: the rules, in both orders of arrival. */
#include <stdlib.h>
#include <string.h>
#include "episode.h"

#define ELSEWHERE (POOL - (1ull << 30))

static void hit_elsewhere(struct stream *s, unsigned int ms, __u32 tid, __u32 count)
{
	struct hit h = {
		.start = MS(ms),
		.last = MS(ms),
		.tid = tid,
		.count = count,
		.lo = ELSEWHERE,
		.hi = ELSEWHERE + PAGE,
	};

	stream_hit(s, MS(ms), &h);
}

/* The first pass is overtaken by the scanner (3) and the mover (1), the second by the mover. */
static void overtake(struct stream *s)
{
	cast_scan(s, 110, SCANNER, 3);
	stream_inval(s, MS(115), MS(116), MOVER, AROUND, 1);
	stream_inval(s, MS(130), MS(131), MOVER, AROUND, 2);
}

static void check_overtaken(const struct hcw_episode *e, enum hcw_cause mover)
{
	assert_int_equal(e->passes, 3);
	assert_int_equal(e->passes_thrown, 2);
	assert_int_equal(e->started_ns, MS(20));
	assert_int_equal(e->n_prolonged, 2);
	check_prolonger(&e->prolonged_by[0], MOVER, mover, 3, 1.25, MS(25));
	check_prolonger(&e->prolonged_by[1], SCANNER, HCW_CAUSE_NUMA_SCANNING, 3, 0.75, MS(15));
	assert_string_equal(e->prolonged_by[0].actor.comm, "mover");
	assert_string_equal(e->prolonged_by[1].actor.comm, "scanned");
	assert_int_equal(e->prolonged_by[1].actor.tgid, SERVER);
	assert_int_equal(e->prolonged_rest, 0);
	check_sum(e, e->end);
}

/* `late`: how many of the passes are told before the invalidations that overtook them. */
static void check_order(int late)
{
	struct hcw_move_pages mp = stream_moved(AROUND, POOL, 512);
	const struct hcw_model *m;
	struct stream s;

	cast_begin(&s);
	cast_passes(&s, 0, late);
	overtake(&s);
	cast_passes(&s, late, 3);
	m = hcw_chain_model(s.chain);
	check_overtaken(&m->episodes[0], HCW_CAUSE_MIGRATE_SYSCALL);
	assert_int_equal(m->episodes[0].prolonged_by[0].attempt, AROUND);
	stream_move(&s, MS(165), MOVER, &mp);
	check_overtaken(&m->episodes[0], HCW_CAUSE_MOVE_PAGES);
	assert_int_equal(m->episodes[0].prolonged_by[0].attempt, 0);
	stream_end(&s, MS(200));
	check_overtaken(&m->episodes[0], HCW_CAUSE_MOVE_PAGES);
	assert_int_equal(m->dropped_charges, 0);
	stream_close(&s);
}

static void test_both_orders(void **state)
{
	int late;

	(void)state;
	for (late = 0; late <= 3; late++)
		check_order(late);
}

/* Late records of an episode whose successor is open already. */
static void test_next_episode_is_open(void **state)
{
	struct hcw_move_pages mp = stream_moved(AROUND, POOL, 512);
	struct stop next = cast_start;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	cast_begin(&s);
	cast_passes(&s, 0, 3);
	next.start = MS(170);
	stream_stop(&s, &next);
	overtake(&s);
	stream_move(&s, MS(175), MOVER, &mp);
	m = stream_end(&s, MS(200));
	check_overtaken(&m->episodes[0], HCW_CAUSE_MOVE_PAGES);
	assert_int_equal(m->episodes[1].n_prolonged, 0);
	assert_int_equal(m->episodes[1].started_ns, MS(30));
	stream_close(&s);
}

/* One call stops the queues many times and prolongs each stop; its own record comes last of all. */
static void test_one_call_many_episodes(void **state)
{
	struct hcw_move_pages mp = stream_moved(AROUND, POOL, 512);
	const struct hcw_model *m;
	struct stop stop = cast_start;
	struct stream s;
	unsigned int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	for (i = 0; i < 6; i++) {
		unsigned int at = 100 + 20 * i;

		stop.start = MS(at);
		stream_stop(&s, &stop);
		stream_inval(&s, MS(at + 4), MS(at + 5), MOVER, AROUND, 8);
		stream_pass(&s, MS(at + 2), MS(at + 8), MM, WORK, false);
		stream_restart(&s, MS(at + 15), SERVER, MM);
		stream_pass(&s, MS(at + 9), MS(at + 15), MM, WORK, true);
	}
	stream_move(&s, MS(300), MOVER, &mp);
	m = stream_end(&s, MS(400));
	assert_int_equal(m->n_episodes, 6);
	for (i = 0; i < 6; i++) {
		assert_int_equal(m->episodes[i].cause, HCW_CAUSE_MOVE_PAGES);
		assert_int_equal(m->episodes[i].n_prolonged, 1);
		check_prolonger(&m->episodes[i].prolonged_by[0], MOVER, HCW_CAUSE_MOVE_PAGES, 8, 1,
				MS(7));
		assert_int_equal(m->episodes[i].prolonged_by[0].attempt, 0);
		assert_int_equal(m->episodes[i].prolonged_ns[HCW_CAUSE_MOVE_PAGES], MS(7));
		check_sum(&m->episodes[i], m->episodes[i].end);
	}
	stream_close(&s);
}

/* Calls one after the other are one actor of one cause; a lost answer leaves the weaker word. */
static void test_many_calls(void **state)
{
	struct hcw_move_pages mp;
	const struct hcw_model *m;
	struct stream s;
	unsigned int i;

	(void)state;
	cast_begin(&s);
	for (i = 0; i < 9; i++) {
		stream_inval(&s, MS(104 + i), MS(104 + i), THIRD, MS(103 + i), 2);
		mp = stream_moved(MS(103 + i), POOL, 2);
		if (i < 6)
			stream_move(&s, MS(104 + i) + 500, THIRD, &mp);
	}
	cast_passes(&s, 0, 3);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->episodes[0].n_prolonged, 2);
	check_prolonger(&m->episodes[0].prolonged_by[0], THIRD, HCW_CAUSE_MOVE_PAGES, 12, 12.0 / 18,
			MS(20) * 12 / 18);
	assert_int_equal(m->episodes[0].prolonged_by[1].cause, HCW_CAUSE_MIGRATE_SYSCALL);
	assert_int_equal(m->episodes[0].prolonged_by[1].invalidations, 6);
	/* nobody was seen in the second pass */
	assert_int_equal(m->episodes[0].prolonged_rest, MS(20));
	check_sum(&m->episodes[0], MS(160));
	stream_close(&s);
}

/* A migration outside move_pages is named by the kernel's own reason. */
static void test_reasons(void **state)
{
	struct hit compaction = {
		.start = MS(105),
		.last = MS(105),
		.tid = THIRD,
		.count = 1,
		.attempt = MS(104),
		.reason = 0,
	};
	struct hit unnamed = compaction;
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	stream_hit(&s, MS(105), &compaction);
	unnamed.tid = SCANNER;
	unnamed.reason = HCW_REASON_NONE;
	stream_hit(&s, MS(105), &unnamed);
	stream_inval(&s, MS(106), MS(106), MOVER, 0, 2);
	stream_migrate(&s, MS(104), MS(108), SCANNER, MS(104), 1);
	cast_passes(&s, 0, 3);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->n_prolonged, 3);
	check_prolonger(&e->prolonged_by[0], MOVER, HCW_CAUSE_OTHER_INVALIDATION, 2, .5, MS(10));
	check_prolonger(&e->prolonged_by[1], SCANNER, HCW_CAUSE_MIGRATE_SYSCALL, 1, .25, MS(5));
	check_prolonger(&e->prolonged_by[2], THIRD, HCW_CAUSE_COMPACTION, 1, .25, MS(5));
	stream_close(&s);
}

/* What does not meet a registered range overtakes no pass, unless nothing else was seen to. */
static void test_registered_ranges(void **state)
{
	struct stop other = {.trigger = BY_USERPTR, .lo = ELSEWHERE, .hi = ELSEWHERE + PAGE};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &cast_start);
	hit_elsewhere(&s, 110, THIRD, 900);
	cast_scan(&s, 111, SCANNER, 1);
	hit_elsewhere(&s, 130, THIRD, 900);
	cast_passes(&s, 0, 3);
	m = hcw_chain_model(s.chain);
	check_prolonger(&m->episodes[0].prolonged_by[0], SCANNER, HCW_CAUSE_NUMA_SCANNING, 1, 1,
			MS(20));
	check_prolonger(&m->episodes[0].prolonged_by[1], THIRD, HCW_CAUSE_OTHER_INVALIDATION, 1800,
			1, MS(20));
	/* once a stop showed that the range is registered, its hits count like the pool's */
	other.start = MS(170);
	stream_stop(&s, &other);
	hit_elsewhere(&s, 175, THIRD, 3);
	cast_scan(&s, 176, SCANNER, 1);
	stream_pass(&s, MS(172), MS(180), MM, WORK, false);
	stream_restart(&s, MS(188), SERVER, MM);
	stream_pass(&s, MS(181), MS(188), MM, WORK, true);
	m = stream_end(&s, MS(200));
	check_prolonger(&m->episodes[1].prolonged_by[0], THIRD, HCW_CAUSE_OTHER_INVALIDATION, 3,
			.75, MS(6));
	stream_close(&s);
}

/* Pages of a pool in GTT are nobody's registered range. */
static void test_gtt_is_no_range(void **state)
{
	struct stop stop = {.start = STOPPED, .trigger = BY_USERPTR};
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	stream_pool(&s, 5000, SERVER, ELSEWHERE, HCW_BACKING_REGISTERED);
	stream_stop(&s, &stop);
	cast_scan(&s, 110, SCANNER, 5);
	hit_elsewhere(&s, 110, THIRD, 1);
	cast_passes(&s, 0, 3);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->n_prolonged, 1);
	assert_int_equal(e->prolonged_by[0].actor.tid, THIRD);
	stream_close(&s);
}

/* Before, between, after the passes, and in one that was not thrown away: nobody's work is lost. */
static void test_outside_any_pass(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	cast_scan(&s, 101, SCANNER, 1);
	stream_inval(&s, MS(120) + 10, MS(120) + 20, THIRD, 0, 1);
	cast_passes(&s, 0, 1);
	cast_scan(&s, 101, SCANNER, 1);
	cast_scan(&s, 150, SCANNER, 1);
	cast_passes(&s, 1, 3);
	cast_scan(&s, 150, SCANNER, 1);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->invalidations, 5);
	assert_int_equal(e->n_prolonged, 0);
	assert_int_equal(e->started_ns, MS(20));
	assert_int_equal(e->prolonged_rest, MS(40));
	stream_close(&s);
}

/* The hit that stops the queues prolongs nothing; those behind it in its record do. */
static void test_starter(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	stream_inval(&s, STOPPED - 50, STOPPED - 50, MOVER, AROUND, 1);
	stream_inval(&s, MS(103), MS(104), MOVER, AROUND, 4);
	cast_passes(&s, 0, 3);
	e = &hcw_chain_model(s.chain)->episodes[0];
	assert_int_equal(e->invalidations, 5);
	assert_int_equal(e->prolonged_by[0].invalidations, 4);
	stream_close(&s);

	cast_begin(&s);
	stream_inval(&s, STOPPED - 50, MS(101), MOVER, AROUND, 3);
	stream_inval(&s, MS(103), MS(104), MOVER, AROUND, 4);
	cast_passes(&s, 0, 3);
	e = &hcw_chain_model(s.chain)->episodes[0];
	assert_int_equal(e->invalidations, 7);
	assert_int_equal(e->prolonged_by[0].invalidations, 6);
	stream_close(&s);
}

/* While it is open the pass under way counts; a victim that dies takes it along. */
static void test_open_and_killed(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	cast_begin(&s);
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->episodes[0].started_ns, 1000);
	cast_scan(&s, 110, SCANNER, 1);
	assert_int_equal(m->episodes[0].started_ns, MS(10));
	assert_int_equal(m->episodes[0].n_prolonged, 0);
	cast_passes(&s, 0, 1);
	check_prolonger(&m->episodes[0].prolonged_by[0], SCANNER, HCW_CAUSE_NUMA_SCANNING, 1, 1, 0);
	stream_task(&s, MS(150), THIRD, THIRD, MM + 0x5000, "third");
	hcw_chain_finish(s.chain);
	check_prolonger(&m->episodes[0].prolonged_by[0], SCANNER, HCW_CAUSE_NUMA_SCANNING, 1, 1,
			MS(30));
	check_sum(&m->episodes[0], MS(150));
	stream_exit(&s, MS(170), SERVER, SERVER);
	stream_end(&s, MS(200));
	assert_true(m->episodes[0].killed);
	assert_int_equal(m->episodes[0].started_ns, MS(20));
	assert_int_equal(m->episodes[0].prolonged_by[0].ns, MS(50));
	check_sum(&m->episodes[0], MS(170));
	stream_close(&s);
}

/* Where no pass is seen, nobody can be shown to have prolonged anything. */
static void test_no_passes(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	stream_open(&s, WITHOUT(HCW_R_PASS));
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &cast_start);
	overtake(&s);
	cast_passes(&s, 0, 3);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->passes, 0);
	assert_int_equal(e->started_ns, MS(60));
	assert_int_equal(e->n_prolonged, 0);
	assert_int_equal(e->prolonged_rest, 0);
	stream_close(&s);
}

/* A trace from before the record told its span, reason and way. */
static void test_old_record(void **state)
{
	struct hcw_inval in = {
		.start = MS(110),
		.mm = MM,
		.lo = POOL,
		.hi = POOL + PAGE,
		.count = 1,
		.victim = SERVER,
	};
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	cast_begin(&s);
	stream_put(&s, HCW_R_INVAL, MS(110), THIRD, &in, offsetof(struct hcw_inval, reason));
	cast_passes(&s, 0, 3);
	e = &stream_end(&s, MS(200))->episodes[0];
	assert_int_equal(e->prolonged_by[0].cause, HCW_CAUSE_OTHER_INVALIDATION);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_orders),
		cmocka_unit_test(test_next_episode_is_open),
		cmocka_unit_test(test_one_call_many_episodes),
		cmocka_unit_test(test_many_calls),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_registered_ranges),
		cmocka_unit_test(test_gtt_is_no_range),
		cmocka_unit_test(test_outside_any_pass),
		cmocka_unit_test(test_starter),
		cmocka_unit_test(test_open_and_killed),
		cmocka_unit_test(test_no_passes),
		cmocka_unit_test(test_old_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
