/* SPDX-License-Identifier: BSD-2-Clause */
/* hcstall's JSON taken, and its trials joined with a model. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "../../../user/cmd/lab_internal.h"

static const char good[] =
	"{\"schema\":1,\"allocator\":\"registered\",\"pool_bytes\":67108864,\"pool_ptr\":\"0x7f0000000000\","
	"\"pid\":42,\"trigger\":\"move_pages-other\",\"device\":{\"name\":\"a GPU\",\"driver\":\"gpusim\",\"simulated\":true,"
	"\"gpus\":[{\"render\":128},{\"render\":129}]},\"gemm\":\"gemm: modelled\","
	"\"control_median_ms\":0.7,\"control_max_ms\":1.5,\"trials\":[{\"begin_ns\":1000,\"end_ns\":2000,"
	"\"outcome\":\"part\",\"mover_pid\":44,\"attempted\":512,\"moved\":500,\"efault\":4,\"enoent\":1,\"ebusy\":2,\"eacces\":2,\"other\":3,"
	"\"max_iteration_ms\":390.5,\"evicted_ms_delta\":{\"52541\":388,\"61601\":392}},"
	"{\"begin_ns\":3000,\"end_ns\":4000,\"attempted\":512,\"evicted_ms_delta\":null}]}";

static void takes_every_member(void **state)
{
	struct lab_result res = {0};
	struct lab_arm arm = {0};
	struct hcw_err err;
	__u32 pid;
	__u64 ptr;

	(void)state;
	assert_int_equal(lab_parse(good, sizeof(good) - 1, &res, &arm, &pid, &ptr, &err), 0);
	assert_int_equal(pid, 42);
	assert_int_equal(ptr, 0x7f0000000000);
	assert_int_equal(res.n_gpus, 2);
	assert_true(res.simulated);
	assert_int_equal(arm.n_trials, 2);
	assert_int_equal(arm.trial[0].moved, 500);
	assert_int_equal(arm.trial[0].other, 8);
	assert_string_equal(res.trigger, "move_pages-other");
	assert_string_equal(arm.trial[0].outcome, "part");
	assert_int_equal(arm.trial[0].mover_pid, 44);
	assert_string_equal(arm.trial[1].outcome, "");
	assert_int_equal(arm.trial[0].n_evicted, 2);
	assert_int_equal(arm.trial[0].evicted[1].gpuid, 61601);
	assert_int_equal(arm.trial[0].evicted[1].ms, 392);
	assert_true(arm.trial[0].evicted_known);
	assert_false(arm.trial[1].evicted_known);
}

/* Whatever comes through the pipe: an error or an arm, never a crash. */
static void survives_cut_and_wrong_json(void **state)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"null",
		"{}",
		"{\"trials\":7}",
		"{\"trials\":[null,[],{\"evicted_ms_delta\":{\"x\":1}}]}",
		"{\"device\":[],\"pool_ptr\":3,\"pid\":-1}"};
	struct hcw_err err;
	__u32 pid;
	__u64 ptr;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) - 1; i++) {
		struct lab_result res = {0};
		struct lab_arm arm = {0};

		assert_true(lab_parse(good, i, &res, &arm, &pid, &ptr, &err) < 0);
		assert_int_equal(err.code, HCW_EXIT_INCOMPLETE);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct lab_result res = {0};
		struct lab_arm arm = {0};

		lab_parse(wrong[i], strlen(wrong[i]), &res, &arm, &pid, &ptr, &err);
	}
}

static struct hcw_episode episode(__u64 start, __u64 end, __u32 victim, __u32 passes)
{
	return (struct hcw_episode){.start = start,
				    .end = end,
				    .victim = victim,
				    .passes = passes,
				    .started_by = {.tid = 43, .tgid = 42, .comm = "mover"}};
}

