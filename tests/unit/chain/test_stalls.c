/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterations: pairing, the running median, stalls. */
#include "trial.h"

static void mark(struct stream *s, enum hcw_record_type type, __u64 ts, __u32 tid, __u64 id)
{
	struct hcw_iter it = {.id = id, .tgid = SERVER};

	stream_put(s, type, ts, tid, &it, sizeof(it));
}

static size_t stalls_after(unsigned int warm, __u64 each, __u64 last)
{
	const struct hcw_model *m;
	struct stream s;
	size_t n;

	stream_open(&s, ALL_SOURCES);
	stream_warm_up(&s, MS(100000), SERVER, warm, each);
	stream_iteration(&s, MS(100000), MS(100000) + last, SERVER);
	m = stream_end(&s, MS(300000));
	assert_int_equal(m->victims[0].iterations, warm + 1);
	n = m->n_stalls;
	stream_close(&s);
	return n;
}

static void test_what_is_a_stall(void **state)
{
	(void)state;
	/* a median means nothing before 8 iterations */
	assert_int_equal(stalls_after(7, MS(1), MS(1000)), 0);
	assert_int_equal(stalls_after(8, MS(1), MS(1000)), 1);
	/* three times the median, within the histogram's precision */
	assert_int_equal(stalls_after(8, MS(10), MS(28)), 0);
	assert_int_equal(stalls_after(8, MS(10), MS(32)), 1);
	/* and 1 ms over it */
	assert_int_equal(stalls_after(8, 10000, 900000), 0);
	assert_int_equal(stalls_after(8, 10000, 1100000), 1);
}

static void test_stall_is_told_whole(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_warm_up(&s, MS(100), SERVER, 20, MS(1));
	stream_iteration(&s, MS(100), MS(164), SERVER);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_stalls, 1);
	assert_int_equal(m->stalls[0].start, MS(100));
	assert_int_equal(m->stalls[0].end, MS(164));
	assert_int_equal(m->stalls[0].victim, SERVER);
	assert_int_equal(m->stalls[0].episode, -1);
	assert_in_range(m->stalls[0].median, MS(1) - MS(1) / 16, MS(1) + MS(1) / 16);
	assert_int_equal(m->victims[0].iteration_max, MS(64));
	assert_int_equal(m->victims[0].iteration_ns, MS(84));
	assert_in_range(hcw_chain_percentile(s.chain, SERVER, 50), MS(1) - MS(1) / 16,
			MS(1) + MS(1) / 16);
	assert_in_range(hcw_chain_percentile(s.chain, SERVER, 100), MS(60), MS(68));
	assert_int_equal(hcw_chain_percentile(s.chain, SERVER + 1, 50), 0);
	stream_close(&s);
}

/* An episode is tied to the iterations of its own victim that overlap it, stalled or not. */
static void test_overlap(void **state)
{
	struct stop stop = {.start = MS(110), .trigger = BY_USERPTR};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_warm_up(&s, MS(100), SERVER, 20, MS(1));
	stream_warm_up(&s, MS(100), 300, 20, MS(1));
	stream_iteration(&s, MS(100), MS(109), SERVER);
	stream_stop(&s, &stop);
	stream_restart(&s, MS(112), SERVER, MM);
	stream_iteration(&s, MS(110), MS(112), SERVER);
	stream_iteration(&s, MS(110), MS(140), 300);
	stream_iteration(&s, MS(113), MS(125), SERVER);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].stalls, 0);
	assert_int_equal(m->episodes[0].worst_stall, MS(2));
	assert_int_equal(m->n_stalls, 3);
	assert_int_equal(m->stalls[0].episode, -1);
	assert_int_equal(m->stalls[1].victim, 300);
	assert_int_equal(m->stalls[1].episode, -1);
	assert_int_equal(m->stalls[2].episode, -1);
	stream_close(&s);
}

