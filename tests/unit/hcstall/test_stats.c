/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "../../../bpf/hcwatch_abi.h"
#include "../../../tools/hcstall/stats.h"

static void test_times(void **state)
{
	uint64_t ns[4];
	struct stall_times t = {.ns = ns, .size = 4};

	(void)state;
	assert_int_equal(stall_times_median(&t), 0);
	assert_int_equal(stall_times_percentile(&t, 50), 0);
	stall_times_add(&t, 100, 140);
	assert_int_equal(stall_times_median(&t), 40);
	stall_times_add(&t, 200, 210);
	assert_int_equal(stall_times_median(&t), 10); /* the lower of two */
	stall_times_add(&t, 300, 330);
	stall_times_add(&t, 400, 420);
	assert_int_equal(t.max_ns, 40);
	assert_int_equal(t.max_begin_ns, 100);
	/* beyond the room for the median: still the worst */
	stall_times_add(&t, 500, 900);
	assert_int_equal(t.kept, 4);
	assert_int_equal(t.count, 5);
	assert_int_equal(stall_times_median(&t), 20);
	assert_int_equal(t.max_ns, 400);
	assert_int_equal(t.max_begin_ns, 500);
	/* a clock that stands still is no underflow */
	stall_times_add(&t, 600, 600);
	assert_int_equal(t.max_ns, 400);
	stall_times_reset(&t);
	assert_int_equal(stall_times_median(&t), 0);
	assert_int_equal(t.max_ns + t.count, 0);
}

static void assert_near(uint64_t got, uint64_t want)
{
	if (got < want - want / 16 || got > want + want / 16)
		fail_msg("%llu is not within a bucket of %llu", (unsigned long long)got,
			 (unsigned long long)want);
}

/* 1000 values 1 .. 1000 us and one stall of a minute: the tail is kept, not only the maximum. */
static void test_distribution(void **state)
{
	struct stall_phase phase = {0};
	struct stall_times t = {0};
	uint64_t i;

	(void)state;
	for (i = 1; i <= 1000; i++)
		stall_times_add(&t, i, i + 1000 * i);
	stall_times_add(&t, 7, 7 + 64162856000);
	stall_times_sum(&t, &phase);
	assert_int_equal(phase.dist.count, 1001);
	assert_near(phase.dist.p50, 500000);
	assert_near(phase.dist.p90, 900000);
	assert_near(phase.dist.p99, 990000);
	assert_near(phase.dist.p99_9, 1000000);
	assert_int_equal(phase.dist.max, 64162856000);
	assert_int_equal(phase.max_begin_ns, 7);
	/* two in a thousand: now the percentile is the stall, and never beyond the maximum */
	stall_times_add(&t, 9, 9 + 64162856000);
	assert_near(stall_times_percentile(&t, 99.9), 64162856000);
	assert_true(stall_times_percentile(&t, 99.9) <= 64162856000);
	assert_true(stall_times_percentile(&t, 100) <= 64162856000);
}

/* A status array of n alike. */
static void fill(int *status, size_t n, int value)
{
	while (n--)
		status[n] = value;
}

static void test_count(void **state)
{
	const int before[] = {0, 0, 0, -14, -2, 0, 0, 0, 0, 0, 1};
	const int answer[] = {1, 1, 0, -14, -2, -16, -13, -5, STALL_NO_ANSWER, -19, 1};
	const int now[] = {1, 1, 0, -14, -2, 0, 0, 0, 0, 0, 1};
	struct stall_pages p = stall_count(before, answer, now, 11, 1);

	(void)state;
	assert_int_equal(p.attempted, 11);
	assert_int_equal(p.moved, 2);
	assert_int_equal(p.already, 1);
	assert_int_equal(p.efault, 1);
	assert_int_equal(p.enoent, 1);
	assert_int_equal(p.ebusy, 1);
	assert_int_equal(p.eacces, 1);
	assert_int_equal(p.unanswered, 1);
	assert_int_equal(p.other, 3); /* node 0, -EIO, -ENODEV */
	assert_int_equal(p.requeried, 0);
}