static void joins_by_time_and_process(void **state)
{
	struct hcw_episode ep[] = {
		episode(900, 950, 42, 9),   /* before the trial */
		episode(1000, 1100, 42, 2), /* in it */
		episode(1200, 1230, 42, 1), /* in it */
		episode(1300, 1400, 7, 5),  /* another process */
		episode(3500, 0, 42, 1),    /* in the second trial, open */
	};
	struct hcw_attempt at[] = {
		{.start = 1010, .is_move_pages = true, .actor = {.tgid = 42}, .migrated = 512},
		{.start = 1020, .is_move_pages = true, .actor = {.tgid = 7}, .migrated = 3},
	};
	struct hcw_pool_info pool = {.ptr = 0x1000,
				     .bytes = 4096,
				     .tgid = 42,
				     .verdict = HCW_VERDICT_EXPOSED,
				     .evidence = HCW_EVIDENCE_TRIAL,
				     .reasons = HCW_WHY_MOVED};
	struct hcw_model m = {.episodes = ep,
			      .n_episodes = 5,
			      .attempts = at,
			      .n_attempts = 2,
			      .pools = &pool,
			      .n_pools = 1,
			      .last_ts = 3600};
	struct lab_arm arm = {
		.n_trials = 2,
		.trial = {{.begin_ns = 1000, .end_ns = 2000}, {.begin_ns = 3000, .end_ns = 4000}}};

	(void)state;
	m.totals[HCW_R_MIGRATE].emitted = 1;
	lab_join(&arm, &m, 42, 0x1000);
	assert_int_equal(arm.trial[0].episodes, 2);
	assert_int_equal(arm.trial[0].passes, 3);
	assert_int_equal(arm.trial[0].episode_ns, 130);
	assert_int_equal(arm.trial[0].traced_moved, 512);
	assert_int_equal(arm.trial[0].actor.tid, 43);
	assert_false(arm.trial[0].open);
	assert_true(arm.trial[1].open);
	assert_int_equal(arm.trial[1].episode_ns, 100);
	assert_int_equal(arm.verdict, HCW_VERDICT_EXPOSED);
}

/* What the kernel moved by itself is not what was asked for, whoever it happened to. */
static void counts_what_was_asked_for(void **state)
{
	struct hcw_attempt at[] = {
		{.start = 1010, .is_move_pages = true, .actor = {.tgid = 44}, .migrated = 512},
		{.start = 1020, .reason = 3, .actor = {.tgid = 42}, .migrated = 100},
		{.start = 1030, .reason = 4, .actor = {.tgid = 42}, .migrated = 10},
		{.start = 1040, .reason = 0, .actor = {.tgid = 42}, .migrated = 7},
		{.start = 1050, .reason = 3, .actor = {.tgid = 45}, .migrated = 5},
	};
	struct hcw_model m = {.attempts = at, .n_attempts = 5, .last_ts = 3600};
	struct lab_arm arm = {.n_trials = 1,
			      .trial = {{.begin_ns = 1000, .end_ns = 2000, .mover_pid = 44}}};

	(void)state;
	m.totals[HCW_R_MIGRATE].emitted = 1;
	lab_join(&arm, &m, 42, 0x1000);
	assert_int_equal(arm.trial[0].traced_moved, 622);
}

static void kinds_of_arms(void **state)
{
	size_t i, by_default = 0;

	(void)state;
	for (i = 0; lab_kinds[i].name; i++)
		by_default += lab_kinds[i].by_default;
	assert_int_equal(by_default, 2);
	assert_string_equal(lab_kind_find("registered")->userptr, "0");
	assert_string_equal(lab_kind_find("gtt")->userptr, "0");
	assert_null(lab_kind_find("userptr")->userptr);
	assert_null(lab_kind_find("pageable"));
}

/* In the lab a mapping alone concludes nothing, and a pool nobody announced neither. */
static void only_a_trial_concludes(void **state)
{
	struct hcw_pool_info pool = {.ptr = 0x1000,
				     .tgid = 42,
				     .verdict = HCW_VERDICT_IMMUNE,
				     .evidence = HCW_EVIDENCE_MAPPING};
	struct hcw_model m = {.pools = &pool, .n_pools = 1};
	struct lab_arm arm = {0}, other = {0};

	(void)state;
	lab_join(&arm, &m, 42, 0x1000);
	assert_int_equal(arm.verdict, HCW_VERDICT_INCONCLUSIVE);
	lab_join(&other, &m, 43, 0x1000);
	assert_int_equal(other.verdict, HCW_VERDICT_INCONCLUSIVE);
	assert_int_equal(other.reasons, HCW_WHY_PROBE_MISSING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_every_member),
		cmocka_unit_test(survives_cut_and_wrong_json),
		cmocka_unit_test(joins_by_time_and_process),
		cmocka_unit_test(counts_what_was_asked_for),
		cmocka_unit_test(kinds_of_arms),
		cmocka_unit_test(only_a_trial_concludes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
