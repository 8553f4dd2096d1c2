/* SPDX-License-Identifier: BSD-2-Clause */
/* The lab's table and its JSON: stable names, at most 80 columns, strings of others escaped. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include "../../../user/out/lab.h"
#include "capture.h"

static struct lab_arm *registered(void)
{
	struct lab_arm *a = calloc(1, sizeof(*a));

	strcpy(a->allocator, "registered");
	a->pool_bytes = 536870912;
	a->control_median_ms = 0.7;
	a->control_max_ms = 1.2;
	a->n_trials = 1;
	a->trial[0] = (struct lab_trial){
		.attempted = 512,
		.moved = 512,
		.traced_moved = 512,
		.max_iteration_ms = 396.1,
		.evicted = {{52541, 392}, {61601, 392}},
		.n_evicted = 2,
		.evicted_known = true,
		.episodes = 1,
		.passes = 2,
		.episode_ns = 391800000,
		.actor = {.tid = 159, .tgid = 158, .comm = "hcstall"},
	};
	a->verdict = HCW_VERDICT_EXPOSED;
	a->evidence = HCW_EVIDENCE_TRIAL;
	a->reasons = HCW_WHY_MOVED | HCW_WHY_EPISODE;
	a->measured = true;
	return a;
}

static struct lab_arm *gtt(void)
{
	struct lab_arm *a = calloc(1, sizeof(*a));

	strcpy(a->allocator, "gtt");
	a->n_trials = 1;
	a->trial[0] = (struct lab_trial){.attempted = 512, .efault = 512, .max_iteration_ms = 1.1};
	a->verdict = HCW_VERDICT_IMMUNE;
	a->evidence = HCW_EVIDENCE_TRIAL;
	a->reasons = HCW_WHY_DRIVER_PAGES | HCW_WHY_REFUSED;
	return a;
}

static void result_make(struct lab_result *r)
{
	memset(r, 0, sizeof(*r));
	strcpy(r->device, "simulated test GPU");
	strcpy(r->driver, "gpusim");
	strcpy(r->info.kernel, "6.1.0-57-amd64");
	r->simulated = true;
	r->n_gpus = 2;
	r->info.n_probes = 1;
	strcpy(r->info.probe[0].point, "quiesce");
	strcpy(r->info.probe[0].tier, "fentry");
	r->info.probe[0].active = true;
	r->arm[0] = registered();
	r->arm[1] = gtt();
	r->n_arms = 2;
}

static void result_free(struct lab_result *r)
{
	free(r->arm[0]);
	free(r->arm[1]);
}

static char *text_of(const struct lab_result *r)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	lab_text(f, r);
	fclose(f);
	return text;
}

static json_t *json_of(const struct lab_result *r)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	json_t *o;

	assert_int_equal(lab_json(f, r), 0);
	fclose(f);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	free(text);
	return o;
}

static void table_says_it_all(void **state)
{
	struct lab_result r;
	char *text;

	(void)state;
	result_make(&r);
	text = text_of(&r);
	assert_true(widest(text) <= 80);
	assert_non_null(strstr(text, "512 / 0"));
	assert_non_null(strstr(text, "0 / 512 EFAULT"));
	assert_non_null(strstr(text, "392 392"));
	assert_non_null(strstr(text, "391.8  hcstall (158)"));
	assert_non_null(strstr(text, "EXPOSED"));
	assert_non_null(strstr(text, "IMMUNE"));
	assert_non_null(strstr(text, "Simulated GPU"));
	/* not readable is not zero */
	assert_non_null(strstr(text, "unknown"));
	free(text);
	r.simulated = false;
	text = text_of(&r);
	assert_null(strstr(text, "Simulated"));
	free(text);
	result_free(&r);
}

/* The names of schema 1 are a promise. */
static void json_keeps_its_names(void **state)
{
	static const char *const trial_names[] = {
		"attempted", "moved",	     "efault",
		"other",     "traced_moved", "max_iteration_ms",
		"episodes",  "episode_ms",   "evicted_ms_delta",
		"passes",    "actor",
	};
	static const char *const arm_names[] = {
		"allocator", "pool_bytes", "control_median_ms", "control_max_ms",
		"trials",    "verdict",	   "evidence",		"reasons",
	};
	static const char *const names[] = {"schema", "device", "kernel", "probes", "lost", "arms"};
	struct lab_result r;
	json_t *o, *arm, *trial;
	size_t i;

	(void)state;
	result_make(&r);
	o = json_of(&r);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(json_object_get(o, names[i]));
	arm = json_array_get(json_object_get(o, "arms"), 0);
	for (i = 0; i < sizeof(arm_names) / sizeof(arm_names[0]); i++)
		assert_non_null(json_object_get(arm, arm_names[i]));
	trial = json_array_get(json_object_get(arm, "trials"), 0);
	for (i = 0; i < sizeof(trial_names) / sizeof(trial_names[0]); i++)
		assert_non_null(json_object_get(trial, trial_names[i]));
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(trial, "evicted_ms_delta"), "52541")),
			 392);
	arm = json_array_get(json_object_get(o, "arms"), 1);
	trial = json_array_get(json_object_get(arm, "trials"), 0);
	assert_true(json_is_null(json_object_get(trial, "evicted_ms_delta")));
	assert_true(json_is_null(json_object_get(trial, "actor")));
	json_decref(o);
	result_free(&r);
}

/* A trigger that moves nothing has an outcome, and no pages. */
static void trigger_without_pages(void **state)
{
	struct lab_result r;
	json_t *o, *trial;
	char *text;

	(void)state;
	result_make(&r);
	strcpy(r.trigger, "fork");
	r.arm[0]->trial[0].attempted = r.arm[0]->trial[0].moved = 0;
	strcpy(r.arm[0]->trial[0].outcome, "done");
	text = text_of(&r);
	assert_true(widest(text) <= 80);
	assert_non_null(strstr(text, "trigger  fork"));
	assert_non_null(strstr(text, "1  done "));
	assert_null(strstr(text, "0 / 0"));
	free(text);
	o = json_of(&r);
	assert_string_equal(json_string_value(json_object_get(o, "trigger")), "fork");
	trial = json_array_get(
		json_object_get(json_array_get(json_object_get(o, "arms"), 0), "trials"), 0);
	assert_string_equal(json_string_value(json_object_get(trial, "outcome")), "done");
	json_decref(o);
	result_free(&r);
}

static void hostile_strings_are_escaped(void **state)
{
	struct lab_result r;
	char *text;
	json_t *o;

	(void)state;
	result_make(&r);
	memcpy(r.arm[0]->trial[0].actor.comm, "\033[2J\xff\x01\n\r\"\\", 10);
	strcpy(r.device, "\033]0;x\007");
	text = text_of(&r);
	assert_false(has_control(text));
	free(text);
	o = json_of(&r);
	json_decref(o);
	result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_says_it_all),
		cmocka_unit_test(json_keeps_its_names),
		cmocka_unit_test(trigger_without_pages),
		cmocka_unit_test(hostile_strings_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
