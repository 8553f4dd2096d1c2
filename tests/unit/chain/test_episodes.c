/* SPDX-License-Identifier: BSD-2-Clause */
/* From records to episodes: starts, ends, passes, causes. */
#include <string.h>
#include "stream.h"

#define ATTEMPT MS(101)
#define STOPPED MS(102)
#define RESUMED MS(160)

static const struct stop pool_hit = {
	.start = STOPPED,
	.attempt = ATTEMPT,
	.reason = MR_SYSCALL,
	.trigger = BY_USERPTR,
	.lo = POOL,
	.hi = POOL + POOL_BYTES,
};

/* 512 pages of the server's pool are moved by its own thread while an iteration runs. */
static void walk(struct stream *s)
{
	struct hcw_move_pages mp = stream_moved(ATTEMPT, POOL, 512);
	struct hcw_iter it = {.id = 2, .tgid = SERVER};

	stream_server(s, HCW_BACKING_REGISTERED);
	stream_warm_up(s, MS(100), SERVER, 16, MS(1));
	stream_put(s, HCW_R_ITER_BEGIN, MS(100), SERVER, &it, sizeof(it));
	stream_stop(s, &pool_hit);
	stream_inval(s, STOPPED - 50, MS(110), MOVER, ATTEMPT, 512);
	stream_migrate(s, ATTEMPT + 500, MS(111), MOVER, ATTEMPT, 512);
	stream_answer(s, MS(112), MOVER, &mp);
	stream_pass(s, MS(103), MS(120), MM, WORK, false);
	stream_restart(s, RESUMED, SERVER, MM);
	stream_pass(s, MS(121), RESUMED + 50, MM, WORK, true);
	stream_put(s, HCW_R_ITER_END, MS(161), SERVER, &it, sizeof(it));
}

static void check_walk(const struct hcw_model *m)
{
	const struct hcw_episode *e = &m->episodes[0];
	const struct hcw_attempt *a = &m->attempts[0];

	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->n_attempts, 1);
	assert_int_equal(e->victim, SERVER);
	assert_int_equal(e->started_by.tid, MOVER);
	assert_int_equal(e->started_by.tgid, SERVER);
	assert_string_equal(e->started_by.comm, "mover");
	assert_int_equal(e->cause, HCW_CAUSE_MOVE_PAGES);
	assert_int_equal(e->attempt, 0);
	assert_int_equal(e->passes, 2);
	assert_int_equal(e->passes_thrown, 1);
	assert_int_equal(e->invalidations, 512);
	assert_int_equal(e->nested, 0);
	assert_int_equal(e->stalls, 1);
	assert_int_equal(e->worst_stall, MS(61));
	assert_false(e->killed);
	assert_true(a->is_move_pages);
	assert_int_equal(a->reason, MR_SYSCALL);
	assert_int_equal(a->migrated, 512);
	assert_int_equal(a->move.moved, 512);
	assert_int_equal(a->pool, 0);
	assert_int_equal(m->n_stalls, 1);
	assert_int_equal(m->stalls[0].episode, 0);
	assert_int_equal(m->stalls[0].end - m->stalls[0].start, MS(61));
	assert_int_equal(m->noise + m->dropped + m->unattributed_passes, 0);
	assert_int_equal(m->n_victims, 1);
	assert_string_equal(m->victims[0].comm, "server");
	assert_int_equal(m->victims[0].mm, MM);
	assert_int_equal(m->victims[0].episodes, 1);
	assert_int_equal(m->victims[0].episode_ns, e->end - e->start);
}

static void check_hit(const struct hcw_model *m)
{
	const struct hcw_episode *e = &m->episodes[0];
	const struct hcw_pool_info *p = &m->pools[0];

	assert_int_equal(e->start, STOPPED);
	assert_int_equal(e->end, RESUMED);
	assert_int_equal(e->stack, 5);
	assert_int_equal(e->pool, 0);
	assert_int_equal(p->episodes, 1);
	assert_int_equal(p->episode_ns, RESUMED - STOPPED);
	assert_int_equal(p->moved, 512);
	assert_int_equal(p->verdict, HCW_VERDICT_EXPOSED);
	assert_int_equal(p->evidence, HCW_EVIDENCE_TRIAL);
	assert_int_equal(p->reasons, HCW_WHY_ORDINARY_PAGES | HCW_WHY_MOVED | HCW_WHY_EPISODE);
}

