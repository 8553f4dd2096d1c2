/* SPDX-License-Identifier: BSD-2-Clause */
/* The verdict, and what must not clear anybody: silence, missing probes, loss, unseen ranges. */
#include <time.h>
#include "trial.h"

static void absent_pages(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->efault = 500;
	mp->enoent = 12;
}

static void test_cleared(void **state)
{
	struct hcw_move_pages mp = stream_refused(ATTEMPT, POOL, 512);
	const struct hcw_pool_info *p;
	struct stream s;
	int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	for (i = 0; i < 3; i++) {
		mp.start = MS(100 + 10 * i);
		stream_move(&s, MS(101 + 10 * i), MOVER, &mp);
	}
	p = stream_end(&s, MS(200))->pools;
	assert_int_equal(p->verdict, HCW_VERDICT_IMMUNE);
	assert_int_equal(p->evidence, HCW_EVIDENCE_TRIAL);
	assert_int_equal(p->reasons, HCW_WHY_DRIVER_PAGES | HCW_WHY_REFUSED);
	assert_int_equal(p->attempts, 3);
	assert_int_equal(p->asked, 1536);
	assert_int_equal(p->efault, 1536);
	assert_int_equal(p->moved + p->enoent + p->refused_other, 0);
	assert_int_equal(p->first_attempt, MS(100));
	assert_int_equal(p->last_attempt, MS(121));
	assert_int_equal(p->mapped_special, POOL_BYTES);
	assert_int_equal(p->vmflags, HCW_VM_IO | HCW_VM_PFNMAP);
	assert_string_equal(p->path, "/dev/dri/renderD128");
	stream_close(&s);
	CHECK("pages that are not there", .twist = absent_pages, CLEARED);
}

static void test_silence_clears_nobody(void **state)
{
	(void)state;
	CHECK("no attempt", .no_attempt = true, BY_MAPPING_BUT(HCW_WHY_NO_ATTEMPT));
	CHECK("no end", .no_end = true, BY_MAPPING_BUT(HCW_WHY_TRACE_CUT));
	CHECK("no mapping", .no_mapping = true, UNREAD);
	CHECK("nothing", .no_mapping = true, .no_attempt = true,
	      .verdict = HCW_VERDICT_INCONCLUSIVE, .evidence = HCW_EVIDENCE_NONE,
	      .reasons = HCW_WHY_MAPPING_UNREAD | HCW_WHY_NO_ATTEMPT);
}

static void test_missing_probes(void **state)
{
	static const enum hcw_record_type idle[] = {
		HCW_R_QUIESCE, HCW_R_RESUME,	 HCW_R_EVICT,	 HCW_R_RESTORE,
		HCW_R_PASS,    HCW_R_ITER_BEGIN, HCW_R_ITER_END, HCW_R_TASK_EXIT,
	};
	size_t i;

	(void)state;
	CHECK("migrate", .sources = WITHOUT(HCW_R_MIGRATE), BY_MAPPING_BUT(HCW_WHY_PROBE_MISSING));
	CHECK("inval", .sources = WITHOUT(HCW_R_INVAL), BY_MAPPING_BUT(HCW_WHY_PROBE_MISSING));
	CHECK("both evictions", .sources = WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_EVICT),
	      BY_MAPPING_BUT(HCW_WHY_PROBE_MISSING));
	CHECK("move_pages", .sources = WITHOUT(HCW_R_MOVE_PAGES),
	      BY_MAPPING_BUT(HCW_WHY_PROBE_MISSING | HCW_WHY_NO_ATTEMPT));
	for (i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		CHECK("a source that is not needed", .sources = WITHOUT(idle[i]), CLEARED);
}

static void test_no_plan_no_trial(void **state)
{
	struct hcw_move_pages mp = stream_refused(ATTEMPT, POOL, 512);
	const struct hcw_pool_info *p;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	hcw_chain_sources(s.chain, 0);
	stream_server(&s, HCW_BACKING_GTT);
	stream_move(&s, ANSWER, MOVER, &mp);
	p = stream_end(&s, MS(200))->pools;
	assert_int_equal(p->evidence, HCW_EVIDENCE_MAPPING);
	assert_int_equal(p->reasons, HCW_WHY_DRIVER_PAGES | HCW_WHY_PROBE_MISSING);
	stream_close(&s);
}

static void hole_over(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_hole(s, ATTEMPT + 10, ATTEMPT + 20, 1, HCW_R_INVAL);
}

static void hole_of_all(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_hole(s, ATTEMPT - MS(5), ATTEMPT, 0, 0);
}

