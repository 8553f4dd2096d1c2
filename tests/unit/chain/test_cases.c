/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases reported by others, with their numbers. */
#include <string.h>
#include "episode.h"
#include "order.h"

/* --- nested evictions: the counter of KFD runs once, from the first eviction to the last restore
 */

/* evict t=0, evict t=10, restore t=30 (count 2 -> 1), restore t=50; the first at 1000 here */
static void nested(struct stream *s, __u32 first, __u32 second)
{
	stream_server(s, HCW_BACKING_REGISTERED);
	stream_evict(s, MS(1000), MS(1000) + 10, SERVER, MM, first);
	stream_evict(s, MS(1010), MS(1010) + 10, SERVER, MM, second);
	stream_restore(s, MS(1030), SERVER, MM);
	assert_int_equal(hcw_chain_model(s->chain)->episodes[0].end, 0);
	stream_restore(s, MS(1050), SERVER, MM);
}

static void check_nested(__u32 first, enum hcw_cause cause, __u32 second, enum hcw_cause inner)
{
	unsigned int only_evict = WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_RESUME);
	const struct hcw_model *m;
	struct stream s;

	stream_open(&s, only_evict);
	nested(&s, first, second);
	m = stream_end(&s, MS(2000));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].end - m->episodes[0].start, MS(50));
	assert_int_equal(m->victims[0].episode_ns, MS(50));
	assert_int_equal(m->episodes[0].cause, cause);
	assert_int_equal(m->episodes[0].nested, 1);
	assert_int_equal(m->episodes[0].nested_causes, 1u << inner);
	check_sum(&m->episodes[0], MS(1050));
	stream_close(&s);
}

static void test_nested_evictions(void **state)
{
	(void)state;
	check_nested(BY_TTM, HCW_CAUSE_TTM, 3, HCW_CAUSE_SUSPEND);
	check_nested(BY_USERPTR, HCW_CAUSE_UNKNOWN, BY_TTM, HCW_CAUSE_TTM);
	check_nested(3, HCW_CAUSE_SUSPEND, BY_USERPTR, HCW_CAUSE_UNKNOWN);
}

/* The inner one is a notifier's: who and why is told by the quiesce, the call by its own record. */
static void test_nested_hit(void **state)
{
	struct hcw_move_pages mp = stream_moved(MS(1005), POOL, 512);
	struct stop inner = {
		.start = MS(1010),
		.attempt = MS(1005),
		.reason = MR_SYSCALL,
		.trigger = BY_USERPTR,
		.lo = POOL,
		.hi = POOL + POOL_BYTES,
	};
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_evict(&s, MS(1000), MS(1000) + 10, SERVER, MM, BY_TTM);
	stream_stop(&s, &inner);
	e = &hcw_chain_model(s.chain)->episodes[0];
	assert_int_equal(e->nested_causes, 1u << HCW_CAUSE_MIGRATE_SYSCALL);
	stream_move(&s, MS(1015), MOVER, &mp);
	assert_int_equal(e->nested_causes, 1u << HCW_CAUSE_MOVE_PAGES);
	inner.start = MS(1020);
	inner.attempt = 0;
	inner.via = HCW_VIA_NUMA_SCAN;
	stream_stop(&s, &inner);
	stream_restart(&s, MS(1030), SERVER, MM);
	stream_restart(&s, MS(1040), SERVER, MM);
	stream_restore(&s, MS(1050), SERVER, MM);
	stream_end(&s, MS(2000));
	assert_int_equal(e->cause, HCW_CAUSE_TTM);
	assert_int_equal(e->nested, 2);
	assert_int_equal(e->nested_causes,
			 1u << HCW_CAUSE_MOVE_PAGES | 1u << HCW_CAUSE_NUMA_SCANNING);
	assert_int_equal(e->end, MS(1050));
	stream_close(&s);
}