static void test_walk(void **state)
{
	struct stream s;
	const struct hcw_model *m;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	walk(&s);
	m = stream_end(&s, MS(200));
	check_walk(m);
	check_hit(m);
	stream_close(&s);
}

static void test_walk_without_evict(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, WITHOUT(HCW_R_EVICT) & WITHOUT(HCW_R_RESTORE));
	walk(&s);
	m = stream_end(&s, MS(200));
	check_walk(m);
	check_hit(m);
	stream_close(&s);
}

static void test_walk_without_quiesce(void **state)
{
	const struct hcw_pool_info *p;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_RESUME));
	walk(&s);
	m = stream_end(&s, MS(200));
	check_walk(m);
	assert_int_equal(m->episodes[0].start, STOPPED + 100);
	assert_int_equal(m->episodes[0].end, RESUMED - 100);
	assert_int_equal(m->episodes[0].lo, 0);
	assert_int_equal(m->episodes[0].pool, -1);
	p = &m->pools[0];
	assert_int_equal(p->episodes, 0);
	assert_int_equal(p->reasons, HCW_WHY_ORDINARY_PAGES | HCW_WHY_MOVED);
	stream_close(&s);
}

/* Without move_pages, the migration around the eviction still names the cause. */
static void test_evictions_in_a_migration(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_RESUME));
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_migrate(&s, MS(50), MS(51), MOVER, MS(50), 1);
	stream_stop(&s, &pool_hit);
	/* another CPU migrates at the same time and has nothing to do with it */
	stream_migrate(&s, ATTEMPT, MS(110), KWORKER, ATTEMPT, 1);
	stream_migrate(&s, ATTEMPT, MS(111), MOVER, ATTEMPT, 512);
	stream_migrate(&s, MS(130), MS(131), MOVER, MS(130), 1);
	stream_restart(&s, RESUMED, SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_attempts, 1);
	assert_int_equal(m->attempts[0].start, ATTEMPT);
	assert_int_equal(m->attempts[0].end, MS(111));
	assert_int_equal(m->episodes[0].attempt, 0);
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_MIGRATE_SYSCALL);
	stream_close(&s);
}

static void test_several_in_one_attempt(void **state)
{
	struct hcw_move_pages mp = stream_moved(ATTEMPT, POOL, 512);
	struct stop stop = pool_hit;
	const struct hcw_model *m;
	struct stream s;
	int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_warm_up(&s, MS(100), SERVER, 16, MS(1));
	for (i = 0; i < 4; i++) {
		stop.start = MS(102 + 10 * i);
		stream_stop(&s, &stop);
		stream_pass(&s, MS(103 + 10 * i), MS(104 + 10 * i), MM, WORK, true);
		/* the second is the longest */
		stream_restart(&s, MS((i == 1 ? 109 : 105) + 10 * i), SERVER, MM);
	}
	stream_move(&s, MS(150), MOVER, &mp);
	stream_iteration(&s, MS(101), MS(151), SERVER);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 4);
	assert_int_equal(m->n_attempts, 1);
	for (i = 0; i < 4; i++) {
		assert_int_equal(m->episodes[i].attempt, 0);
		assert_int_equal(m->episodes[i].cause, HCW_CAUSE_MOVE_PAGES);
		assert_int_equal(m->episodes[i].passes, 1);
		assert_int_equal(m->episodes[i].worst_stall, MS(50));
	}
	assert_int_equal(m->n_stalls, 1);
	assert_int_equal(m->stalls[0].episode, 1);
	assert_int_equal(m->pools[0].episodes, 4);
	assert_int_equal(m->pools[0].episode_ns, MS(3 + 7 + 3 + 3));
	assert_int_equal(m->victims[0].episode_ns, m->pools[0].episode_ns);
	stream_close(&s);
}

static void test_nested_is_one_episode(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_evict(&s, MS(110), MS(111), SERVER, MM, BY_TTM);
	stream_restore(&s, MS(140), SERVER, MM);
	stream_restart(&s, RESUMED, SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].nested, 1);
	assert_int_equal(m->episodes[0].start, STOPPED);
	assert_int_equal(m->episodes[0].end, RESUMED);
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_MIGRATE_SYSCALL);
	stream_close(&s);
}