/* The iteration comes back before the restore is told; the next one starts inside, too. */
static void test_still_open(void **state)
{
	struct stop stop = {.start = MS(110), .trigger = BY_USERPTR};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_warm_up(&s, MS(100), SERVER, 20, MS(1));
	stream_stop(&s, &stop);
	stream_iteration(&s, MS(105), MS(150), SERVER);
	stream_iteration(&s, MS(150), MS(180), SERVER);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_stalls, 2);
	assert_int_equal(m->stalls[0].episode, 0);
	assert_int_equal(m->stalls[1].episode, 0);
	assert_int_equal(m->episodes[0].stalls, 2);
	assert_int_equal(m->episodes[0].worst_stall, MS(45));
	stream_close(&s);
}

static void test_unpaired(void **state)
{
	const struct hcw_victim *v;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	mark(&s, HCW_R_ITER_END, MS(1), SERVER, 7);
	mark(&s, HCW_R_ITER_BEGIN, MS(2), SERVER, 7);
	mark(&s, HCW_R_ITER_BEGIN, MS(10), SERVER, 7);
	mark(&s, HCW_R_ITER_END, MS(12), SERVER, 8);
	mark(&s, HCW_R_ITER_END, MS(12), MOVER, 7);
	mark(&s, HCW_R_ITER_END, MS(13), SERVER, 7);
	mark(&s, HCW_R_ITER_END, MS(14), SERVER, 7);
	v = stream_end(&s, MS(200))->victims;
	assert_int_equal(v->iterations, 1);
	assert_int_equal(v->iteration_ns, MS(3));
	assert_int_equal(v->iterations_unpaired, 5);
	stream_close(&s);
}

/* Threads and ids are told apart, as far as there is room. */
static void test_many_at_once(void **state)
{
	const struct hcw_victim *v;
	struct stream s;
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 0; i < 70; i++)
		mark(&s, HCW_R_ITER_BEGIN, MS(10) + i, SERVER + i / 10, i % 10);
	for (i = 70; i-- > 0;)
		mark(&s, HCW_R_ITER_END, MS(20) + i, SERVER + i / 10, i % 10);
	v = stream_end(&s, MS(200))->victims;
	assert_int_equal(v->iterations, 64);
	assert_int_equal(v->iteration_ns, 64 * MS(10));
	/* six begins without room, and their six ends */
	assert_int_equal(v->iterations_unpaired, 12);
	stream_close(&s);
}

/* Without room the oldest goes: its end is the least likely to come. */
static void test_oldest_goes(void **state)
{
	const struct hcw_victim *v;
	struct stream s;
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 0; i < 67; i++)
		mark(&s, HCW_R_ITER_BEGIN, MS(10) + i, 1000 + i, 1);
	v = hcw_chain_model(s.chain)->victims;
	assert_int_equal(v->iterations_unpaired, 3);
	for (i = 3; i < 67; i++)
		mark(&s, HCW_R_ITER_END, MS(20) + i, 1000 + i, 1);
	assert_int_equal(v->iterations, 64);
	assert_int_equal(v->iterations_unpaired, 3);
	stream_close(&s);
}

/* A bucket's middle may lie above all that is in it; a percentile never lies above the maximum. */
static void test_percentiles_below_max(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u64 max;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_warm_up(&s, MS(100), SERVER, 16, 699000);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->victims[0].iteration_max, 699000);
	assert_int_equal(hcw_chain_percentile(s.chain, SERVER, 50), 699000);
	assert_int_equal(hcw_chain_percentile(s.chain, SERVER, 99.9), 699000);
	assert_int_equal(hcw_chain_percentile_calm(s.chain, SERVER, 99, &max), 699000);
	assert_int_equal(max, 699000);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_a_stall),
		cmocka_unit_test(test_stall_is_told_whole),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_still_open),
		cmocka_unit_test(test_unpaired),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_oldest_goes),
		cmocka_unit_test(test_percentiles_below_max),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