/* B4: a THP moved whole reports one -EBUSY, hugetlb one -EACCES. A query finds all 512 where they
 * should be. */
static void test_huge_pages(void **state)
{
	int before[512], answer[512], now[512];
	struct stall_trial t = {0};

	(void)state;
	fill(before, 512, 0);
	fill(now, 512, 1);
	fill(answer, 512, 1);
	answer[1] = -16;
	t.pages = stall_count(before, answer, now, 512, 1);
	assert_int_equal(t.pages.moved, 512);
	assert_int_equal(t.pages.requeried, 1);
	assert_int_equal(t.pages.ebusy, 0);
	assert_int_equal(stall_outcome(&t, stall_trigger_default(), HCPOOL_REGISTERED),
			 STALL_MOVED);
	answer[1] = -13;
	t.pages = stall_count(before, answer, now, 512, 1);
	assert_int_equal(t.pages.moved, 512);
	assert_int_equal(t.pages.requeried, 1);
	assert_int_equal(t.pages.eacces, 0);
	/* busy, and still where it was: no re-query makes that a move */
	answer[0] = -16;
	now[0] = 0;
	t.pages = stall_count(before, answer, now, 512, 1);
	assert_int_equal(t.pages.moved, 511);
	assert_int_equal(t.pages.ebusy, 1);
	assert_int_equal(stall_outcome(&t, stall_trigger_default(), HCPOOL_REGISTERED), STALL_PART);
}

static enum stall_outcome judged(const int *before, const int *answer, const int *now,
				 unsigned int n, enum hcpool_backing backing)
{
	struct stall_trial t = {.pages = stall_count(before, answer, now, n, 1)};

	return stall_outcome(&t, stall_trigger_default(), backing);
}

/* B1, B2, B3: the same answers mean a refusal of driver memory, and nothing at all elsewhere. */
static void test_no_page(void **state)
{
	static const int queries[] = {-14, -2}; /* of /dev/mem: 6.1; 6.12 and later */
	const int home[] = {0, -14, -14, -14}, now[] = {1, -14, -14, -14};
	const int old[] = {1, -14, -14, -14}, new[] = {1, -14, -2, -14};
	int all[8], query[8];
	size_t i;

	(void)state;
	fill(all, 8, -14);
	for (i = 0; i < 2; i++) {
		fill(query, 8, queries[i]);
		assert_int_equal(judged(query, all, query, 8, HCPOOL_GTT), STALL_REFUSED);
		assert_int_equal(judged(query, query, query, 8, HCPOOL_GTT), STALL_REFUSED);
		assert_int_equal(judged(query, all, query, 8, HCPOOL_REGISTERED), STALL_NO_PAGE);
		assert_int_equal(judged(query, all, query, 8, HCPOOL_USERPTR), STALL_NO_PAGE);
	}
	for (i = 0; i < 2; i++) {
		struct stall_pages p = stall_count(home, i ? new : old, now, 4, 1);

		assert_int_equal(p.moved, 1);
		assert_int_equal(p.efault + p.enoent, 3);
		assert_int_equal(judged(home, i ? new : old, now, 4, HCPOOL_REGISTERED),
				 STALL_PART);
	}
}

static void test_outcomes(void **state)
{
	const struct stall_trigger *pageout = stall_trigger_find("madvise-pageout");
	const struct stall_trigger *all = stall_trigger_find("migrate_pages");
	struct stall_trial t = {.rc = -1, .error = 22};

	(void)state;
	/* the call as a whole: a refusal of driver memory, a failure elsewhere */
	assert_int_equal(stall_outcome(&t, pageout, HCPOOL_GTT), STALL_REFUSED);
	assert_int_equal(stall_outcome(&t, pageout, HCPOOL_REGISTERED), STALL_PART);
	t.error = 12;
	assert_int_equal(stall_outcome(&t, pageout, HCPOOL_GTT), STALL_PART);
	t.error = 1; /* blocked by seccomp: says nothing about driver memory */
	assert_int_equal(stall_outcome(&t, stall_trigger_default(), HCPOOL_GTT), STALL_PART);
	t.rc = t.error = 0;
	assert_int_equal(stall_outcome(&t, pageout, HCPOOL_REGISTERED), STALL_DONE);
	/* a positive return: of the window, or of anything in the process */
	t.rc = 3;
	t.pages = (struct stall_pages){.attempted = 4, .moved = 4};
	assert_int_equal(stall_outcome(&t, stall_trigger_default(), HCPOOL_REGISTERED), STALL_PART);
	assert_int_equal(stall_outcome(&t, all, HCPOOL_REGISTERED), STALL_MOVED);
}