/* Two hits at depth 2, told by quiesce and resume alone. */
static void test_nested_without_evict(void **state)
{
	struct stop second = pool_hit;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	second.start = MS(120);
	second.tid = SERVER;
	stream_open(&s, WITHOUT(HCW_R_EVICT) & WITHOUT(HCW_R_RESTORE));
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_stop(&s, &second);
	stream_restart(&s, MS(150), SERVER, MM);
	stream_restart(&s, RESUMED, SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].nested, 1);
	assert_int_equal(m->episodes[0].end, RESUMED);
	assert_int_equal(m->episodes[0].started_by.tid, MOVER);
	assert_int_equal(m->pools[0].episodes, 1);
	stream_close(&s);
}

/* A pool hit while the driver had stopped the queues: the stop is TTM's, the hit is the pool's. */
static void test_hit_inside_ttm(void **state)
{
	struct stop again = pool_hit;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_evict(&s, MS(90), MS(91), SERVER, MM, BY_TTM);
	stream_stop(&s, &pool_hit);
	stream_restart(&s, MS(110), SERVER, MM);
	again.start = MS(120);
	stream_stop(&s, &again);
	stream_restart(&s, RESUMED, SERVER, MM);
	stream_restore(&s, MS(170), SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_TTM);
	assert_int_equal(m->episodes[0].pool, -1);
	assert_int_equal(m->pools[0].episodes, 1);
	assert_int_equal(m->pools[0].episode_ns, 0);
	assert_int_equal(m->pools[0].verdict, HCW_VERDICT_EXPOSED);
	assert_int_equal(m->pools[0].evidence, HCW_EVIDENCE_TRIAL);
	stream_close(&s);
}

static void test_driver_triggers(void **state)
{
	static const struct {
		__u32 trigger;
		enum hcw_cause cause;
	} row[] = {
		{2, HCW_CAUSE_TTM},
		{3, HCW_CAUSE_SUSPEND},
		{4, HCW_CAUSE_CRIU},
		{5, HCW_CAUSE_CRIU},
	};
	struct hcw_move_pages mp = stream_refused(MS(500), POOL, 512);
	const struct hcw_model *m;
	struct stop stop = pool_hit;
	struct stream s;
	size_t i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	for (i = 0; i < 4; i++) {
		stream_evict(&s, MS(10 + 10 * i), MS(11 + 10 * i), SERVER, MM, row[i].trigger);
		stream_restore(&s, MS(15 + 10 * i), SERVER, MM);
	}
	/* even with a range at hand these triggers say nothing about a pool */
	stop.trigger = BY_TTM;
	stream_stop(&s, &stop);
	stream_restart(&s, RESUMED, SERVER, MM);
	stream_move(&s, MS(501), MOVER, &mp);
	m = stream_end(&s, MS(600));
	assert_int_equal(m->n_episodes, 5);
	for (i = 0; i < 4; i++) {
		assert_int_equal(m->episodes[i].cause, row[i].cause);
		assert_int_equal(m->episodes[i].trigger, row[i].trigger);
		assert_int_equal(m->episodes[i].pool, -1);
	}
	assert_int_equal(m->episodes[4].cause, HCW_CAUSE_TTM);
	assert_int_equal(m->pools[0].episodes, 0);
	assert_int_equal(m->pools[0].verdict, HCW_VERDICT_IMMUNE);
	assert_int_equal(m->pools[0].evidence, HCW_EVIDENCE_TRIAL);
	stream_close(&s);
}

static void test_migration_reasons(void **state)
{
	static const enum hcw_cause causes[] = {
		HCW_CAUSE_COMPACTION,	   HCW_CAUSE_MEMORY_FAILURE, HCW_CAUSE_MEMORY_HOTPLUG,
		HCW_CAUSE_MIGRATE_SYSCALL, HCW_CAUSE_MBIND,	     HCW_CAUSE_NUMA_BALANCING,
		HCW_CAUSE_CONTIG_RANGE,	   HCW_CAUSE_LONGTERM_PIN,   HCW_CAUSE_DEMOTION,
		HCW_CAUSE_DAMON,	   HCW_CAUSE_UNKNOWN,
	};
	struct stop stop = pool_hit;
	const struct hcw_model *m;
	struct stream s;
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		stop.start = MS(100 + 10 * i);
		stop.attempt = stop.start - 500;
		stop.reason = i;
		stream_stop(&s, &stop);
		stream_restart(&s, MS(105 + 10 * i), SERVER, MM);
	}
	m = stream_end(&s, MS(300));
	assert_int_equal(m->n_episodes, i);
	while (i-- > 0) {
		assert_int_equal(m->episodes[i].cause, causes[i]);
		assert_int_equal(m->attempts[m->episodes[i].attempt].reason, i);
		assert_int_equal(m->attempts[m->episodes[i].attempt].end, 0);
	}
	stream_close(&s);
}

