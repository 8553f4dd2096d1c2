/* SPDX-License-Identifier: BSD-2-Clause */
/* Episodes that were open when the recording started, and what must not be taken for one. */
#include <string.h>
#include "stream.h"

#define OTHER	 300u
#define OTHER_MM (MM + 0x9000)
#define ENDED	 MS(13900)

static const struct stop pool_hit = {
	.start = MS(14000),
	.attempt = MS(14000) - 500,
	.reason = MR_SYSCALL,
	.trigger = BY_USERPTR,
	.lo = POOL,
	.hi = POOL + POOL_BYTES,
};

static void resume(struct stream *s, __u64 ts, __u64 mm)
{
	struct hcw_resume r = {.start = ts - 200, .mm = mm};

	stream_put(s, HCW_R_RESUME, ts, KWORKER, &r, sizeof(r));
}

static void check_before(const struct hcw_model *m, __u64 end)
{
	const struct hcw_episode *e = &m->episodes[0];

	assert_int_equal(m->n_episodes, 1);
	assert_true(e->before);
	assert_int_equal(e->start, FIRST);
	assert_int_equal(e->end, end);
	assert_int_equal(e->victim, SERVER);
	assert_int_equal(e->mm, MM);
	assert_int_equal(e->cause, HCW_CAUSE_UNKNOWN);
	assert_int_equal(e->started_by.tid, 0);
	assert_int_equal(e->attempt, -1);
	assert_int_equal(e->pool, -1);
	assert_int_equal(m->causes[HCW_CAUSE_UNKNOWN].started, 1);
	assert_int_equal(m->n_victims, 1);
	assert_string_equal(m->victims[0].comm, "server");
	assert_int_equal(m->victims[0].episodes, 1);
	assert_int_equal(m->victims[0].episode_ns, end ? end - FIRST : 0);
	assert_int_equal(m->unpaired_restores, 0);
}

/* The first sign is a thrown-away pass; scanning prolongs it, a restore ends it. */
static void test_passes_first(void **state)
{
	struct hit hit = {
		.start = MS(5000),
		.last = MS(5000),
		.tid = MOVER,
		.count = 1,
		.via = HCW_VIA_NUMA_SCAN,
	};
	const struct hcw_episode *e;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_old_server(&s);
	stream_pass(&s, MS(1000), MS(4000), MM, WORK, false);
	stream_hit(&s, MS(5000), &hit);
	stream_pass(&s, MS(4001), MS(9000), 0, WORK, false);
	stream_restart(&s, ENDED, SERVER, MM);
	stream_pass(&s, MS(9001), ENDED + 50, MM, WORK, true);
	m = stream_end(&s, MS(15000));
	check_before(m, ENDED);
	e = &m->episodes[0];
	assert_int_equal(e->passes, 3);
	assert_int_equal(e->passes_thrown, 2);
	assert_int_equal(e->invalidations, 1);
	assert_int_equal(e->n_prolonged, 1);
	assert_int_equal(e->prolonged_by[0].actor.tid, MOVER);
	assert_int_equal(e->started_ns, MS(4000) - FIRST);
	assert_int_equal(m->unattributed_passes, 0);
	stream_close(&s);
}

static void check_restart(unsigned int sources, __u64 end)
{
	const struct hcw_model *m;
	struct stream s;

	stream_open(&s, sources);
	stream_old_server(&s);
	stream_restart(&s, ENDED, SERVER, MM);
	m = stream_end(&s, MS(15000));
	check_before(m, end);
	stream_close(&s);
}

/* The first sign is its end, told by any of the functions. */
static void test_end_first(void **state)
{
	(void)state;
	check_restart(ALL_SOURCES, ENDED);
	check_restart(WITHOUT(HCW_R_RESUME), ENDED - 100);
	check_restart(WITHOUT(HCW_R_RESTORE), ENDED);
	check_restart(WITHOUT(HCW_R_EVICT) & WITHOUT(HCW_R_RESTORE), ENDED);
	check_restart(WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_RESUME), ENDED - 100);
	/* a restore alone may end an eviction of the driver's, which nobody watched */
	check_restart(WITHOUT(HCW_R_EVICT), ENDED);
}

static void test_still_open(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_old_server(&s);
	stream_pass(&s, MS(1000), MS(4000), MM, WORK, false);
	m = stream_end(&s, MS(15000));
	check_before(m, 0);
	assert_int_equal(m->episodes[0].started_ns + m->episodes[0].prolonged_rest,
			 MS(15000) - FIRST);
	stream_close(&s);
}

/* Only the first one can have begun before. */
static void test_only_the_first(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_old_server(&s);
	stream_restart(&s, ENDED, SERVER, MM);
	stream_stop(&s, &pool_hit);
	stream_restart(&s, MS(14100), SERVER, MM);
	stream_pass(&s, MS(14500), MS(14600), MM, WORK, false);
	stream_restart(&s, MS(14700), SERVER, MM);
	m = stream_end(&s, MS(15000));
	assert_int_equal(m->n_episodes, 2);
	assert_true(m->episodes[0].before);
	assert_false(m->episodes[1].before);
	assert_int_equal(m->episodes[1].start, pool_hit.start);
	assert_int_equal(m->unattributed_passes, 1);
	assert_int_equal(m->unpaired_restores, 1);
	stream_close(&s);
}

static void check_unpaired(unsigned int sources, void (*first)(struct stream *s), __u64 unpaired)
{
	const struct hcw_model *m;
	struct stream s;

	stream_open(&s, sources);
	first(&s);
	stream_pass(&s, MS(1000), MS(4000), MM, WORK, false);
	stream_restart(&s, ENDED, SERVER, MM);
	m = stream_end(&s, MS(15000));
	assert_int_equal(m->n_episodes, 0);
	assert_int_equal(m->unpaired_restores, unpaired);
	assert_int_equal(m->unattributed_passes, 1);
	stream_close(&s);
}