/* evict, R, R, restore: a rescheduled restore ends no stall */
static void test_restore_rescheduled(void **state)
{
	struct stop stop = {.start = MS(1000), .trigger = BY_USERPTR};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &stop);
	stream_pass(&s, MS(1002), MS(1015), MM, WORK, false);
	stream_pass(&s, MS(1016), MS(1030), MM, WORK, false);
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->episodes[0].end, 0);
	stream_restart(&s, MS(1050), SERVER, MM);
	stream_pass(&s, MS(1031), MS(1050), MM, WORK, true);
	stream_end(&s, MS(2000));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].end, MS(1050));
	assert_int_equal(m->episodes[0].passes, 3);
	assert_int_equal(m->episodes[0].passes_thrown, 2);
	assert_int_equal(m->episodes[0].started_ns, MS(15));
	assert_int_equal(m->episodes[0].prolonged_rest, MS(35));
	stream_close(&s);
}

/* --- starts that never end, ends that never started */

static void mark(struct stream *s, enum hcw_record_type type, __u64 ts, __u32 tid, __u64 id)
{
	struct hcw_iter it = {.id = id, .tgid = SERVER};

	stream_put(s, type, ts, tid, &it, sizeof(it));
}

/* Thread 7 begins at 1 s, its end is lost; it ends at 1001 s what began unseen. */
static const struct hcw_model *stale_start(struct stream *s, __u64 first, __u64 second, bool hole)
{
	unsigned int i;

	stream_open(s, ALL_SOURCES);
	stream_server(s, HCW_BACKING_REGISTERED);
	for (i = 0; i < 16; i++) {
		mark(s, HCW_R_ITER_BEGIN, MS(100 + i), 7, first - (first == second ? 0 : 16 - i));
		mark(s, HCW_R_ITER_END, MS(101 + i), 7, first - (first == second ? 0 : 16 - i));
	}
	mark(s, HCW_R_ITER_BEGIN, MS(1000), 7, first);
	if (hole) {
		stream_hole(s, MS(1000) + 1, MS(1002), 1, HCW_R_ITER_END);
		stream_hole(s, MS(1000900), MS(1000950), 1, HCW_R_ITER_BEGIN);
	}
	mark(s, HCW_R_ITER_END, MS(1001000), 7, second);
	return stream_end(s, MS(1002000));
}

static void test_stale_start(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	/* ids that name each iteration: the end has no begin, whether or not a hole is known */
	m = stale_start(&s, 100, 200, false);
	assert_int_equal(m->n_stalls, 0);
	assert_int_equal(m->victims[0].iteration_max, MS(1));
	assert_int_equal(m->victims[0].iterations_unpaired, 1);
	stream_close(&s);
	/* one id for all: the lost marks between the two make it a pair nobody can vouch for */
	m = stale_start(&s, 9, 9, true);
	assert_int_equal(m->n_stalls, 0);
	assert_int_equal(m->victims[0].iterations, 16);
	assert_int_equal(m->victims[0].iteration_max, MS(1));
	assert_int_equal(m->victims[0].iterations_unpaired, 2);
	stream_close(&s);
	/* nothing lost: it did take that long */
	m = stale_start(&s, 9, 9, false);
	assert_int_equal(m->n_stalls, 1);
	assert_int_equal(m->victims[0].iteration_max, MS(1000000));
	stream_close(&s);
}

static int to_chain(void *ctx, const struct hcw_rec *rec)
{
	return hcw_chain_add(ctx, rec);
}

/* A hole is known up to 100 ms after it began, when the marks around it have come already: put in
 * order, it stands before the end that it makes doubtful. */