static void test_no_migration(void **state)
{
	struct stop stop = pool_hit;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stop.attempt = 0;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_inval(&s, MS(50), MS(50), MOVER, 0, 1);
	stream_inval(&s, STOPPED - 50, STOPPED - 50, MOVER, 0, 1);
	stream_stop(&s, &stop);
	stream_inval(&s, MS(110), MS(110), SERVER, 0, 1);
	stream_inval(&s, MS(112), MS(112), MOVER, 0, 1);
	stream_restart(&s, RESUMED, SERVER, MM);
	stream_inval(&s, MS(170), MS(170), MOVER, 0, 1);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_OTHER_INVALIDATION);
	assert_int_equal(m->episodes[0].attempt, -1);
	/* its first, and the two while it was open */
	assert_int_equal(m->episodes[0].invalidations, 3);
	assert_int_equal(m->pools[0].episodes, 1);
	stream_close(&s);
}

/* Without that source nobody can say that no migration was around it. */
static void test_migrations_not_watched(void **state)
{
	struct hit hit = {.start = MS(110), .last = MS(110), .tid = KWORKER, .count = 1};
	struct stop stop = pool_hit;
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	stop.attempt = 0;
	stream_open(&s, WITHOUT(HCW_R_MIGRATE));
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &stop);
	stream_hit(&s, MS(110), &hit);
	stream_pass(&s, MS(103), MS(120), MM, WORK, false);
	stop.start = MS(130);
	stream_stop(&s, &stop);
	stop.start = MS(140);
	stop.via = HCW_VIA_NUMA_SCAN;
	stream_stop(&s, &stop);
	e = stream_end(&s, MS(200))->episodes;
	assert_int_equal(e->cause, HCW_CAUSE_UNKNOWN);
	assert_int_equal(e->started_by.tid, MOVER);
	assert_int_equal(e->pool, 0);
	assert_int_equal(e->nested_causes, 1u << HCW_CAUSE_UNKNOWN | 1u << HCW_CAUSE_NUMA_SCANNING);
	assert_int_equal(e->n_prolonged, 1);
	assert_int_equal(e->prolonged_by[0].cause, HCW_CAUSE_UNKNOWN);
	stream_close(&s);
}

static void test_refused_quiesce_is_noise(void **state)
{
	struct hcw_quiesce q = {.start = MS(50), .mm = MM, .ret = -3, .stack = -1};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_put(&s, HCW_R_QUIESCE, MS(51), MOVER, &q, sizeof(q));
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 0);
	assert_int_equal(m->noise, 1);
	assert_int_equal(m->pools[0].episodes, 0);
	stream_close(&s);
}

static void test_open_at_the_end(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_pass(&s, MS(103), MS(150), MM, WORK, false);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].end, 0);
	assert_false(m->episodes[0].killed);
	assert_int_equal(m->episodes[0].passes, 1);
	assert_int_equal(m->last_ts, MS(200));
	assert_int_equal(m->pools[0].verdict, HCW_VERDICT_EXPOSED);
	stream_close(&s);
}

/* Of a process that is younger than the trace the start would have been seen: no stall is invented.
 */
static void test_restore_without_start(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_restart(&s, MS(50), SERVER, MM);
	stream_stop(&s, &pool_hit);
	stream_restart(&s, RESUMED, SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].start, STOPPED);
	assert_int_equal(m->episodes[0].end, RESUMED);
	assert_false(m->episodes[0].before);
	assert_int_equal(m->n_victims, 1);
	assert_int_equal(m->unpaired_restores, 1);
	stream_close(&s);
}

