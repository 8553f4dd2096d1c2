/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/libbpf.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "hcwatch.skel.h"
#pragma GCC diagnostic pop
#include "../../../user/probe/calibrate.h"

typedef void (*candidate_fn)(enum hcw_point p, const struct hcw_candidate *d, void *ctx);

static void each_candidate(candidate_fn fn, void *ctx)
{
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			fn(p, &hcw_point_info(p)->candidate[i], ctx);
}

/* They stand in traces and on command lines: a change here is a change of the format. */
static void names_are_stable(void **state)
{
	static const char *const names[HCW_POINT_COUNT] = {
		"move_pages", "migrate",   "notifier", "hsa_callback", "kfd_open",	"quiesce",
		"resume",     "evict",	   "restore",  "restore_pass", "restore_fault", "iteration",
		"pool",	      "numa_scan", "request",  "task_fork",    "task_exit",
	};
	int p;

	(void)state;
	for (p = 0; p < HCW_POINT_COUNT; p++)
		assert_string_equal(hcw_point_name(p), names[p]);
}

static void points_are_complete(void **state)
{
	int p;

	(void)state;
	assert_in_range(hcw_candidate_total(), HCW_POINT_COUNT, HCW_MAX_CANDIDATES);
	for (p = 0; p < HCW_POINT_COUNT; p++) {
		assert_true(hcw_point_info(p)->count > 0);
		assert_in_range(hcw_point_info(p)->record, 1, HCW_R_BPF_COUNT - 1);
	}
}

static void check_candidate(enum hcw_point p, const struct hcw_candidate *d, void *ctx)
{
	(void)p;
	(void)ctx;
	assert_true(d->tier > HCW_TIER_OFF && d->tier <= HCW_TIER_USDT);
	assert_true(strlen(d->function) > 0);
	assert_non_null(d->hook[0].program);
	assert_non_null(d->hook[0].target);
	/* without a module there is no BTF of one */
	assert_false(d->module_types && !d->module);
	/* a return alone tells nothing; its entry must follow */
	if (d->hook[0].on_return) {
		assert_non_null(d->hook[1].program);
		assert_string_equal(d->hook[0].target, d->hook[1].target);
		assert_false(d->hook[1].on_return);
	}
}

static void candidates_are_complete(void **state)
{
	(void)state;
	each_candidate(check_candidate, NULL);
}

static const char *section_of(enum hcw_tier tier, bool on_return)
{
	switch (tier) {
	case HCW_TIER_TP_BTF:
		return "tp_btf";
	case HCW_TIER_RAW_TP:
		return "raw_tp";
	case HCW_TIER_FENTRY:
		return on_return ? "fexit" : "fentry";
	case HCW_TIER_KPROBE:
		return on_return ? "kretprobe" : "kprobe";
	default:
		return "usdt";
	}
}

static void check_program(enum hcw_point p, const struct hcw_candidate *d, void *ctx)
{
	struct bpf_program *prog;
	int h;

	(void)p;
	for (h = 0; h < HCW_HOOKS && d->hook[h].program; h++) {
		prog = bpf_object__find_program_by_name(ctx, d->hook[h].program);
		assert_non_null(prog);
		assert_string_equal(bpf_program__section_name(prog),
				    section_of(d->tier, d->hook[h].on_return));
	}
}

static void programs_exist_in_the_right_section(void **state)
{
	struct hcw_bpf *skel = hcw_bpf__open();

	(void)state;
	assert_non_null(skel);
	each_candidate(check_program, skel->obj);
	hcw_bpf__destroy(skel);
}

struct search {
	const char *program;
	int hits, fentry_targets;
	const char *target;
};

static void count_program(enum hcw_point p, const struct hcw_candidate *d, void *ctx)
{
	struct search *s = ctx;
	int h;

	(void)p;
	for (h = 0; h < HCW_HOOKS && d->hook[h].program; h++)
		if (!strcmp(d->hook[h].program, s->program)) {
			s->hits++;
			if (d->tier == HCW_TIER_FENTRY)
				s->fentry_targets++;
		}
}

/* A program nobody attaches is dead code, and fentry binds a program to one function. */
static void programs_are_used_and_fentry_ones_once(void **state)
{
	struct hcw_bpf *skel = hcw_bpf__open();
	struct bpf_program *prog;

	(void)state;
	assert_non_null(skel);
	bpf_object__for_each_program (prog, skel->obj) {
		struct search s = {.program = bpf_program__name(prog)};

		each_candidate(count_program, &s);
		assert_true(s.hits > 0);
		assert_true(s.fentry_targets <= 1);
	}
	hcw_bpf__destroy(skel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_stable),
		cmocka_unit_test(points_are_complete),
		cmocka_unit_test(candidates_are_complete),
		cmocka_unit_test(programs_exist_in_the_right_section),
		cmocka_unit_test(programs_are_used_and_fentry_ones_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
