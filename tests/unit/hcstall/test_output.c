/* SPDX-License-Identifier: BSD-2-Clause */
#include <jansson.h>
#include <string.h>
#include "../../../tools/hcstall/result.h"
#include "capture.h"

static struct stall_trial trials[] = {
	{.begin_ns = 18242860279,
	 .end_ns = 19522096059,
	 .target_node = 1,
	 .pages = {512, 512},
	 .move_begin_ns = 18354110339,
	 .move_end_ns = 18403276779,
	 .mover_tid = 161,
	 .median_ns = 12811610,
	 .max_ns = 85930420,
	 .max_begin_ns = 18353600939,
	 .evicted = {2, {{52541, 72}, {61601, 68}}},
	 .copy_ok = true},
	{.target_node = 0, .pages = {512, 500, 8, 1, 2, 0, 1}, .evicted = {.count = -1}},
};

static const struct stall_result result = {
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
	.control_median_ns = 10346720,
	.control_max_ns = 26704740,
	.control_evicted = {1, {{52541, 4}}},
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
	assert_int_equal(integer(t, "max_iteration_begin_ns"), 18353600939);
	assert_true(json_real_value(json_object_get(t, "max_iteration_ms")) == 85.93042);
	assert_true(json_real_value(json_object_get(t, "median_ms")) == 12.81161);
	assert_int_equal(json_object_size(evicted), 2);
	assert_int_equal(integer(evicted, "52541"), 72);
	assert_int_equal(integer(evicted, "61601"), 68);
	assert_true(json_is_true(json_object_get(t, "copy_ok")));
}

static void check_second_trial(const json_t *t)
{
	assert_int_equal(integer(t, "moved"), 500);
	assert_int_equal(integer(t, "efault"), 8);
	assert_int_equal(integer(t, "enoent"), 1);
	assert_int_equal(integer(t, "ebusy"), 2);
	assert_int_equal(integer(t, "other"), 1);
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
	json_decref(o);
}

static void test_table(void **state)
{
	struct captured c = capture(print_table, &result);
	char *line;

	(void)state;
	assert_int_equal(c.code, 0);
	assert_non_null(strstr(c.out, "512 / 0"));
	assert_non_null(strstr(c.out, "500 / 8 EFAULT"));
	assert_non_null(strstr(c.out, "no page 1, busy 2, shared 0, other 1"));
	assert_non_null(strstr(c.out, "WRONG"));
	assert_non_null(strstr(c.out, "unknown"));
	assert_non_null(strstr(c.out, "72 68"));
	for (line = strtok(c.out, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
