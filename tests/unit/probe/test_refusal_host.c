/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel that refuses some of what we try, on this machine's own: calls of libbpf are wrapped by
 * the linker, so that a program is bad, or a link cannot be made. Skipped where BPF is not
 * permitted.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/libbpf.h>
#include "../../../allocator/include/hcpool/iteration.h"
#include "../../../user/probe/session.h"

#define SKIPPED		77
#define KERNEL_ENOTSUPP 524 /* include/linux/errno.h of the kernel */

static struct {
	const char *bad_program; /* made one that the verifier refuses */
	int trace_errno;	 /* of bpf_program__attach_trace(), 0 = none */
	int usdt_errno;		 /* of bpf_program__attach_usdt() */
} fault;

int __real_bpf_object__load_skeleton(struct bpf_object_skeleton *s);
int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *s);
struct bpf_link *__real_bpf_program__attach_trace(const struct bpf_program *prog);
struct bpf_link *__wrap_bpf_program__attach_trace(const struct bpf_program *prog);

/* In its own length, which relocations depend on. */
static void spoil(struct bpf_program *prog)
{
	/* r0 = *(u64 *)(r10 + 8): there is no such stack */
	const struct bpf_insn bad = {
		.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 0, .src_reg = 10, .off = 8};
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *code = calloc(n, sizeof(*code));

	assert_non_null(code);
	memcpy(code, bpf_program__insns(prog), n * sizeof(*code));
	code[0] = bad;
	assert_int_equal(bpf_program__set_insns(prog, code, n), 0);
	free(code);
}

int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	struct bpf_program *prog;

	if (fault.bad_program) {
		prog = bpf_object__find_program_by_name(*s->obj, fault.bad_program);
		assert_non_null(prog);
		spoil(prog);
	}
	return __real_bpf_object__load_skeleton(s);
}

struct bpf_link *__wrap_bpf_program__attach_trace(const struct bpf_program *prog)
{
	if (!fault.trace_errno)
		return __real_bpf_program__attach_trace(prog);
	errno = fault.trace_errno;
	return NULL;
}

struct bpf_link *__real_bpf_program__attach_usdt(const struct bpf_program *prog, pid_t pid,
						 const char *path, const char *provider,
						 const char *name, const struct bpf_usdt_opts *o);
struct bpf_link *__wrap_bpf_program__attach_usdt(const struct bpf_program *prog, pid_t pid,
						 const char *path, const char *provider,
						 const char *name, const struct bpf_usdt_opts *o);

struct bpf_link *__wrap_bpf_program__attach_usdt(const struct bpf_program *prog, pid_t pid,
						 const char *path, const char *provider,
						 const char *name, const struct bpf_usdt_opts *o)
{
	if (!fault.usdt_errno)
		return __real_bpf_program__attach_usdt(prog, pid, path, provider, name, o);
	errno = fault.usdt_errno;
	return NULL;
}

static void plan_with(struct hcw_plan *plan, const char *choice)
{
	struct hcw_session_opts opts = {0};
	struct hcw_err err = {0};
	char why[256];

	if (choice)
		assert_int_equal(hcw_probe_choose(&opts.choices, choice, why, sizeof(why)), 0);
	if (hcw_probe_plan(plan, &opts, &err))
		fail_msg("%s", err.what);
}

static void expect(const struct hcw_plan *plan, enum hcw_point p, enum hcw_tier tier,
		   const char *reason)
{
	assert_int_equal(plan->entry[p].tier, tier);
	assert_int_equal(plan->entry[p].active, tier != HCW_TIER_OFF);
	assert_string_equal(plan->entry[p].reason, reason);
}

static void all_is_well(void **state)
{
	struct hcw_plan plan;

	(void)state;
	plan_with(&plan, NULL);
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_TP_BTF, "");
	expect(&plan, HCW_POINT_TASK_EXIT, HCW_TIER_TP_BTF, "");
	assert_false(plan.entry[HCW_POINT_MIGRATE].forced);
}

