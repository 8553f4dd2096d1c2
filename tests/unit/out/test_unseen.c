/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording did not see is said as such: in the report, its JSON and live's lines. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include "../../../user/out/live.h"
#include "capture.h"
#include "sample.h"

#define ENDED 14000 * MS

static char *text_of(const struct hcw_trace_info *info, struct hcw_chain *c)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	PUT(c, HCW_R_END, ENDED + 1000 * MS, 0, (struct hcw_end){.reason = HCW_END_COMMAND});
	hcw_chain_finish(c);
	report_text(f, "x.hcw", info, c, false);
	fclose(f);
	assert_true(widest(text) <= 80);
	return text;
}

static json_t *json_of(const struct hcw_trace_info *info, struct hcw_chain *c)
{
	json_t *o;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(report_json(f, "x.hcw", info, c), 0);
	fclose(f);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	free(text);
	return o;
}

/* With its line breaks taken out: a test is about words. */
static void says(const char *text, const char *words)
{
	char *flat = strdup(text);
	size_t n = 0, i;

	assert_non_null(flat);
	for (i = 0; text[i]; i++)
		if ((text[i] != ' ' && text[i] != '\n') || !n || flat[n - 1] != ' ')
			flat[n++] = text[i] == '\n' ? ' ' : text[i];
	flat[n] = '\0';
	if (!strstr(flat, words))
		fail_msg("'%s' is not in:\n%s", words, text);
	free(flat);
}

static json_int_t number(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

static struct hcw_chain *before_ended(void)
{
	struct hcw_chain *c = sample_before();

	PUT(c, HCW_R_POOL_ALLOC, 7000 * MS, 42,
	    (struct hcw_pool){.ptr = 0x7f0000000000, .bytes = 4096, .backing = 2, .tgid = 42});
	PUT(c, HCW_R_RESUME, ENDED, 7, (struct hcw_resume){.start = ENDED - MS, .mm = 0xabc});
	return c;
}

static void begun_before_in_text(void **state)
{
	struct hcw_chain *c = before_ended();
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, true);
	text = text_of(&info, c);
	says(text, "Your GPUs stood still for at least 13.90 s in 1 stall.");
	says(text, "1 began before the recording did.");
	says(text, "at least 13.90 s server (42) HCW-104");
	says(text, "began before the recording started: at least 13.90 s; who stopped them was "
		   "not seen");
	says(text, "for 1 restore pass, which was thrown away");
	says(text, "residual exposure: no stall that was seen from its start hit registered memory "
		   "outside these pools; what 1 hit that began before the recording is not known");
	assert_int_equal(report_exit(&info, hcw_chain_model(c)), HCW_EXIT_FINDING);
	free(text);
	hcw_chain_free(c);
}

static void begun_before_in_json(void **state)
{
	struct hcw_chain *c = before_ended();
	struct hcw_trace_info info;
	json_t *o, *e;

	(void)state;
	sample_info(&info, true);
	free(text_of(&info, c));
	o = json_of(&info, c);
	e = json_array_get(json_object_get(o, "episodes"), 0);
	assert_true(json_is_true(json_object_get(e, "began_before")));
	assert_true(json_is_null(json_object_get(e, "trigger")));
	assert_true(json_is_null(json_object_get(e, "started_by")));
	assert_string_equal(json_string_value(json_object_get(e, "code")), "HCW-104");
	assert_int_equal(number(e, "start_ns"), 100 * MS);
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), "stalled");
	assert_int_equal(number(o, "unpaired_restores"), 0);
	json_decref(o);
	hcw_chain_free(c);
}

static char *line_of(struct hcw_chain *c, enum live_kind kind, __u64 now)
{
	struct live_event e = {.kind = kind, .now = now};
	struct hcw_trace_info info;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	sample_info(&info, true);
	assert_int_equal(live_text(f, &info, c, &e), 0);
	fclose(f);
	assert_true(widest(text) <= 80);
	return text;
}

static void line_says(struct hcw_chain *c, enum live_kind kind, __u64 now, const char *words)
{
	char *text = line_of(c, kind, now);

	says(text, words);
	free(text);
}

