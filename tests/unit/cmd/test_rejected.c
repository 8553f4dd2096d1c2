/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose records are dropped: those of processes not taken, and nobody else's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "../../../user/cmd/rejected.h"

struct task_rec {
	struct hcw_rec rec;
	struct hcw_task body;
};

struct exit_rec {
	struct hcw_rec rec;
	struct hcw_task_exit body;
};

static void task(struct rejected *t, __u32 tgid, int watched)
{
	struct task_rec r = {.rec = {.type = HCW_R_TASK, .len = sizeof(r.body)},
			     .body = {.tid = tgid, .tgid = tgid}};

	rejected_record(t, &r.rec, watched);
}

static void ends(struct rejected *t, __u32 tgid, __u32 last)
{
	struct exit_rec r = {.rec = {.type = HCW_R_TASK_EXIT, .len = sizeof(r.body)},
			     .body = {.tid = tgid, .tgid = tgid, .last = last}};

	rejected_record(t, &r.rec, 0);
}

static void one_that_is_taken_after_all_is_heard(void **state)
{
	struct rejected t = {0};

	(void)state;
	rejected_add(&t, 42);
	rejected_add(&t, 43);
	task(&t, 42, HCW_WATCHED_TRIAL);
	assert_true(rejected_has(&t, 42));
	task(&t, 42, 0);
	assert_true(rejected_has(&t, 42));
	task(&t, 42, HCW_WATCHED);
	assert_false(rejected_has(&t, 42));
	assert_true(rejected_has(&t, 43));
}

static void a_number_is_free_when_its_process_has_ended(void **state)
{
	struct rejected t = {0};

	(void)state;
	rejected_add(&t, 42);
	ends(&t, 42, 0);
	assert_true(rejected_has(&t, 42));
	ends(&t, 42, 1);
	assert_false(rejected_has(&t, 42));
}

static void the_oldest_is_forgotten(void **state)
{
	struct rejected t = {0};
	__u32 i;

	(void)state;
	assert_false(rejected_has(&t, 0));
	for (i = 1; i <= REJECTED_MAX + 1; i++) {
		rejected_add(&t, i);
		rejected_add(&t, i);
	}
	assert_false(rejected_has(&t, 1));
	for (i = 2; i <= REJECTED_MAX + 1; i++)
		assert_true(rejected_has(&t, i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_taken_after_all_is_heard),
		cmocka_unit_test(a_number_is_free_when_its_process_has_ended),
		cmocka_unit_test(the_oldest_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