static void test_evicted(void **state)
{
	struct stall_evicted before = {2, {{52541, 100}, {61601, 7}}};
	struct stall_evicted after = {3, {{777, 5}, {52541, 492}, {61601, 7}}};
	struct stall_evicted unreadable = {.count = -1}, delta;

	(void)state;
	stall_evicted_delta(&before, &after, &delta);
	assert_int_equal(delta.count, 3);
	assert_int_equal(delta.gpu[0].gpuid, 777);
	assert_int_equal(delta.gpu[0].evicted_ms, 5);
	assert_int_equal(delta.gpu[1].evicted_ms, 392);
	assert_int_equal(delta.gpu[2].evicted_ms, 0);
	stall_evicted_delta(&unreadable, &after, &delta);
	assert_int_equal(delta.count, -1);
	stall_evicted_delta(&before, &unreadable, &delta);
	assert_int_equal(delta.count, -1);
}

static const struct stall_trial good = {.outcome = STALL_MOVED, .phase.copy_ok = true};

static int exit_code(struct stall_trial a, struct stall_trial b, unsigned int wanted)
{
	struct stall_trial trial[2] = {a, b};
	struct stall_result r = {.trials_wanted = wanted, .trials = 2, .trial = trial, .ranks = 1};

	return stall_exit_code(&r);
}

static void test_exit_code(void **state)
{
	struct stall_trial refused = good, part = good, empty = good, wrong = good;

	(void)state;
	refused.outcome = STALL_REFUSED;
	part.outcome = STALL_PART;
	empty.outcome = STALL_NO_PAGE;
	wrong.phase.copy_ok = false;
	assert_int_equal(exit_code(good, good, 2), HCW_EXIT_OK);
	assert_int_equal(exit_code(refused, refused, 2), HCW_EXIT_OK);
	assert_int_equal(exit_code(good, part, 2), HCW_EXIT_INCOMPLETE);
	assert_int_equal(exit_code(empty, good, 2), HCW_EXIT_INCOMPLETE);
	assert_int_equal(exit_code(good, good, 3), HCW_EXIT_INCOMPLETE);
	assert_int_equal(exit_code(good, wrong, 2), HCW_EXIT_FINDING);
	assert_int_equal(exit_code(part, wrong, 3), HCW_EXIT_FINDING);
}

/* A wrong copy of any rank is a wrong copy. */
static void test_ranks_exit_code(void **state)
{
	struct stall_phase phase[2] = {{.copy_ok = true}, {.copy_ok = true}};
	const struct stall_rank rank[2] = {{0}, {.trial = phase}};
	struct stall_trial trial[2] = {good, good};
	struct stall_result r = {
		.trials_wanted = 2, .trials = 2, .trial = trial, .ranks = 2, .rank = rank};

	(void)state;
	assert_int_equal(stall_exit_code(&r), HCW_EXIT_OK);
	phase[1].copy_ok = false;
	assert_int_equal(stall_exit_code(&r), HCW_EXIT_FINDING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),		cmocka_unit_test(test_distribution),
		cmocka_unit_test(test_count),		cmocka_unit_test(test_huge_pages),
		cmocka_unit_test(test_no_page),		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_evicted),		cmocka_unit_test(test_exit_code),
		cmocka_unit_test(test_ranks_exit_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