/* Stopped again between the restore of the queues and the end of the resume that made it. */
static void test_stopped_before_resume_returned(void **state)
{
	struct hcw_resume r = {.start = MS(110) - 100, .mm = MM};
	struct stop again = pool_hit;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	again.start = MS(110) + 100;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_restore(&s, MS(110), SERVER, MM);
	stream_stop(&s, &again);
	stream_put(&s, HCW_R_RESUME, MS(111), KWORKER, &r, sizeof(r));
	stream_restart(&s, RESUMED, SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 2);
	assert_int_equal(m->episodes[0].end, MS(110));
	assert_int_equal(m->episodes[1].start, again.start);
	assert_int_equal(m->episodes[1].end, RESUMED);
	stream_close(&s);
}

/* Another CPU restored the queues before the thread that stopped them had left quiesce. */
static void test_restored_before_quiesce_returned(void **state)
{
	struct hcw_quiesce q = {
		.start = STOPPED,
		.mm = MM,
		.lo = POOL,
		.hi = POOL + POOL_BYTES,
		.trigger = BY_USERPTR,
		.stack = -1,
		.victim = SERVER,
		.reason = HCW_REASON_NONE,
	};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_evict(&s, STOPPED + 100, STOPPED + 200, SERVER, MM, BY_USERPTR);
	stream_restart(&s, MS(103), SERVER, MM);
	stream_put(&s, HCW_R_QUIESCE, MS(103) + 10, MOVER, &q, sizeof(q));
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].start, STOPPED);
	assert_int_equal(m->episodes[0].end, MS(103));
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_OTHER_INVALIDATION);
	assert_int_equal(m->pools[0].episodes, 1);
	assert_int_equal(m->pools[0].episode_ns, MS(1));
	assert_int_equal(m->victims[0].episode_ns, MS(1));
	stream_close(&s);
}

static void test_passes(void **state)
{
	const struct hcw_model *m;
	struct stop stop = pool_hit;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	/* of a process nobody watches, and of a known one that is not stopped */
	stream_pass(&s, MS(10), MS(11), MM + 4096, WORK + 64, true);
	stream_pass(&s, MS(20), MS(21), 0, WORK, false);
	stream_pass(&s, MS(30), MS(31), MM, 0, true);
	assert_int_equal(hcw_chain_model(s.chain)->unattributed_passes, 3);
	assert_int_equal(hcw_chain_model(s.chain)->n_victims, 1);
	stream_stop(&s, &stop);
	stream_pass(&s, MS(103), MS(104), MM, WORK, false);
	/* from here on the work item tells whose it is */
	stream_pass(&s, MS(105), MS(106), 0, WORK, false);
	stream_restart(&s, MS(110), SERVER, MM);
	/* its record comes when the next stop has begun already */
	stop.start = MS(110) + 10;
	stream_stop(&s, &stop);
	stream_pass(&s, MS(107), MS(111), 0, WORK, true);
	stream_pass(&s, MS(112), MS(113), 0, WORK, true);
	stream_pass(&s, MS(114), MS(115), 0, WORK + 64, true);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 2);
	assert_int_equal(m->episodes[0].passes, 3);
	assert_int_equal(m->episodes[0].passes_thrown, 2);
	assert_int_equal(m->episodes[1].passes, 1);
	assert_int_equal(m->episodes[1].passes_thrown, 0);
	assert_int_equal(m->unattributed_passes, 4);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_walk_without_evict),
		cmocka_unit_test(test_walk_without_quiesce),
		cmocka_unit_test(test_evictions_in_a_migration),
		cmocka_unit_test(test_several_in_one_attempt),
		cmocka_unit_test(test_nested_is_one_episode),
		cmocka_unit_test(test_nested_without_evict),
		cmocka_unit_test(test_hit_inside_ttm),
		cmocka_unit_test(test_driver_triggers),
		cmocka_unit_test(test_migration_reasons),
		cmocka_unit_test(test_no_migration),
		cmocka_unit_test(test_migrations_not_watched),
		cmocka_unit_test(test_refused_quiesce_is_noise),
		cmocka_unit_test(test_open_at_the_end),
		cmocka_unit_test(test_restore_without_start),
		cmocka_unit_test(test_stopped_before_resume_returned),
		cmocka_unit_test(test_restored_before_quiesce_returned),
		cmocka_unit_test(test_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
