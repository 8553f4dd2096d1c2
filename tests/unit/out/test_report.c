/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a report: the answer first, what was not seen as loud as what was, strings of others
 * escaped. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include "capture.h"
#include "sample.h"

static char *text_of(const struct hcw_trace_info *info, struct hcw_chain *c, bool ended)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (ended)
		PUT(c, HCW_R_END, 500 * MS, 0, (struct hcw_end){.reason = HCW_END_COMMAND});
	hcw_chain_finish(c);
	report_text(f, "x\007.hcw", info, c, false);
	fclose(f);
	hcw_chain_free(c);
	return text;
}

static void tells_the_stall(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, true);
	text = text_of(&info, sample_stalled(), true);
	assert_true(widest(text) <= 80);
	assert_false(has_control(text));
	assert_non_null(strstr(text, "complete"));
	assert_non_null(strstr(text, "stood still for 391.8 ms in 1 stall."));
	assert_non_null(strstr(text, "move_pages by mover"));
	assert_non_null(strstr(text, "moved 512 pages, hit pool"));
	assert_non_null(strstr(text, "exposed, by trial  HCW-201"));
	assert_non_null(strstr(text, "HSA_USERPTR_FOR_PAGED_MEM=0"));
	assert_non_null(strstr(text, "Next:       hcwatch explain HCW-101"));
	free(text);
}

static void an_empty_trace_is_clean_only_when_all_was_watched(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, true);
	text = text_of(&info, hcw_chain_new(), true);
	assert_non_null(strstr(text, "No episode: nothing stopped"));
	free(text);
	text = text_of(&info, hcw_chain_new(), false);
	assert_non_null(strstr(text, "has no end"));
	assert_non_null(strstr(text, "says nothing either way"));
	free(text);
	sample_info(&info, false);
	text = text_of(&info, hcw_chain_new(), true);
	assert_non_null(strstr(text, "INCOMPLETE"));
	assert_non_null(strstr(text, "not traced  quiesce: no such function"));
	assert_non_null(strstr(text, "says nothing either way"));
	free(text);
}

static void says_loss(void **state)
{
	struct hcw_trace_info info;
	struct hcw_chain *c = hcw_chain_new();
	char *text;

	(void)state;
	sample_info(&info, true);
	PUT(c, HCW_R_HOLE, 5 * MS, 0,
	    (struct hcw_hole){
		    .from = MS, .to = 2 * MS, .count = 1204, .source = HCW_R_INVAL, .cause = 1});
	PUT(c, HCW_R_TOTALS, 6 * MS, 0,
	    (struct hcw_totals){.source = HCW_R_INVAL, .emitted = 9, .lost = 1204});
	text = text_of(&info, c, true);
	assert_non_null(strstr(text, "INCOMPLETE"));
	assert_non_null(strstr(text, "1204 notifier records were lost"));
	free(text);
}

static void shows_the_ten_longest(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, true);
	text = text_of(&info, sample_many(13), true);
	assert_non_null(strstr(text, "stood still for 91.0 ms in 13 stalls. All began with"));
	assert_non_null(strstr(text, "\n1  00:00:13.000  13.0 ms  process (42)"));
	assert_non_null(strstr(text, "\n10 00:00:04.000  4.0 ms  process (42)"));
	assert_null(strstr(text, "\n11 "));
	assert_non_null(strstr(text, "and 3 more stalls"));
	assert_true(widest(text) <= 80);
	free(text);
}

static void bold_only_when_asked(void **state)
{
	struct hcw_trace_info info;
	struct hcw_chain *c = sample_stalled();
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	sample_info(&info, true);
	hcw_chain_finish(c);
	report_text(f, "x", &info, c, true);
	fclose(f);
	hcw_chain_free(c);
	assert_non_null(strstr(text, "\033[1mcause\033[0m"));
	free(text);
}

/* Whatever stands in the header, no line gets wider and nothing reaches the terminal. */
static void hostile_header(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, false);
	memset(info.host, '\033', sizeof(info.host) - 1);
	memset(info.kernel, '\n', sizeof(info.kernel) - 1);
	memset(info.probe[3].point, '\007', sizeof(info.probe[3].point) - 1);
	info.n_gpus = 1;
	memset(info.gpu[0].driver, 0xff, sizeof(info.gpu[0].driver) - 1);
	info.simulated = true;
	text = text_of(&info, sample_stalled(), true);
	assert_false(has_control(text));
	assert_true(widest(text) <= 80);
	assert_non_null(strstr(text, "SIMULATED"));
	free(text);
}

/* Thousands of pools: the hit one and the exposed ones first, and the rest is counted. */
static void shows_twenty_pools(void **state)
{
	struct hcw_chain *c = sample_stalled();
	const char *hit, *exposed, *other;
	struct hcw_trace_info info;
	char *text;
	__u32 i;

	(void)state;
	sample_info(&info, true);
	for (i = 0; i < 3000; i++) {
		__u64 ptr = 0x7e0000000000 + (__u64)i * 4096;

		PUT(c, HCW_R_POOL_ALLOC, 3 * MS, 42,
		    (struct hcw_pool){.ptr = ptr, .bytes = 4096, .backing = 2, .tgid = 42});
		/* of most the mapping was not read */
		if (i >= 2990)
			PUT(c, HCW_R_MAPPING, 4 * MS, 0,
			    (struct hcw_mapping){
				    .lo = ptr, .hi = ptr + 4096, .pool = ptr, .tgid = 42});
	}
	text = text_of(&info, c, true);
	hit = strstr(text, "\n#1 ");
	exposed = strstr(text, "\n#2992 ");
	other = strstr(text, "\n#2 ");
	assert_true(hit && exposed && other && hit < exposed && exposed < other);
	assert_non_null(strstr(text, "\n#10 "));
	assert_null(strstr(text, "\n#11 "));
	assert_non_null(strstr(text, "\nand 2981 more pools (all: hcwatch report --json)\n"));
	assert_true(widest(text) <= 80);
	free(text);
}

static void one_of_it_has_no_s(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, true);
	text = text_of(&info, sample_many(11), true);
	assert_non_null(strstr(text, "and 1 more stall, none longer"));
	free(text);
}

/* Date and zone stand in the heading; below it are times of day. */
static void dates_the_heading(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	sample_info(&info, true);
	info.realtime_offset = 1788515840000000000;
	text = text_of(&info, sample_stalled(), true);
	assert_non_null(strstr(text, "node17 · 2026-09-04 09:57:20 UTC · 499.0 ms"));
	assert_non_null(strstr(text, "\n1  09:57:20.010  391.8 ms"));
	assert_non_null(strstr(text, "no GPU seen"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_the_stall),
		cmocka_unit_test(an_empty_trace_is_clean_only_when_all_was_watched),
		cmocka_unit_test(says_loss),
		cmocka_unit_test(shows_the_ten_longest),
		cmocka_unit_test(shows_twenty_pools),
		cmocka_unit_test(one_of_it_has_no_s),
		cmocka_unit_test(dates_the_heading),
		cmocka_unit_test(bold_only_when_asked),
		cmocka_unit_test(hostile_header),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
