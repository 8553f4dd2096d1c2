/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a trace: what is written is read back, and what is hostile is refused or cut. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../../user/cmd/header.h"

static const struct filter nobody;

static struct hcw_plan plan_of(bool active)
{
	struct hcw_plan plan;
	size_t i;

	memset(&plan, 0, sizeof(plan));
	for (i = 0; i < HCW_POINT_COUNT; i++)
		plan.entry[i] =
			(struct hcw_plan_entry){.point = (enum hcw_point)i,
						.tier = active ? HCW_TIER_FENTRY : HCW_TIER_OFF,
						.active = active};
	strcpy(plan.entry[HCW_POINT_QUIESCE].target, "kgd2kfd_quiesce_mm");
	strcpy(plan.entry[HCW_POINT_EVICT].reason, "bytes \xff\xfe that are no text");
	return plan;
}

static void reads_back_what_it_wrote(void **state)
{
	struct hcw_plan plan = plan_of(true);
	struct hcw_trace_info info = {0};
	struct hcw_err err;
	char *json;

	(void)state;
	plan.entry[HCW_POINT_EVICT].active = false;
	plan.entry[HCW_POINT_NOTIFIER].forced = true;
	json = header_make(&plan, getpid(), true, &nobody, NULL);
	assert_non_null(json);
	assert_int_equal(header_parse(json, strlen(json), &info, &err), 0);
	assert_int_equal(info.n_probes, HCW_POINT_COUNT);
	assert_int_equal(info.target, getpid());
	assert_string_equal(info.probe[HCW_POINT_QUIESCE].target, "kgd2kfd_quiesce_mm");
	assert_true(header_active(&info, HCW_POINT_QUIESCE));
	assert_false(header_active(&info, HCW_POINT_EVICT));
	assert_true(info.kernel[0]);
	assert_non_null(strstr(json, "{\"point\":\"notifier\",\"tier\":\"fentry\",\"target\":\"\","
				     "\"active\":true,\"forced\":true,"));
	assert_non_null(strstr(json, "\"forced\":false"));
	free(json);
}

/* Its command line is in its memory, and that is not touched. */
static void one_that_is_not_quiet_is_named_by_its_comm(void **state)
{
	struct hcw_plan plan = plan_of(true);
	struct hcw_trace_info quiet = {0}, busy = {0};
	struct hcw_err err;
	char *json;

	(void)state;
	json = header_make(&plan, getpid(), true, &nobody, NULL);
	assert_int_equal(header_parse(json, strlen(json), &quiet, &err), 0);
	free(json);
	json = header_make(&plan, getpid(), false, &nobody, NULL);
	assert_int_equal(header_parse(json, strlen(json), &busy, &err), 0);
	free(json);
	assert_non_null(strchr(quiet.target_cmdline, '/'));
	assert_int_equal(strncmp(busy.target_cmdline, "test_", 5), 0);
}

static void cuts_a_filter_that_does_not_fit(void **state)
{
	static char path[FILTER_MAX][500];
	struct hcw_plan plan = plan_of(true);
	struct hcw_trace_info info = {0};
	struct filter f = {0};
	struct hcw_err err;
	const char *why;
	char *json;
	size_t i;

	(void)state;
	for (i = 0; i < FILTER_MAX; i++) {
		memset(path[i], 'a', sizeof(path[i]) - 1);
		path[i][0] = '/';
		assert_int_equal(filter_add_cgroup(&f, path[i], &why), 0);
	}
	json = header_make(&plan, 0, true, &f, NULL);
	assert_true(strlen(json) < HEADER_MAX);
	assert_non_null(strstr(json, "\"cut\":true"));
	assert_non_null(strstr(json, path[0]));
	assert_int_equal(header_parse(json, strlen(json), &info, &err), 0);
	assert_int_equal(info.n_probes, HCW_POINT_COUNT);
	free(json);
}

static void sources_follow_the_plan(void **state)
{
	struct hcw_plan on = plan_of(true), off = plan_of(false);
	struct hcw_trace_info info = {0};
	struct hcw_err err;
	char *json = header_make(&on, 0, true, &nobody, NULL);

	(void)state;
	assert_int_equal(header_parse(json, strlen(json), &info, &err), 0);
	assert_int_equal(header_sources(&info) | 1u << HCW_R_TASK,
			 (1u << HCW_R_BPF_COUNT) - 1 - 1); /* every type but 0 */
	free(json);
	json = header_make(&off, 0, true, &nobody, NULL);
	assert_int_equal(header_parse(json, strlen(json), &info, &err), 0);
	assert_int_equal(header_sources(&info), 0);
	free(json);
}

static void refuses_what_is_no_header(void **state)
{
	static const char *const wrong[] = {"",
					    "{",
					    "[]",
					    "{}",
					    "{\"format\":2}",
					    "{\"format\":1}",
					    "{\"format\":1,\"abi\":2}",
					    "{\"format\":\"1\"}"};
	struct hcw_trace_info info = {0};
	struct hcw_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_true(header_parse(wrong[i], strlen(wrong[i]), &info, &err) < 0);
		assert_int_equal(err.code, HCW_EXIT_TRACE);
	}
}

static void survives_wrong_members(void **state)
{
	static const char text[] =
		"{\"format\":1,\"abi\":1,\"probes\":[null,7,{\"point\":3},{\"point\":"
		"\"quiesce\",\"active\":\"yes\"}],\"gpus\":{},\"target\":[],\"host\":9}";
	struct hcw_trace_info info = {0};
	struct hcw_err err;

	(void)state;
	assert_int_equal(header_parse(text, sizeof(text) - 1, &info, &err), 0);
	assert_int_equal(info.n_probes, 4);
	assert_int_equal(header_sources(&info), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_back_what_it_wrote),
		cmocka_unit_test(one_that_is_not_quiet_is_named_by_its_comm),
		cmocka_unit_test(cuts_a_filter_that_does_not_fit),
		cmocka_unit_test(sources_follow_the_plan),
		cmocka_unit_test(refuses_what_is_no_header),
		cmocka_unit_test(survives_wrong_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