static void test_hole_told_late(void **state)
{
	struct hcw_hole h = {.from = MS(150), .to = MS(250), .count = 2, .source = HCW_R_ITER_END};
	struct hcw_iter it = {.id = 9, .tgid = SERVER};
	struct hcw_rec rec = {.tid = 7, .len = sizeof(it)};
	struct hcw_order *order;
	struct stream s;
	unsigned int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	order = hcw_order_new(0, MS(200), to_chain, s.chain);
	assert_non_null(order);
	for (i = 0; i < 32; i++) {
		rec.type = i % 2 ? HCW_R_ITER_END : HCW_R_ITER_BEGIN;
		rec.ts = MS(100 + i);
		assert_int_equal(hcw_order_put(order, &rec, &it), 0);
	}
	rec.type = HCW_R_ITER_BEGIN;
	rec.ts = MS(140);
	assert_int_equal(hcw_order_put(order, &rec, &it), 0);
	rec.type = HCW_R_ITER_END; /* of another one: its begin, and the end before, are lost */
	rec.ts = MS(240);
	assert_int_equal(hcw_order_put(order, &rec, &it), 0);
	rec = (struct hcw_rec){.ts = h.to, .type = HCW_R_HOLE, .len = sizeof(h)};
	assert_int_equal(hcw_order_put(order, &rec, &h), 0);
	assert_int_equal(hcw_order_flush(order), 0);
	assert_int_equal(hcw_chain_model(s.chain)->n_stalls, 0);
	assert_int_equal(hcw_chain_model(s.chain)->victims[0].iterations, 16);
	assert_int_equal(hcw_chain_model(s.chain)->victims[0].iterations_unpaired, 2);
	hcw_order_free(order);
	stream_close(&s);
}

/* A hole says nothing against a pair whose id is used once. */
static void test_rising_ids_survive_a_hole(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	unsigned int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 1; i <= 16; i++) {
		mark(&s, HCW_R_ITER_BEGIN, MS(100 + i), 7, i);
		mark(&s, HCW_R_ITER_END, MS(101 + i), 7, i);
	}
	mark(&s, HCW_R_ITER_BEGIN, MS(200), 7, i);
	stream_hole(&s, MS(210), MS(220), 5, 0);
	mark(&s, HCW_R_ITER_END, MS(264), 7, i);
	m = stream_end(&s, MS(300));
	assert_int_equal(m->n_stalls, 1);
	assert_int_equal(m->victims[0].iterations_unpaired, 0);
	stream_close(&s);
}

/* 100000 threads begin and die: the next one is still paired, every lost one counted. */
static void check_dying_threads(bool seen)
{
	const struct hcw_model *m;
	struct stream s;
	__u32 i;

	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	for (i = 0; i < 100000; i++) {
		mark(&s, HCW_R_ITER_BEGIN, MS(1000) + i, 1000 + i, 1);
		if (seen)
			stream_exit(&s, MS(1000) + i, 1000 + i, SERVER);
	}
	mark(&s, HCW_R_ITER_BEGIN, MS(2000), MOVER, 1);
	mark(&s, HCW_R_ITER_END, MS(2003), MOVER, 1);
	m = stream_end(&s, MS(3000));
	assert_int_equal(m->victims[0].iterations, 1);
	assert_int_equal(m->victims[0].iteration_ns, MS(3));
	/* without their exits the last of them are still under way */
	assert_in_range(m->victims[0].iterations_unpaired, seen ? 100000 : 100000 - 64, 100000);
	assert_int_equal(m->n_stalls, 0);
	stream_close(&s);
}

static void test_dying_threads(void **state)
{
	(void)state;
	check_dying_threads(true);
	check_dying_threads(false);
}

/* An eviction whose restore never came, and restores without an eviction. */
static void test_unpaired_episodes(void **state)
{
	struct stop stop = {.start = MS(1000), .trigger = BY_USERPTR};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_restart(&s, MS(500), SERVER, MM);
	stream_stop(&s, &stop);
	m = stream_end(&s, MS(1001000));
	assert_int_equal(m->unpaired_restores, 1);
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].end, 0);
	assert_int_equal(m->episodes[0].started_ns, MS(1000000));
	assert_int_equal(m->causes[HCW_CAUSE_OTHER_INVALIDATION].worst_ns, MS(1000000));
	stream_close(&s);
}

