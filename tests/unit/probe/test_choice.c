/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "../../../user/probe/choice.h"

static void a_tier_of_the_point(void **state)
{
	struct hcw_probe_choices c = {0};
	char why[512] = "";

	(void)state;
	assert_int_equal(hcw_probe_choose(&c, "notifier=kprobe", why, sizeof(why)), 0);
	assert_int_equal(hcw_probe_choose(&c, "migrate=raw_tp", why, sizeof(why)), 0);
	assert_int_equal(hcw_probe_choose(&c, "pool=off", why, sizeof(why)), 0);
	assert_true(c.point[HCW_POINT_NOTIFIER].forced);
	assert_int_equal(c.point[HCW_POINT_NOTIFIER].tier, HCW_TIER_KPROBE);
	assert_int_equal(c.point[HCW_POINT_MIGRATE].tier, HCW_TIER_RAW_TP);
	assert_true(c.point[HCW_POINT_POOL].forced);
	assert_int_equal(c.point[HCW_POINT_POOL].tier, HCW_TIER_OFF);
	assert_false(c.point[HCW_POINT_EVICT].forced);
	assert_string_equal(why, "");
	/* the last one holds */
	assert_int_equal(hcw_probe_choose(&c, "notifier=fentry", why, sizeof(why)), 0);
	assert_int_equal(c.point[HCW_POINT_NOTIFIER].tier, HCW_TIER_FENTRY);
}

static void refused(const char *text, const char *why_wanted)
{
	const struct hcw_probe_choices none = {0};
	struct hcw_probe_choices c = {0};
	char why[512] = "";

	assert_int_equal(hcw_probe_choose(&c, text, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, why_wanted);
	assert_memory_equal(&c, &none, sizeof(c));
}

static void what_is_wrong_is_said(void **state)
{
	static const char points[] =
		"move_pages, migrate, notifier, hsa_callback, kfd_open, quiesce, resume, evict, "
		"restore, restore_pass, restore_fault, iteration, pool, numa_scan, request, "
		"task_fork, task_exit";
	char want[400];

	(void)state;
	refused("notifier", "--probe takes POINT=off or POINT=TIER, not notifier");
	snprintf(want, sizeof(want), "no such probe point: notifer; there are %s", points);
	refused("notifer=off", want);
	snprintf(want, sizeof(want), "no such probe point: ; there are %s", points);
	refused("=off", want);
	refused("notifier=", "no such probe tier: ; there are off, fentry, kprobe for notifier");
	refused("notifier=kprob",
		"no such probe tier: kprob; there are off, fentry, kprobe for notifier");
	refused("notifier=tp_btf",
		"this probe point has no tier tp_btf; there are off, fentry, kprobe for notifier");
	refused("task_exit=fentry",
		"this probe point has no tier fentry; there are off, tp_btf, raw_tp for task_exit");
	refused("pool=kprobe", "this probe point has no tier kprobe; there are off, usdt for pool");
}

static void a_short_buffer_cuts(void **state)
{
	struct hcw_probe_choices c = {0};
	char why[24];

	(void)state;
	memset(why, 'x', sizeof(why));
	assert_int_equal(hcw_probe_choose(&c, "n=off", why, sizeof(why)), -EINVAL);
	assert_int_equal(strlen(why), sizeof(why) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tier_of_the_point),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(a_short_buffer_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
