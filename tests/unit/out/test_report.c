/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a report: the answer first, what was not seen as loud as what was, strings of others
 * escaped. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include "../../../user/out/report.h"
#include "capture.h"

#define MS 1000000ull

static void put(struct hcw_chain *c, __u16 type, __u64 ts, __u32 tid, const void *body, size_t len)
{
	char buf[sizeof(struct hcw_rec) + 64];
	struct hcw_rec rec = {.ts = ts, .tid = tid, .type = type, .len = (__u16)len};

	memcpy(buf, &rec, sizeof(rec));
	memcpy(buf + sizeof(rec), body, len);
	hcw_chain_add(c, (const struct hcw_rec *)buf);
}

#define PUT(c, type, ts, tid, ...)                            \
	do {                                                  \
		typeof(__VA_ARGS__) body_ = __VA_ARGS__;      \
		put(c, type, ts, tid, &body_, sizeof(body_)); \
	} while (0)

static void info_make(struct hcw_trace_info *info, bool complete)
{
	static const char *const points[] = {"move_pages", "migrate", "notifier", "quiesce",
					     "resume"};
	size_t i;

	memset(info, 0, sizeof(*info));
	strcpy(info->kernel, "6.1.0-57-amd64");
	strcpy(info->host, "node17");
	for (i = 0; i < 5; i++) {
		strcpy(info->probe[i].point, points[i]);
		info->probe[i].active = complete || i != 3;
	}
	strcpy(info->probe[3].reason, "no such function");
	info->n_probes = 5;
}

/* A stall of 391.8 ms by a thread whose name tries to take over the terminal. */
static struct hcw_chain *stalled(void)
{
	struct hcw_chain *c = hcw_chain_new();
	struct hcw_task mover = {.start_time = 1, .mm = 0xabc, .tid = 43, .tgid = 42};

	hcw_chain_sources(c, ~0u & ~(1u << HCW_R_EVICT | 1u << HCW_R_RESTORE));
	memcpy(mover.comm, "mover\033[2J", 10);
	PUT(c, HCW_R_TASK, MS, 43, mover);
	PUT(c, HCW_R_POOL_ALLOC, 2 * MS, 42,
	    (struct hcw_pool){.ptr = 0x7f0000000000, .bytes = 536870912, .backing = 2, .tgid = 42});
	PUT(c, HCW_R_QUIESCE, 11 * MS, 43,
	    (struct hcw_quiesce){.start = 10 * MS,
				 .mm = 0xabc,
				 .attempt = 9 * MS,
				 .lo = 0x7f0000000000,
				 .hi = 0x7f0020000000,
				 .trigger = 1,
				 .stack = -1,
				 .victim = 42,
				 .reason = 3});
	PUT(c, HCW_R_MIGRATE, 20 * MS, 43,
	    (struct hcw_migrate){.start = 10 * MS, .attempt = 9 * MS, .ok = 512, .reason = 3});
	PUT(c, HCW_R_MOVE_PAGES, 21 * MS, 43,
	    (struct hcw_move_pages){.start = 9 * MS,
				    .lo = 0x7f0000000000,
				    .hi = 0x7f00001ff000,
				    .requested = 512,
				    .read = 512,
				    .moved = 512});
	PUT(c, HCW_R_RESUME, 401800000, 7, (struct hcw_resume){.start = 401 * MS, .mm = 0xabc});
	return c;
}

static char *text_of(const struct hcw_trace_info *info, struct hcw_chain *c, bool ended)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (ended)
		PUT(c, HCW_R_END, 500 * MS, 0, (struct hcw_end){.reason = HCW_END_COMMAND});
	hcw_chain_finish(c);
	report_text(f, "x\007.hcw", info, c);
	fclose(f);
	hcw_chain_free(c);
	return text;
}

static void tells_the_stall(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	info_make(&info, true);
	text = text_of(&info, stalled(), true);
	assert_true(widest(text) <= 80);
	assert_false(has_control(text));
	assert_non_null(strstr(text, "complete"));
	assert_non_null(strstr(text, "stood still for 391.8 ms in 1 episode."));
	assert_non_null(strstr(text, "move_pages by mover"));
	assert_non_null(strstr(text, "migrated 512 pages of pool #1"));
	assert_non_null(strstr(text, "exposed, by trial  HCW-201"));
	assert_non_null(strstr(text, "HSA_USERPTR_FOR_PAGED_MEM=0"));
	free(text);
}

static void an_empty_trace_is_clean_only_when_all_was_watched(void **state)
{
	struct hcw_trace_info info;
	char *text;

	(void)state;
	info_make(&info, true);
	text = text_of(&info, hcw_chain_new(), true);
	assert_non_null(strstr(text, "No episode: nothing stopped"));
	free(text);
	text = text_of(&info, hcw_chain_new(), false);
	assert_non_null(strstr(text, "has no end"));
	assert_non_null(strstr(text, "says nothing either way"));
	free(text);
	info_make(&info, false);
	text = text_of(&info, hcw_chain_new(), true);
	assert_non_null(strstr(text, "INCOMPLETE"));
	assert_non_null(strstr(text, "not traced: quiesce (no such function)"));
	assert_non_null(strstr(text, "says nothing either way"));
	free(text);
}

static void says_loss(void **state)
{
	struct hcw_trace_info info;
	struct hcw_chain *c = hcw_chain_new();
	char *text;

	(void)state;
	info_make(&info, true);
	PUT(c, HCW_R_HOLE, 5 * MS, 0,
	    (struct hcw_hole){
		    .from = MS, .to = 2 * MS, .count = 1204, .source = HCW_R_INVAL, .cause = 1});
	PUT(c, HCW_R_TOTALS, 6 * MS, 0,
	    (struct hcw_totals){.source = HCW_R_INVAL, .emitted = 9, .lost = 1204});
	text = text_of(&info, c, true);
	assert_non_null(strstr(text, "INCOMPLETE"));
	assert_non_null(strstr(text, "1204 records lost in 1 place"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_the_stall),
		cmocka_unit_test(an_empty_trace_is_clean_only_when_all_was_watched),
		cmocka_unit_test(says_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
