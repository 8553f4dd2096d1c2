/* SPDX-License-Identifier: BSD-2-Clause */
#include <jansson.h>
#include <string.h>
#include "../../../tools/hcstall/result.h"
#include "capture.h"

static struct stall_trial trials[] = {
	{.begin_ns = 18242860279,
	 .end_ns = 19522096059,
	 .target_node = 1,
	 .pages = {.attempted = 512, .moved = 512, .requeried = 1},
	 .outcome = STALL_MOVED,
	 .move_begin_ns = 18354110339,
	 .move_end_ns = 18403276779,
	 .mover_pid = 160,
	 .mover_tid = 161,
	 .phase = {.dist = {100, 12000000, 13000000, 70000000, 85000000, 85930420},
		   .median_ns = 12811610,
		   .max_begin_ns = 18353600939,
		   .evicted = {2, {{52541, 72}, {61601, 68}}},
		   .copy_ok = true}},
	{.target_node = 0,
	 .pages = {.attempted = 512,
		   .moved = 498,
		   .already = 2,
		   .efault = 8,
		   .enoent = 1,
		   .ebusy = 1,
		   .other = 1,
		   .unanswered = 1},
	 .outcome = STALL_PART,
	 .phase = {.evicted = {.count = -1}}},
};

static struct stall_phase rank_trials[] = {
	{.dist = {.max = 84000000}, .copy_ok = true, .evicted = {1, {{52541, 0}}}},
	{.dist = {.max = 1000000}, .copy_ok = true, .evicted = {1, {{52541, 0}}}},
};

static const struct stall_rank rank_table[] = {
	{0},
	{.pid = 170,
	 .pool = {.host = (void *)0x7f0000000000, .bytes = 67108864},
	 .control = {.median_ns = 10000000},
	 .trial = rank_trials},
};

static struct stall_result result = {
	.allocator = "registered",
	.pool = {.host = (void *)0x7f7dabb0c000,
		 .device = (void *)0x7f7da7b0c000,
		 .bytes = 67108864},
	.device_name = "simulated test GPU",
	.driver = "gpusim",
	.simulated = true,
	.gpu = {{128, "gpusim", 1, 0, 0}, {129, "gpusim", 1, 0, 0}},
	.gpus = 2,
	.gemm = "gemm: modelled",
	.node = {0, 2},
	.nodes = 2,
	.iterations = 100,
	.control = {.dist = {100, 10000000, 11000000, 20000000, 26000000, 26704740},
		    .median_ns = 10346720,
		    .evicted = {1, {{52541, 4}}}},
	.gemm_n = 4096,
	.copy_bytes = 16777216,
	.window_bytes = 2097152,
	.ranks = 2,
	.rank = rank_table,
	.trials_wanted = 2,
	.trials = 2,
	.trial = trials,
};

static int print_json(const void *arg)
{
	return stall_print_json(arg) ? 1 : 0;
}

static int print_table(const void *arg)
{
	return stall_print_table(arg) ? 1 : 0;
}

static json_int_t integer(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v))
		fail_msg("%s is not an integer", key);
	return json_integer_value(v);
}

static double real(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_real(v))
		fail_msg("%s is not a real", key);
	return json_real_value(v);
}

static void check_ranks(const json_t *list)
{
	const json_t *second = json_array_get(list, 1);

	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(integer(json_array_get(list, 0), "rank"), 0);
	assert_true(real(json_array_get(list, 0), "max_iteration_ms") == 85.93042);
	assert_int_equal(integer(second, "rank"), 1);
	assert_int_equal(integer(second, "pid"), 170);
	assert_string_equal(json_string_value(json_object_get(second, "pool_ptr")),
			    "0x7f0000000000");
	assert_true(real(second, "max_iteration_ms") == 84);
	assert_true(real(second, "control_median_ms") == 10);
	assert_int_equal(json_array_size(json_object_get(second, "trials")), 2);
}

static void check_first_trial(const json_t *t)
{
	static const char *const pages[] = {"efault", "enoent", "ebusy", "eacces", "other"};
	const json_t *evicted = json_object_get(t, "evicted_ms_delta");
	size_t i;

	assert_int_equal(integer(t, "begin_ns"), 18242860279);
	assert_int_equal(integer(t, "end_ns"), 19522096059);
	assert_int_equal(integer(t, "target_node"), 1);
	assert_int_equal(integer(t, "rc"), 0);
	assert_int_equal(integer(t, "errno"), 0);
	assert_int_equal(integer(t, "attempted"), 512);
	assert_int_equal(integer(t, "moved"), 512);
	for (i = 0; i < 5; i++)
		assert_int_equal(integer(t, pages[i]), 0);
	assert_int_equal(integer(t, "move_begin_ns"), 18354110339);
	assert_int_equal(integer(t, "move_end_ns"), 18403276779);
	assert_int_equal(integer(t, "mover_tid"), 161);
	assert_int_equal(integer(t, "mover_pid"), 160);
	assert_int_equal(integer(t, "requeried"), 1);
	assert_string_equal(json_string_value(json_object_get(t, "outcome")), "moved");
	assert_int_equal(integer(t, "max_iteration_begin_ns"), 18353600939);
	assert_int_equal(integer(json_object_get(t, "distribution_ms"), "count"), 100);
	assert_true(real(json_object_get(t, "distribution_ms"), "p99_9") == 85);
	assert_true(real(json_object_get(t, "distribution_ms"), "max") == 85.93042);
	assert_true(json_real_value(json_object_get(t, "max_iteration_ms")) == 85.93042);
	assert_true(json_real_value(json_object_get(t, "median_ms")) == 12.81161);
	assert_int_equal(json_object_size(evicted), 2);
	assert_int_equal(integer(evicted, "52541"), 72);
	assert_int_equal(integer(evicted, "61601"), 68);
	assert_true(json_is_true(json_object_get(t, "copy_ok")));
}