static void hole_elsewhere(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_hole(s, MS(10), ATTEMPT - 1, 7, HCW_R_INVAL);
	stream_hole(s, ANSWER + 1, MS(150), 7, HCW_R_QUIESCE);
}

static void hole_of_iterations(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_hole(s, ATTEMPT, ANSWER, 7, HCW_R_ITER_BEGIN);
	stream_hole(s, ATTEMPT, ANSWER, 7, HCW_R_ITER_END);
	stream_hole(s, ATTEMPT, ANSWER, 7, HCW_R_PASS);
}

static void put_lost(struct stream *s, enum hcw_record_type source, __u64 lost)
{
	struct hcw_totals t = {.source = source, .emitted = 100, .lost = lost};

	stream_put(s, HCW_R_TOTALS, MS(150), 0, &t, sizeof(t));
}

static void lost_elsewhere(struct stream *s, struct hcw_move_pages *mp)
{
	hole_elsewhere(s, mp);
	put_lost(s, HCW_R_INVAL, 7);
	put_lost(s, HCW_R_QUIESCE, 7);
	put_lost(s, HCW_R_ITER_END, 9);
}

static void lost_nobody_knows_when(struct stream *s, struct hcw_move_pages *mp)
{
	hole_elsewhere(s, mp);
	put_lost(s, HCW_R_INVAL, 8);
}

static void test_loss(void **state)
{
	(void)state;
	CHECK("over the attempt", .twist = hole_over, BY_MAPPING_BUT(HCW_WHY_LOSS));
	CHECK("of all sources", .twist = hole_of_all, BY_MAPPING_BUT(HCW_WHY_LOSS));
	CHECK("at another time", .twist = hole_elsewhere, CLEARED);
	CHECK("of iterations", .twist = hole_of_iterations, CLEARED);
	CHECK("counted, at another time", .twist = lost_elsewhere, CLEARED);
	CHECK("counted, time unknown", .twist = lost_nobody_knows_when,
	      BY_MAPPING_BUT(HCW_WHY_LOSS));
}

static void eviction_without_range(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = {.start = MS(50), .trigger = BY_USERPTR};

	(void)mp;
	stream_stop(s, &stop);
	stream_restart(s, MS(60), SERVER, MM);
}

static void eviction_elsewhere(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = {
		.start = MS(50),
		.trigger = BY_USERPTR,
		.lo = POOL_END,
		.hi = POOL_END + PAGE,
	};

	(void)mp;
	stream_stop(s, &stop);
	stream_restart(s, MS(60), SERVER, MM);
}

static void eviction_of_another(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = {
		.start = MS(50),
		.trigger = BY_USERPTR,
		.victim = 300,
		.mm = MM + 0x9000,
		.lo = POOL,
		.hi = POOL_END,
	};

	(void)mp;
	stream_stop(s, &stop);
	stream_restart(s, MS(60), 300, MM + 0x9000);
}

static void eviction_hits(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = {
		.start = MS(50),
		.trigger = BY_USERPTR,
		.lo = POOL_END - 1,
		.hi = POOL_END + PAGE,
	};

	(void)mp;
	stream_stop(s, &stop);
	stream_restart(s, MS(60), SERVER, MM);
}

/* What was nested in the driver's own eviction may have been a hit of the pool. */
static void nested_without_range(struct stream *s, struct hcw_move_pages *mp)
{
	stream_evict(s, MS(40), MS(41), SERVER, MM, BY_TTM);
	eviction_without_range(s, mp);
	stream_restore(s, MS(70), SERVER, MM);
}

static void test_episodes(void **state)
{
	unsigned int only_evict = WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_RESUME);

	(void)state;
	CHECK("range not seen", .twist = eviction_without_range,
	      BY_MAPPING_BUT(HCW_WHY_RANGE_UNKNOWN));
	CHECK("quiesce missing", .sources = only_evict, .twist = eviction_elsewhere,
	      BY_MAPPING_BUT(HCW_WHY_RANGE_UNKNOWN));
	CHECK("nested", .twist = nested_without_range, BY_MAPPING_BUT(HCW_WHY_RANGE_UNKNOWN));
	CHECK("elsewhere", .twist = eviction_elsewhere, CLEARED);
	CHECK("another process", .twist = eviction_of_another, CLEARED);
	CHECK("hit", .twist = eviction_hits, .verdict = HCW_VERDICT_EXPOSED,
	      .evidence = HCW_EVIDENCE_TRIAL, .reasons = HCW_WHY_DRIVER_PAGES | HCW_WHY_EPISODE);
}