static void begun_before_live(void **state)
{
	struct hcw_chain *c = sample_before();

	(void)state;
	line_says(c, LIVE_EVICTED, 6000 * MS,
		  "EVICTED server (42) since before we watched: who stopped them was not seen");
	line_says(c, LIVE_SO_FAR, 6100 * MS, "EVICTED at least 6.0 s so far server (42)");
	hcw_chain_free(c);
	c = before_ended();
	line_says(c, LIVE_RESTORED, ENDED, "RESTORED after at least 13.90 s server (42) HCW-104");
	line_says(c, LIVE_TOTALS, ENDED, "total: 1 episode, at least 13.90 s evicted, 0 stalls");
	hcw_chain_free(c);
}

/* A stall is a stall, and any other iteration is not called one. */
static void iterations_live(void **state)
{
	struct hcw_chain *c = sample_stalled();

	(void)state;
	PUT(c, HCW_R_ITER_BEGIN, 5 * MS, 42, (struct hcw_iter){.id = 1, .tgid = 42});
	PUT(c, HCW_R_ITER_END, 405 * MS, 42, (struct hcw_iter){.id = 1, .tgid = 42});
	line_says(c, LIVE_RESTORED, 405 * MS,
		  "the longest iteration that overlaps it took 400.0 ms ");
	hcw_chain_free(c);
}

static void one_of_it_has_no_s(void **state)
{
	struct hcw_chain *c = hcw_chain_new();
	struct hcw_trace_info info;
	char *text;
	__u64 i;

	(void)state;
	sample_info(&info, true);
	for (i = 0; i < 17; i++) {
		PUT(c, HCW_R_ITER_BEGIN, (10 + i) * MS, 42, (struct hcw_iter){.id = i, .tgid = 42});
		PUT(c, HCW_R_ITER_END, (i < 16 ? 11 + i : 90) * MS, 42,
		    (struct hcw_iter){.id = i, .tgid = 42});
	}
	PUT(c, HCW_R_HOLE, 95 * MS, 0,
	    (struct hcw_hole){
		    .from = MS, .to = 2 * MS, .count = 1, .source = HCW_R_INVAL, .cause = 1});
	text = text_of(&info, c);
	says(text, " 1 notifier record was lost");
	says(text, " 1 iteration took unusually long without a stopped queue: look elsewhere for "
		   "its cause");
	free(text);
	hcw_chain_free(c);
}

/* Restarts whose stop may have been lost: no stall, and no health either. */
static void what_matches_nothing(void **state)
{
	struct hcw_chain *c = hcw_chain_new();
	struct hcw_trace_info info;
	char *text;
	json_t *o;

	(void)state;
	sample_info(&info, true);
	hcw_chain_sources(c, ~0u & ~(1u << HCW_R_RESTORE));
	PUT(c, HCW_R_PASS, 60 * MS, 7, (struct hcw_pass){.start = 50 * MS, .mm = 0xabc});
	PUT(c, HCW_R_RESUME, 70 * MS, 7, (struct hcw_resume){.start = 69 * MS, .mm = 0xabc});
	PUT(c, HCW_R_QUIESCE, 80 * MS, 7, (struct hcw_quiesce){.start = 79 * MS, .ret = -3});
	PUT(c, HCW_R_QUIESCE, 90 * MS, 7, (struct hcw_quiesce){.start = 89 * MS, .ret = -3});
	text = text_of(&info, c);
	says(text, "INCOMPLETE");
	says(text, "not matched 1 restart of queues whose stop was not seen; 1 restore pass in no "
		   "stall that was seen; 2 stops that KFD refused");
	says(text, "this says nothing either way");
	o = json_of(&info, c);
	assert_int_equal(number(o, "unpaired_restores"), 1);
	assert_int_equal(number(o, "unattributed_passes"), 1);
	assert_int_equal(number(o, "noise"), 2);
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), "cannot-tell");
	assert_int_equal(report_exit(&info, hcw_chain_model(c)), HCW_EXIT_INCOMPLETE);
	json_decref(o);
	free(text);
	hcw_chain_free(c);
}

struct named {
	struct hcw_stack stack;
	char name[8];
};