/* The same as without the bad one, but for the point it was for. */
static void others_unharmed(const struct hcw_plan *plan, enum hcw_point but)
{
	struct hcw_plan well;
	int p;

	fault.bad_program = NULL;
	plan_with(&well, NULL);
	for (p = 0; p < HCW_POINT_COUNT; p++)
		if (p != (int)but)
			assert_memory_equal(&plan->entry[p], &well.entry[p], sizeof(well.entry[p]));
}

static void a_bad_program_takes_none_with_it(void **state)
{
	static const char refused[] = "tp_btf: load: the kernel refuses it here (EACCES)";
	struct hcw_plan plan;

	(void)state;
	fault.bad_program = "migrate_start_tp_btf";
	plan_with(&plan, NULL);
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_RAW_TP, refused);
	others_unharmed(&plan, HCW_POINT_MIGRATE);
	fault.bad_program = "task_exit_tp_btf";
	plan_with(&plan, NULL);
	expect(&plan, HCW_POINT_TASK_EXIT, HCW_TIER_RAW_TP, refused);
	others_unharmed(&plan, HCW_POINT_TASK_EXIT);
}

/* Case C7: iovisor/bcc#4454. Loads, but a link cannot be made. */
static void no_trampolines(void **state)
{
	static const char why[] = "tp_btf: attach: tp_btf not supported by this kernel (ENOTSUPP)";
	struct hcw_plan plan;

	(void)state;
	fault.trace_errno = KERNEL_ENOTSUPP;
	plan_with(&plan, NULL);
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_RAW_TP, why);
	expect(&plan, HCW_POINT_TASK_FORK, HCW_TIER_RAW_TP, why);
	/* a forced tier is not replaced */
	plan_with(&plan, "migrate=tp_btf");
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_OFF, why);
	assert_true(plan.entry[HCW_POINT_MIGRATE].forced);
	expect(&plan, HCW_POINT_TASK_FORK, HCW_TIER_RAW_TP, why);
	fault.trace_errno = 0;
}

static void forced(void **state)
{
	struct hcw_plan plan;

	(void)state;
	plan_with(&plan, "migrate=raw_tp");
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_RAW_TP, "");
	assert_true(plan.entry[HCW_POINT_MIGRATE].forced);
	plan_with(&plan, "migrate=off");
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_OFF, "turned off by --probe");
	assert_true(plan.entry[HCW_POINT_MIGRATE].forced);
	plan_with(&plan, "pool=off");
	expect(&plan, HCW_POINT_POOL, HCW_TIER_OFF, "turned off by --probe");
}

/* Uprobes want CAP_SYS_ADMIN on newer kernels: the plan says so, not that there are no marks. */
static void refused_marks(void **state)
{
	static const char none[] = "no program with these marks attached yet";
	struct hcw_session_opts opts = {0};
	struct hcw_session *s;
	struct hcw_err err = {0};

	(void)state;
	hcwatch_iteration_begin(1); /* the mark that is in this file */
	assert_int_equal(hcw_session_open(&s, &opts, &err), 0);
	expect(hcw_session_plan(s), HCW_POINT_ITERATION, HCW_TIER_OFF, none);
	fault.usdt_errno = EACCES;
	assert_int_equal(hcw_session_attach_file(s, "/proc/self/exe", &err), -EACCES);
	fault.usdt_errno = 0;
	expect(hcw_session_plan(s), HCW_POINT_ITERATION, HCW_TIER_OFF,
	       "usdt: attach: the kernel refuses it here (EACCES)");
	expect(hcw_session_plan(s), HCW_POINT_POOL, HCW_TIER_OFF, none);
	hcw_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(a_bad_program_takes_none_with_it),
		cmocka_unit_test(no_trampolines),
		cmocka_unit_test(forced),
		cmocka_unit_test(refused_marks),
	};
	const struct hcw_session_opts opts = {0};
	struct hcw_err err = {0};
	struct hcw_plan plan;

	if (hcw_probe_plan(&plan, &opts, &err)) {
		printf("SKIP probe_refusal_host: %s\n", err.what);
		return err.code == HCW_EXIT_PERMISSION || err.code == HCW_EXIT_UNSUPPORTED ? SKIPPED
											   : 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