static void hole_first(struct stream *s)
{
	stream_old_server(s);
	stream_hole(s, MS(10), MS(20), 3, HCW_R_QUIESCE);
}

static void loss_first(struct stream *s)
{
	struct hcw_totals t = {.source = HCW_R_EVICT, .emitted = 9, .lost = 1};

	stream_old_server(s);
	stream_put(s, HCW_R_TOTALS, MS(900), 0, &t, sizeof(t));
}

static void young(struct stream *s)
{
	stream_server(s, HCW_BACKING_REGISTERED);
}

static void dead(struct stream *s)
{
	stream_old_server(s);
	/* a thread of it outlives its leader */
	stream_task(s, MS(1), MOVER, SERVER, MM, "mover");
	stream_iteration(s, MS(1), MS(2), SERVER);
	stream_exit(s, MS(900), SERVER, SERVER);
}

/* No stall is invented where the start may have been lost, or would have been seen. */
static void test_none_invented(void **state)
{
	(void)state;
	check_unpaired(ALL_SOURCES, hole_first, 1);
	check_unpaired(ALL_SOURCES, loss_first, 1);
	check_unpaired(ALL_SOURCES, young, 1);
	check_unpaired(ALL_SOURCES, dead, 0);
	check_unpaired(WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_EVICT), stream_old_server, 0);
}

static void test_mm_of_nobody(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, WITHOUT(HCW_R_RESTORE));
	stream_old_server(&s);
	stream_pass(&s, MS(1000), MS(4000), OTHER_MM, WORK, false);
	resume(&s, MS(5000), OTHER_MM);
	m = stream_end(&s, MS(15000));
	assert_int_equal(m->n_episodes, 0);
	assert_int_equal(m->unattributed_passes, 1);
	assert_int_equal(m->unpaired_restores, 1);
	stream_close(&s);
}

/* What was lost is told up to a tenth of a second late: the start may have been among it, and the
 * episode is as long as its signs show. */
static void test_hole_told_late(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_old_server(&s);
	stream_task(&s, MS(1), OTHER, OTHER, OTHER_MM, "other");
	stream_pass(&s, MS(1000), MS(1010), MM, WORK, false);
	stream_restart(&s, MS(1020), SERVER, MM);
	stream_hole(&s, MS(950), MS(1050), 3, HCW_R_QUIESCE);
	m = stream_end(&s, MS(15000));
	assert_int_equal(m->n_episodes, 1);
	assert_false(m->episodes[0].before);
	assert_int_equal(m->episodes[0].start, MS(1000));
	assert_int_equal(m->episodes[0].end, MS(1020));
	assert_int_equal(m->victims[0].episode_ns, MS(20));
	assert_int_equal(m->episodes[0].started_ns + m->episodes[0].prolonged_rest, MS(20));
	stream_close(&s);
	/* lost after its first sign: not the start */
	stream_open(&s, ALL_SOURCES);
	stream_old_server(&s);
	stream_restart(&s, MS(1020), SERVER, MM);
	stream_hole(&s, MS(1021), MS(1050), 3, HCW_R_QUIESCE);
	m = stream_end(&s, MS(15000));
	check_before(m, MS(1020));
	stream_close(&s);
}

/* Another CPU ended it before the thread that stopped the queues had told so. */
static void check_told_late(unsigned int sources)
{
	const struct hcw_model *m;
	struct stop late = pool_hit;
	struct stream s;

	late.end = late.start + MS(3);
	stream_open(&s, sources);
	stream_old_server(&s);
	stream_task(&s, MS(1), MOVER, SERVER, MM, "mover");
	stream_pool(&s, MS(2), SERVER, POOL, HCW_BACKING_REGISTERED);
	stream_restart(&s, late.start + MS(2), SERVER, MM);
	stream_stop(&s, &late);
	m = stream_end(&s, MS(15000));
	assert_int_equal(m->n_episodes, 1);
	assert_false(m->episodes[0].before);
	assert_int_equal(m->episodes[0].start, late.start);
	assert_int_equal(m->episodes[0].end, late.start + MS(2));
	assert_int_equal(m->episodes[0].started_by.tid, MOVER);
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_MIGRATE_SYSCALL);
	assert_int_equal(m->victims[0].episode_ns, MS(2));
	assert_int_equal(m->pools[0].episodes, 1);
	assert_int_equal(m->pools[0].episode_ns, MS(2));
	stream_close(&s);
}

static void test_stop_told_late(void **state)
{
	(void)state;
	check_told_late(ALL_SOURCES);
	check_told_late(WITHOUT(HCW_R_EVICT) & WITHOUT(HCW_R_RESTORE));
}

static void test_samples(void **state)
{
	struct hcw_sample sample = {.evicted_ms = 3, .pid = SERVER, .gpuid = 1};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_old_server(&s);
	stream_put(&s, HCW_R_SAMPLE, MS(1000), 0, &sample, sizeof(sample));
	stream_put(&s, HCW_R_SAMPLE, MS(2000), 0, &sample, sizeof(sample));
	m = stream_end(&s, MS(15000));
	assert_int_equal(m->kfd_samples, 2);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes_first),   cmocka_unit_test(test_end_first),
		cmocka_unit_test(test_still_open),     cmocka_unit_test(test_only_the_first),
		cmocka_unit_test(test_none_invented),  cmocka_unit_test(test_mm_of_nobody),
		cmocka_unit_test(test_hole_told_late), cmocka_unit_test(test_stop_told_late),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