static void check_second_trial(const json_t *t)
{
	assert_int_equal(integer(t, "moved"), 498);
	assert_int_equal(integer(t, "already"), 2);
	assert_int_equal(integer(t, "efault"), 8);
	assert_int_equal(integer(t, "enoent"), 1);
	assert_int_equal(integer(t, "ebusy"), 1);
	assert_int_equal(integer(t, "other"), 2); /* the unanswered one, too */
	assert_int_equal(integer(t, "unanswered"), 1);
	assert_string_equal(json_string_value(json_object_get(t, "outcome")), "part");
	assert_true(json_is_null(json_object_get(t, "evicted_ms_delta")));
	assert_true(json_is_false(json_object_get(t, "copy_ok")));
}

static void test_json(void **state)
{
	struct captured c = capture(print_json, &result);
	json_t *o = json_loads(c.out, JSON_REJECT_DUPLICATES, NULL);
	json_t *device = json_object_get(o, "device"), *gpus = json_object_get(device, "gpus");
	json_t *list = json_object_get(o, "trials");

	(void)state;
	assert_int_equal(c.code, 0);
	assert_string_equal(c.err, "");
	assert_int_equal(strcspn(c.out, "\n"), strlen(c.out) - 1); /* one object, one line */
	assert_int_equal(integer(o, "schema"), 1);
	assert_int_equal(integer(o, "pool_bytes"), 67108864);
	assert_string_equal(json_string_value(json_object_get(o, "allocator")), "registered");
	assert_string_equal(json_string_value(json_object_get(o, "pool_ptr")), "0x7f7dabb0c000");
	assert_string_equal(json_string_value(json_object_get(o, "device_ptr")), "0x7f7da7b0c000");
	assert_string_equal(json_string_value(json_object_get(o, "mover_comm")), "hcstall-mover");
	assert_string_equal(json_string_value(json_object_get(o, "gemm")), "gemm: modelled");
	assert_true(json_is_true(json_object_get(device, "simulated")));
	assert_int_equal(json_array_size(gpus), 2);
	assert_int_equal(integer(json_array_get(gpus, 1), "render"), 129);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(o, "nodes"), 1)), 2);
	assert_int_equal(integer(json_object_get(o, "control_evicted_ms_delta"), "52541"), 4);
	assert_int_equal(json_array_size(list), 2);
	check_first_trial(json_array_get(list, 0));
	check_second_trial(json_array_get(list, 1));
	check_ranks(json_object_get(o, "ranks"));
	assert_string_equal(json_string_value(json_object_get(o, "trigger")), "move_pages");
	assert_int_equal(integer(o, "window_bytes"), 2097152);
	assert_int_equal(integer(o, "copy_bytes"), 16777216);
	assert_int_equal(integer(o, "gemm_n"), 4096);
	assert_int_equal(integer(o, "huge_bytes"), 0);
	assert_true(real(json_object_get(o, "control_distribution_ms"), "p99") == 20);
	json_decref(o);
}

static void test_table(void **state)
{
	struct captured c = capture(print_table, &result);
	char *line;

	(void)state;
	assert_int_equal(c.code, 0);
	assert_non_null(strstr(c.out, "512 / 0"));
	assert_non_null(strstr(c.out, "498 / 14"));
	assert_non_null(
		strstr(c.out, "no page 9, busy 1, shared 0, other 1, unanswered 1, already 2"));
	assert_non_null(strstr(c.out, "move_pages on the first 2 MiB; 2 ranks"));
	assert_non_null(strstr(c.out, "rank 1 "));
	assert_non_null(strstr(c.out, "WRONG"));
	assert_non_null(strstr(c.out, "unknown"));
	assert_non_null(strstr(c.out, "72 68"));
	for (line = strtok(c.out, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
}

/* A trigger that moves nothing shows its word; driver memory its refusal, whichever it is. */
static void test_other_outcomes(void **state)
{
	struct stall_trial one[] = {{.outcome = STALL_DONE, .phase = {.copy_ok = true}},
				    {.outcome = STALL_REFUSED, .rc = -1, .error = 22}};
	struct stall_result r = result;
	struct captured c;

	(void)state;
	r.trigger = stall_trigger_find("madvise-pageout");
	r.trial = one;
	r.ranks = 1;
	c = capture(print_table, &r);
	assert_non_null(strstr(c.out, "1  done "));
	assert_non_null(strstr(c.out, "2  refused "));
	one[0] = (struct stall_trial){.outcome = STALL_REFUSED,
				      .pages = {.attempted = 512, .enoent = 512}};
	one[1] = (struct stall_trial){.outcome = STALL_REFUSED,
				      .pages = {.attempted = 512, .efault = 512}};
	r.trigger = stall_trigger_default();
	c = capture(print_table, &r);
	assert_non_null(strstr(c.out, "0 / 512 ENOENT"));
	assert_non_null(strstr(c.out, "0 / 512 EFAULT"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_other_outcomes),
	};

	result.trigger = stall_trigger_default();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
