/* SPDX-License-Identifier: BSD-2-Clause */
/* A driver that was away: what fell into that time clears nobody, and what did not is as ever. */
#include "trial.h"

/* As the tracer writes them: one for each source of the driver, when it is over. */
static void away(struct stream *s, __u64 from, __u64 to, __u64 written)
{
	static const enum hcw_record_type driver[] = {
		HCW_R_QUIESCE, HCW_R_RESUME, HCW_R_EVICT, HCW_R_RESTORE, HCW_R_PASS, HCW_R_TASK,
	};
	struct hcw_hole h = {.from = from, .to = to, .cause = HCW_HOLE_DRIVER_ABSENT};
	size_t i;

	for (i = 0; i < sizeof(driver) / sizeof(driver[0]); i++) {
		h.source = driver[i];
		stream_put(s, HCW_R_HOLE, written, 0, &h, sizeof(h));
	}
}

static void over_the_attempt(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	away(s, ATTEMPT - MS(20), ANSWER + MS(20), ANSWER + MS(20));
}

static void went_in_the_attempt(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	away(s, ANSWER, ANSWER + MS(20), ANSWER + MS(20));
}

static void came_in_the_attempt(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	away(s, MS(1), ATTEMPT, ATTEMPT);
}

static void back_before(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	away(s, MS(1), ATTEMPT - 1, ATTEMPT - 1);
}

static void went_after(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	away(s, ANSWER + 1, ANSWER + MS(40), ANSWER + MS(40));
}

static void refused_by_nobody_watching(void **state)
{
	(void)state;
	CHECK("over the attempt", .twist = over_the_attempt, BY_MAPPING_BUT(HCW_WHY_LOSS));
	CHECK("went in the attempt", .twist = went_in_the_attempt, BY_MAPPING_BUT(HCW_WHY_LOSS));
	CHECK("came in the attempt", .twist = came_in_the_attempt, BY_MAPPING_BUT(HCW_WHY_LOSS));
	CHECK("back before it", .twist = back_before, CLEARED);
	CHECK("went after it", .twist = went_after, CLEARED);
}

/* The plan of the end says that the driver is away: no trial of it is complete. */
static void away_to_the_end(void **state)
{
	const unsigned int without = WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_EVICT);

	(void)state;
	CHECK("to the end", .sources = without, .twist = over_the_attempt,
	      BY_MAPPING_BUT(HCW_WHY_LOSS | HCW_WHY_PROBE_MISSING));
}

/* That pages moved is seen without the driver. */
static void moved_all_the_same(void **state)
{
	struct hcw_move_pages mp = stream_moved(ATTEMPT, POOL, 512);
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_move(&s, ANSWER, MOVER, &mp);
	away(&s, MS(1), ANSWER + MS(20), ANSWER + MS(20));
	m = stream_end(&s, MS(200));
	assert_int_equal(m->pools[0].verdict, HCW_VERDICT_EXPOSED);
	assert_int_equal(m->n_holes, 6);
	assert_int_equal(m->lost, 0);
	stream_close(&s);
}

/* A pool that only its mapping speaks for or against stays undecided, and the hole is a reason. */
static void ordinary_pages_stay_undecided(void **state)
{
	struct hcw_move_pages mp = stream_refused(ATTEMPT, POOL, 512);
	const struct hcw_pool_info *p;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_PAGEABLE);
	away(&s, ATTEMPT - MS(20), ANSWER + MS(20), ANSWER + MS(20));
	stream_move(&s, ANSWER + MS(30), MOVER, &mp);
	p = stream_end(&s, MS(200))->pools;
	assert_int_equal(p->verdict, HCW_VERDICT_INCONCLUSIVE);
	assert_int_not_equal(p->evidence, HCW_EVIDENCE_TRIAL);
	assert_true(p->reasons & HCW_WHY_LOSS);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_by_nobody_watching),
		cmocka_unit_test(away_to_the_end),
		cmocka_unit_test(moved_all_the_same),
		cmocka_unit_test(ordinary_pages_stay_undecided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
