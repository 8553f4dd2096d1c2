/* SPDX-License-Identifier: BSD-2-Clause */
/* `hcwatch report --json`: names that stay, three verdicts, strict JSON whatever is in the trace.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include "sample.h"

static json_t *json_of(const struct hcw_trace_info *info, struct hcw_chain *c, bool ended)
{
	json_error_t error;
	json_t *o;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (ended)
		PUT(c, HCW_R_END, 500 * MS, 0, (struct hcw_end){.reason = HCW_END_COMMAND});
	hcw_chain_finish(c);
	assert_int_equal(report_json(f, "x\001\".hcw", info, c), 0);
	fclose(f);
	hcw_chain_free(c);
	o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!o)
		fail_msg("line %d: %s", error.line, error.text);
	free(text);
	return o;
}

static void has_names(const json_t *o, const char *const names[])
{
	size_t i;

	for (i = 0; names[i]; i++)
		if (!json_object_get(o, names[i]))
			fail_msg("no member %s", names[i]);
}

/* The names of schema 1 are a promise. */
static void names_stay(void **state)
{
	static const char *const top[] = {"schema",
					  "trace",
					  "verdict",
					  "complete",
					  "closed",
					  "missing",
					  "lost",
					  "dropped",
					  "damaged",
					  "holes",
					  "host",
					  "kernel",
					  "tool",
					  "gpus",
					  "first_ns",
					  "last_ns",
					  "target",
					  "episodes",
					  "iterations",
					  "simulated",
					  "causes",
					  "stalls",
					  "pools",
					  "stalled_ms",
					  "unpaired_restores",
					  "unattributed_passes",
					  "noise",
					  "seen_at_kfd",
					  NULL};
	static const char *const episode[] = {"start_ns",
					      "end_ns",
					      "ms",
					      "open",
					      "killed",
					      "began_before",
					      "victim",
					      "code",
					      "cause",
					      "trigger",
					      "started_by",
					      "initiator",
					      "initiator_unknown",
					      "pages_moved",
					      "passes",
					      "passes_thrown",
					      "nested",
					      "nested_causes",
					      "invalidations",
					      "started_ms",
					      "prolonged_by",
					      "prolonged_others_ms",
					      "prolonged_rest_ms",
					      "pool",
					      "range",
					      "stalls",
					      "worst_iteration_ms",
					      "stack",
					      NULL};
	static const char *const pool[] = {"ptr",  "bytes",   "backing",  "pid",
					   "path", "verdict", "evidence", "reasons",
					   "code", "hit",     "residual", NULL};
	static const char *const cause[] = {"cause",	"code",	     "started",	     "started_ms",
					    "worst_ms", "prolonged", "prolonged_ms", NULL};
	struct hcw_trace_info info;
	json_t *o, *e;

	(void)state;
	sample_info(&info, true);
	o = json_of(&info, sample_stalled(), true);
	has_names(o, top);
	e = json_array_get(json_object_get(o, "episodes"), 0);
	has_names(e, episode);
	has_names(json_array_get(json_object_get(o, "pools"), 0), pool);
	has_names(json_array_get(json_object_get(o, "causes"), 0), cause);
	assert_int_equal(json_integer_value(json_object_get(o, "schema")), 1);
	assert_string_equal(json_string_value(json_object_get(e, "cause")), "move_pages");
	assert_int_equal(json_integer_value(json_object_get(e, "pages_moved")), 512);
	assert_int_equal(json_integer_value(json_object_get(e, "pool")), 0);
	assert_true(json_is_null(json_object_get(e, "initiator")));
	json_decref(o);
}

static void check_verdict(bool complete, bool ended, struct hcw_chain *c, const char *want)
{
	struct hcw_trace_info info;
	json_t *o;

	sample_info(&info, complete);
	o = json_of(&info, c, ended);
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), want);
	assert_int_equal(json_is_true(json_object_get(o, "complete")), complete && ended);
	assert_int_equal(json_array_size(json_object_get(o, "missing")), !complete);
	json_decref(o);
}

/* An empty result has two meanings. */
static void three_verdicts(void **state)
{
	(void)state;
	check_verdict(true, true, hcw_chain_new(), "clean");
	check_verdict(false, true, hcw_chain_new(), "cannot-tell");
	check_verdict(true, false, hcw_chain_new(), "cannot-tell");
	check_verdict(true, true, sample_stalled(), "stalled");
	check_verdict(false, true, sample_stalled(), "stalled");
}

static void lost_records_are_no_health(void **state)
{
	struct hcw_trace_info info;
	struct hcw_chain *c = hcw_chain_new();
	json_t *o, *hole;

	(void)state;
	sample_info(&info, true);
	PUT(c, HCW_R_HOLE, 5 * MS, 0,
	    (struct hcw_hole){
		    .from = MS, .to = 2 * MS, .count = 12, .source = HCW_R_INVAL, .cause = 1});
	PUT(c, HCW_R_TOTALS, 6 * MS, 0,
	    (struct hcw_totals){.source = HCW_R_INVAL, .emitted = 9, .lost = 12});
	o = json_of(&info, c, true);
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), "cannot-tell");
	assert_int_equal(json_integer_value(json_object_get(o, "lost")), 12);
	hole = json_array_get(json_object_get(o, "holes"), 0);
	assert_string_equal(json_string_value(json_object_get(hole, "source")), "notifier");
	assert_string_equal(json_string_value(json_object_get(hole, "cause")), "ring-full");
	assert_int_equal(json_integer_value(json_object_get(hole, "count")), 12);
	json_decref(o);
}

/* Comm of a victim, of an actor, and every string of the header, as bad as they get. */
static void strict_with_hostile_strings(void **state)
{
	static const char bad[HCW_COMM_LEN] = "a\"\\\001\n\377\xc0[,{%s\t";
	struct hcw_chain *c = sample_stalled();
	struct hcw_trace_info info;
	struct hcw_task t = {.start_time = 2, .mm = 0xabc, .tid = 42, .tgid = 42};
	json_t *o;

	(void)state;
	sample_info(&info, false);
	memcpy(info.host, bad, sizeof(bad));
	memcpy(info.tool, bad, sizeof(bad));
	memset(info.probe[3].reason, 0xff, sizeof(info.probe[3].reason) - 1);
	memcpy(t.comm, bad, sizeof(t.comm));
	PUT(c, HCW_R_TASK, 30 * MS, 42, t);
	o = json_of(&info, c, true);
	assert_non_null(json_string_value(json_object_get(o, "host")));
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_stay),
		cmocka_unit_test(three_verdicts),
		cmocka_unit_test(lost_records_are_no_health),
		cmocka_unit_test(strict_with_hostile_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
