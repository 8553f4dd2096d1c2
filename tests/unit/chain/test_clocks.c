/* SPDX-License-Identifier: BSD-2-Clause */
/* Three clocks, their steps and the machine's sleep. */
#include "stream.h"

#define SEC(x) MS((x)*1000ull)
#define HOUR   3600ull
#define WALL   1790000000ull

/* A pair of clocks at `boot`; the differences to it in ns. */
static void pair(struct stream *s, __u64 boot, __s64 monotonic, __s64 realtime)
{
	struct hcw_clock c = {
		.monotonic = boot + (__u64)monotonic,
		.realtime = boot + (__u64)realtime,
	};

	stream_put(s, HCW_R_CLOCK, boot, 0, &c, sizeof(c));
}

static __u64 only(const struct hcw_model *m, enum hcw_clock_id id, __u64 t)
{
	__u64 boot = 0;

	assert_int_equal(hcw_clock_to_boot(m, id, t, &boot), 1);
	return boot;
}

/* mono = 1000 s, boot = 4600 s, real = 1790000000 s; then the wall clock is stepped by -30 s */
static void test_three_clocks(void **state)
{
	const __s64 mono = -(__s64)SEC(HOUR), real = (__s64)(SEC(WALL) - SEC(4600));
	const struct hcw_model *m;
	struct stream s;
	__u64 boot;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	pair(&s, SEC(4600), mono, real);
	m = hcw_chain_model(s.chain);
	/* an event at mono 1005, one at boot 4605, an iteration stamped 1790000005: one moment */
	assert_int_equal(only(m, HCW_CLOCK_MONOTONIC, SEC(1005)), SEC(4605));
	assert_int_equal(only(m, HCW_CLOCK_REALTIME, SEC(WALL + 5)), SEC(4605));
	pair(&s, SEC(4606), mono, real);
	pair(&s, SEC(4607), mono, real - (__s64)SEC(30));
	pair(&s, SEC(4700), mono, real - (__s64)SEC(30));
	assert_int_equal(m->n_clocks, 2);
	assert_int_equal(m->clocks[0].to, SEC(4606));
	assert_int_equal(m->clocks[1].from, SEC(4607));
	assert_true(hcw_clock_stepped(m, 1) == -(__s64)SEC(30));
	assert_int_equal(hcw_clock_suspended(m, 1), 0);
	/* before the step: still where they were */
	assert_int_equal(only(m, HCW_CLOCK_MONOTONIC, SEC(1005)), SEC(4605));
	/* the wall clock shows this time twice, and the first of them is told */
	assert_int_equal(hcw_clock_to_boot(m, HCW_CLOCK_REALTIME, SEC(WALL + 5), &boot), 2);
	assert_int_equal(boot, SEC(4605));
	/* and after: not smeared over the time between */
	assert_int_equal(only(m, HCW_CLOCK_REALTIME, SEC(WALL + 60)), SEC(4690));
	assert_int_equal(only(m, HCW_CLOCK_MONOTONIC, SEC(1090)), SEC(4690));
	stream_close(&s);
}

/* Set forward: times the wall clock never showed are none of the trace's. */
static void test_forward(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u64 boot;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	pair(&s, SEC(100), 0, (__s64)SEC(WALL));
	pair(&s, SEC(101), 0, (__s64)SEC(WALL));
	pair(&s, SEC(102), 0, (__s64)SEC(WALL + HOUR));
	m = hcw_chain_model(s.chain);
	assert_true(hcw_clock_stepped(m, 1) == (__s64)SEC(HOUR));
	assert_int_equal(hcw_clock_to_boot(m, HCW_CLOCK_REALTIME, SEC(WALL + 1000), &boot), 0);
	assert_int_equal(only(m, HCW_CLOCK_REALTIME, SEC(WALL + HOUR + 200)), SEC(200));
	stream_close(&s);
}

/* The wall clock and boottime go on while the machine sleeps, monotonic does not. */
static void test_suspend(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	pair(&s, SEC(100), 0, (__s64)SEC(WALL));
	pair(&s, SEC(101), 0, (__s64)SEC(WALL));
	pair(&s, SEC(901), -(__s64)SEC(799), (__s64)SEC(WALL));
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->n_clocks, 2);
	assert_int_equal(hcw_clock_stepped(m, 1), 0);
	assert_int_equal(hcw_clock_suspended(m, 1), SEC(799));
	assert_int_equal(only(m, HCW_CLOCK_MONOTONIC, SEC(110)), SEC(909));
	assert_int_equal(only(m, HCW_CLOCK_REALTIME, SEC(WALL + 905)), SEC(905));
	stream_close(&s);
}

/* Clocks are read one after the other; that is no step, and does not add up to one. */
static void test_jitter(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u64 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 0; i < 10007; i++)
		pair(&s, SEC(100 + i), -(__s64)(i * 7919 % MS(9)), (__s64)(i * 104729 % MS(9)));
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->n_clocks, 1);
	assert_int_equal(m->clocks[0].to, SEC(100 + i - 1));
	/* many small steps in one direction do */
	for (i = 0; i < 10; i++)
		pair(&s, SEC(20000 + i), 0, (__s64)MS(i * 5));
	assert_int_equal(m->n_clocks, 2);
	stream_close(&s);
}

/* More changes than are kept are counted, and the newest is right. */
static void test_many_changes(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u64 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 0; i < HCW_MAX_CLOCKS + 3; i++)
		pair(&s, SEC(100 + i), 0, (__s64)SEC(i));
	pair(&s, SEC(50), 0, 0); /* out of order: nothing is concluded */
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->n_clocks, HCW_MAX_CLOCKS);
	assert_int_equal(m->clock_changes_more, 3);
	assert_int_equal(m->clocks[HCW_MAX_CLOCKS - 1].realtime, SEC(i - 1));
	stream_close(&s);
}

static void test_no_pairs(void **state)
{
	struct stream s;
	__u64 boot;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_put(&s, HCW_R_CLOCK, SEC(1), 0, &boot, 8); /* half of one */
	assert_int_equal(hcw_clock_to_boot(hcw_chain_model(s.chain), HCW_CLOCK_REALTIME, 1, &boot),
			 0);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_clocks), cmocka_unit_test(test_forward),
		cmocka_unit_test(test_suspend),	     cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_many_changes), cmocka_unit_test(test_no_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