/* "Do not evict": pages move, nobody stops. */
static void test_moved_without_eviction(void **state)
{
	struct hcw_move_pages mp = stream_moved(ATTEMPT, POOL, 512);
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_warm_up(&s, ATTEMPT, SERVER, 16, MS(1));
	stream_inval(&s, ATTEMPT + 10, ANSWER - 10, MOVER, ATTEMPT, 512);
	stream_migrate(&s, ATTEMPT + 5, ANSWER - 5, MOVER, ATTEMPT, 512);
	stream_answer(&s, ANSWER, MOVER, &mp);
	stream_iteration(&s, ATTEMPT, MS(101), SERVER);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 0);
	assert_int_equal(m->n_stalls, 0);
	assert_int_equal(m->n_attempts, 1);
	assert_int_equal(m->attempts[0].migrated, 512);
	assert_int_equal(m->pools[0].moved, 512);
	assert_int_equal(m->pools[0].verdict, HCW_VERDICT_EXPOSED);
	assert_int_equal(m->pools[0].evidence, HCW_EVIDENCE_TRIAL);
	assert_int_equal(m->pools[0].reasons, HCW_WHY_ORDINARY_PAGES | HCW_WHY_MOVED);
	stream_close(&s);
}

/* Records after a verdict change it: the same chain serves live. */
static void test_verdict_again(void **state)
{
	struct hcw_move_pages mp = stream_refused(ATTEMPT, POOL, 512);
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	hcw_chain_finish(s.chain);
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->pools[0].reasons,
			 HCW_WHY_DRIVER_PAGES | HCW_WHY_NO_ATTEMPT | HCW_WHY_TRACE_CUT);
	stream_move(&s, ANSWER, MOVER, &mp);
	hcw_chain_finish(s.chain);
	assert_int_equal(m->pools[0].reasons, HCW_WHY_DRIVER_PAGES | HCW_WHY_TRACE_CUT);
	stream_end(&s, MS(200));
	assert_int_equal(m->pools[0].reasons, HCW_WHY_DRIVER_PAGES | HCW_WHY_REFUSED);
	stream_hole(&s, ATTEMPT, ANSWER, 1, HCW_R_MOVE_PAGES);
	hcw_chain_finish(s.chain);
	assert_int_equal(m->pools[0].reasons, HCW_WHY_DRIVER_PAGES | HCW_WHY_LOSS);
	stream_close(&s);
}

/* One long hole with short ones in it, and behind it nothing. */
static void test_holes_in_a_hole(void **state)
{
	const struct hcw_model *m;
	struct hcw_move_pages mp;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	stream_hole(&s, MS(104), MS(105), 1, HCW_R_EVICT);
	stream_hole(&s, MS(102), MS(103), 1, HCW_R_INVAL);
	stream_hole(&s, MS(101), MS(120), 1, 0);
	mp = stream_refused(MS(110), POOL, 1);
	stream_answer(&s, MS(111), MOVER, &mp);
	mp = stream_refused(MS(121), POOL, 1);
	stream_answer(&s, MS(122), MOVER, &mp);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->pools[0].lossy, 1);
	stream_close(&s);
}

/* Hours of a recording that lost records all the time. Pairing each attempt with each hole takes
 * minutes; one in twenty of the attempts meets one, by its first ns. */
static void test_many_holes(void **state)
{
	const unsigned int attempts = 200000, holes = 60000;
	const struct hcw_model *m;
	struct hcw_move_pages mp;
	struct stream s;
	clock_t began;
	unsigned int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	/* not in order, and every third one in parts that touch or overlap */
	for (i = holes / 3; i-- > 0;) {
		__u64 at = MS(100) + 10000ull * i;

		stream_hole(&s, at + 200, at + 300, 1, HCW_R_INVAL);
		stream_hole(&s, at + 100, at + 200, 1, 0);
		stream_hole(&s, at + 700, at + 800, 1, HCW_R_PASS);
	}
	for (i = 0; i < attempts; i++) {
		__u64 at = MS(100) + 1000ull * i;

		mp = stream_refused(at + (i % 20 ? 301 : 300), POOL, 1);
		stream_answer(&s, at + 999, MOVER, &mp);
	}
	began = clock();
	m = stream_end(&s, MS(1000));
	assert_true(clock() - began < CLOCKS_PER_SEC);
	assert_int_equal(m->n_holes, holes);
	assert_int_equal(m->pools[0].attempts, attempts);
	assert_int_equal(m->pools[0].lossy, attempts / 20);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_silence_clears_nobody),
		cmocka_unit_test(test_missing_probes),
		cmocka_unit_test(test_no_plan_no_trial),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_episodes),
		cmocka_unit_test(test_moved_without_eviction),
		cmocka_unit_test(test_verdict_again),
		cmocka_unit_test(test_holes_in_a_hole),
		cmocka_unit_test(test_many_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