/* Figures that are less than what happened: marks without their other one, stacks and charges too
 * many to keep. */
static void what_is_not_counted(void **state)
{
	struct hcw_chain *c = sample_stalled();
	struct hcw_trace_info info;
	char *text;
	__u32 i;

	(void)state;
	sample_info(&info, true);
	PUT(c, HCW_R_ITER_END, 405 * MS, 42, (struct hcw_iter){.id = 1, .tgid = 42});
	PUT(c, HCW_R_ITER_END, 406 * MS, 43, (struct hcw_iter){.id = 2, .tgid = 42});
	for (i = 0; i < 8; i++)
		PUT(c, HCW_R_INVAL, 300 * MS, 100 + i,
		    (struct hcw_inval){.start = 300 * MS, .mm = 0xabc, .count = 1, .victim = 42});
	PUT(c, HCW_R_PASS, 350 * MS, 7, (struct hcw_pass){.start = 200 * MS, .mm = 0xabc});
	for (i = 0; i < 4100; i++)
		PUT(c, HCW_R_STACK, 407 * MS, 0,
		    (struct named){.stack = {.id = (__s32)i, .depth = 1}, .name = "f"});
	text = text_of(&info, c);
	says(text, "not counted 2 marks of iterations without their other one; 4 iterations, "
		   "unusually long ones or stacks too many to keep; 1 invalidation or restore pass "
		   "too many to charge to one thread");
	says(text, ". Further threads prolonged it by ");
	free(text);
	hcw_chain_free(c);
}

static void all_is_counted(void **state)
{
	struct hcw_chain *c = sample_stalled();
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, true);
	text = text_of(&info, c);
	assert_null(strstr(text, "not counted"));
	free(text);
	hcw_chain_free(c);
}

static void add_probe(struct hcw_trace_info *info, const char *point, bool active)
{
	strcpy(info->probe[info->n_probes].point, point);
	info->probe[info->n_probes++].active = active;
}

/* Without the restore worker nobody can be seen to prolong anything. */
static void prolonging_untraced(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct hcw_chain *c = sample_stalled();
		struct hcw_trace_info info;
		char *text;

		sample_info(&info, true);
		add_probe(&info, "restore_pass", i & 1);
		add_probe(&info, "restore_fault", i & 2);
		text = text_of(&info, c);
		if (i < 3)
			says(text, "Who prolonged it was not traced");
		else
			assert_null(strstr(text, "was not traced"));
		free(text);
		hcw_chain_free(c);
	}
}

static void check_target(__u32 target, bool sample, const char *verdict, const char *words)
{
	struct hcw_chain *c = hcw_chain_new();
	struct hcw_trace_info info;
	char *text;
	json_t *o;

	sample_info(&info, true);
	info.target = target;
	if (sample)
		PUT(c, HCW_R_SAMPLE, 60 * MS, 0, (struct hcw_sample){.pid = target, .gpuid = 1});
	text = text_of(&info, c);
	says(text, words);
	o = json_of(&info, c);
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), verdict);
	if (!target)
		assert_true(json_is_null(json_object_get(o, "seen_at_kfd")));
	else
		assert_int_equal(json_is_true(json_object_get(o, "seen_at_kfd")), sample);
	json_decref(o);
	free(text);
	hcw_chain_free(c);
}

/* Silence of a process that never used the GPU is no health. */
static void never_at_kfd(void **state)
{
	(void)state;
	check_target(42, false, "cannot-tell",
		     "no watched process was seen at KFD: neither process 42 nor a child");
	check_target(42, false, "cannot-tell", "record the process that uses the GPU");
	check_target(42, true, "clean", "No episode: nothing stopped");
	check_target(0, false, "clean", "No episode: nothing stopped");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begun_before_in_text), cmocka_unit_test(begun_before_in_json),
		cmocka_unit_test(begun_before_live),	cmocka_unit_test(iterations_live),
		cmocka_unit_test(what_matches_nothing), cmocka_unit_test(never_at_kfd),
		cmocka_unit_test(one_of_it_has_no_s),	cmocka_unit_test(what_is_not_counted),
		cmocka_unit_test(all_is_counted),	cmocka_unit_test(prolonging_untraced),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
