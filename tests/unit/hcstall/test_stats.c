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
	assert_int_equal(stall_times_median(&t), 20);
	assert_int_equal(t.max_ns, 400);
	assert_int_equal(t.max_begin_ns, 500);
	/* a clock that stands still is no underflow */
	stall_times_add(&t, 600, 600);
	assert_int_equal(t.max_ns, 400);
}

static void test_count(void **state)
{
	const int status[] = {1, 1, 0, -14, -2, -16, -13, -5, STALL_NO_ANSWER, -19};
	struct stall_pages p = stall_count(status, 10, 1);

	(void)state;
	assert_int_equal(p.attempted, 10);
	assert_int_equal(p.moved, 2);
	assert_int_equal(p.efault, 1);
	assert_int_equal(p.enoent, 1);
	assert_int_equal(p.ebusy, 1);
	assert_int_equal(p.eacces, 1);
	assert_int_equal(p.other, 4); /* node 0, -EIO, no answer, -ENODEV */
	/* the same answers, asked for the other node */
	p = stall_count(status, 10, 0);
	assert_int_equal(p.moved, 1);
	assert_int_equal(p.other, 5);
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

static const struct stall_trial moved = {.pages = {512, 512}, .copy_ok = true};
static const struct stall_trial refused = {.pages = {.attempted = 512, .efault = 512},
					   .copy_ok = true};

static int exit_code(struct stall_trial a, struct stall_trial b, unsigned int wanted)
{
	struct stall_trial trial[2] = {a, b};
	struct stall_result r = {.trials_wanted = wanted, .trials = 2, .trial = trial};

	return stall_exit_code(&r);
}

static void test_exit_code(void **state)
{
	struct stall_trial mixed = {.pages = {512, 300, 212}, .copy_ok = true};
	struct stall_trial unpopulated = {.pages = {.attempted = 512, .enoent = 512},
					  .copy_ok = true};
	struct stall_trial positive = moved, wrong = moved, wrong_mixed = mixed;

	(void)state;
	positive.rc = 3;
	wrong.copy_ok = wrong_mixed.copy_ok = false;
	assert_int_equal(exit_code(moved, moved, 2), HCW_EXIT_OK);
	assert_int_equal(exit_code(refused, refused, 2), HCW_EXIT_OK);
	assert_int_equal(exit_code(moved, mixed, 2), HCW_EXIT_INCOMPLETE);
	assert_int_equal(exit_code(unpopulated, moved, 2), HCW_EXIT_INCOMPLETE);
	assert_int_equal(exit_code(moved, positive, 2), HCW_EXIT_INCOMPLETE);
	assert_int_equal(exit_code(moved, moved, 3), HCW_EXIT_INCOMPLETE);
	assert_int_equal(exit_code(moved, wrong, 2), HCW_EXIT_FINDING);
	assert_int_equal(exit_code(mixed, wrong, 3), HCW_EXIT_FINDING);
	assert_int_equal(exit_code(wrong_mixed, mixed, 2), HCW_EXIT_FINDING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_evicted),
		cmocka_unit_test(test_exit_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