/* --- the migration happens in another task */

#define KCOMPACTD 121u
#define PYTHON	  900u
#define VICTIM	  4242u

static void compact(struct stream *s, __u64 at, __u32 tid)
{
	struct stop stop = {
		.start = at,
		.tid = tid,
		.victim = VICTIM,
		.attempt = at - 500,
		.reason = 0, /* MR_COMPACTION */
		.trigger = BY_USERPTR,
		.lo = POOL,
		.hi = POOL + POOL_BYTES,
	};

	stream_stop(s, &stop);
	stream_restart(s, at + MS(40), VICTIM, MM);
}

static void check_compaction(const struct hcw_episode *e, __u32 tid, const char *comm)
{
	assert_int_equal(e->victim, VICTIM);
	assert_int_equal(e->cause, HCW_CAUSE_COMPACTION);
	assert_int_equal(e->started_by.tid, tid);
	assert_int_equal(e->started_by.tgid, tid);
	assert_string_equal(e->started_by.comm, comm);
	assert_int_equal(e->initiator.tid, 0);
	assert_false(e->initiator_unknown);
	assert_int_equal(e->pool, 0);
}

static void test_another_task(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_task(&s, 1000, VICTIM, VICTIM, MM, "sglang::schedul");
	stream_task(&s, 1000, KCOMPACTD, KCOMPACTD, 0, "kcompactd0");
	stream_task(&s, 1000, PYTHON, PYTHON, MM + 0x5000, "python");
	stream_pool(&s, 2000, VICTIM, POOL, HCW_BACKING_REGISTERED);
	compact(&s, MS(100), KCOMPACTD);
	compact(&s, MS(200), PYTHON);
	m = stream_end(&s, MS(300));
	assert_int_equal(m->n_episodes, 2);
	check_compaction(&m->episodes[0], KCOMPACTD, "kcompactd0");
	check_compaction(&m->episodes[1], PYTHON, "python");
	assert_false(m->episodes[0].direct_compaction);
	assert_true(m->episodes[1].direct_compaction);
	/* nobody but the owner of the memory was stopped */
	assert_int_equal(m->n_victims, 1);
	assert_int_equal(m->victims[0].tgid, VICTIM);
	assert_int_equal(m->victims[0].episodes, 2);
	stream_close(&s);
}

/* A writer of compact_memory is no allocation in need of it, and neither is one nobody told of. */
static void test_compaction_on_request(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_task(&s, 1000, VICTIM, VICTIM, MM, "sglang::schedul");
	stream_task(&s, 1000, PYTHON, PYTHON, MM + 0x5000, "sh");
	stream_pool(&s, 2000, VICTIM, POOL, HCW_BACKING_REGISTERED);
	stream_request(&s, MS(99), PYTHON, HCW_REQUEST_COMPACT, 0);
	compact(&s, MS(100), PYTHON);
	compact(&s, MS(20000), PYTHON);
	compact(&s, MS(20100), PYTHON + 1);
	m = stream_end(&s, MS(30000));
	assert_int_equal(m->n_episodes, 3);
	assert_false(m->episodes[0].direct_compaction);
	assert_true(m->episodes[1].direct_compaction);
	assert_false(m->episodes[2].direct_compaction);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_evictions),
		cmocka_unit_test(test_nested_hit),
		cmocka_unit_test(test_restore_rescheduled),
		cmocka_unit_test(test_stale_start),
		cmocka_unit_test(test_hole_told_late),
		cmocka_unit_test(test_rising_ids_survive_a_hole),
		cmocka_unit_test(test_dying_threads),
		cmocka_unit_test(test_unpaired_episodes),
		cmocka_unit_test(test_another_task),
		cmocka_unit_test(test_compaction_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
