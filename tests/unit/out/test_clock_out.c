/* SPDX-License-Identifier: BSD-2-Clause */
/* What a report says of clocks that were changed, and of records out of order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../../user/out/live.h"
#include "../../../user/out/report.h"
#include "capture.h"

#define SEC(x) ((__u64)(x)*1000000000ull)

static void pair(struct hcw_chain *c, __u64 boot, __u64 monotonic, __u64 realtime)
{
	struct {
		struct hcw_rec rec;
		struct hcw_clock clock;
	} r = {
		.rec = {.ts = SEC(boot), .type = HCW_R_CLOCK, .len = sizeof(r.clock)},
		.clock = {.monotonic = SEC(monotonic), .realtime = SEC(realtime)},
	};

	assert_int_equal(hcw_chain_add(c, &r.rec), 0);
}

struct told {
	char *text, *json, *live;
};

static void tell(struct told *t, struct hcw_chain *c)
{
	const struct hcw_trace_info info = {.realtime_offset = (__s64)SEC(1789995400)};
	const struct live_event totals = {.kind = LIVE_TOTALS};
	size_t size;
	FILE *f = open_memstream(&t->text, &size);

	report_text(f, "x.hcw", &info, c, false);
	fclose(f);
	f = open_memstream(&t->json, &size);
	assert_int_equal(report_json(f, "x.hcw", &info, c), 0);
	fclose(f);
	f = open_memstream(&t->live, &size);
	assert_int_equal(live_json(f, &info, c, &totals), 0);
	fclose(f);
	assert_true(widest(t->text) <= 80);
}

static void told_free(struct told *t)
{
	free(t->text);
	free(t->json);
	free(t->live);
}

/* mono = 1000 s, boot = 4600 s, real = 1790000000 s; the wall clock is stepped by -30 s, then the
 * machine sleeps for 800 s */
static void test_changes(void **state)
{
	struct hcw_chain *c = hcw_chain_new();
	struct told t;

	(void)state;
	pair(c, 4600, 1000, 1790000000);
	pair(c, 4606, 1006, 1790000006);
	pair(c, 4607, 1007, 1790000007 - 30);
	pair(c, 5500, 1100, 1790000900 - 30);
	tell(&t, c);
	assert_non_null(strstr(t.text, "the wall clock was set back by 30.00 s before"));
	assert_non_null(strstr(t.text, "the machine slept for 13 min 20 s"));
	assert_non_null(strstr(t.json, "\"ns\": \"CLOCK_BOOTTIME\""));
	assert_non_null(strstr(t.json, "\"realtime_step_ns\": -30000000000"));
	assert_non_null(strstr(t.json, "\"suspended_ns\": 800000000000"));
	assert_non_null(strstr(t.json, "\"monotonic_offset_ns\": -3600000000000"));
	assert_non_null(strstr(t.live, "\"realtime_step_ns\":-30000000000"));
	told_free(&t);
	hcw_chain_free(c);
}

static void test_no_change(void **state)
{
	struct hcw_chain *c = hcw_chain_new();
	struct told t;

	(void)state;
	pair(c, 4600, 1000, 1790000000);
	pair(c, 4601, 1001, 1790000001);
	tell(&t, c);
	assert_null(strstr(t.text, "clock"));
	assert_null(strstr(t.text, "in order"));
	assert_non_null(strstr(t.json, "\"changes\": []"));
	told_free(&t);
	hcw_chain_late(c, 17);
	tell(&t, c);
	assert_non_null(strstr(t.text, "17 records that came too late to be put in order"));
	assert_non_null(strstr(t.json, "\"late\": 17"));
	assert_non_null(strstr(t.live, "\"late\":17"));
	told_free(&t);
	hcw_chain_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
