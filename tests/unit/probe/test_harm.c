/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Do no harm: what may not be attached to. A tracepoint of system calls puts every thread of the
 * host on the slow path for as long as it is on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include "../../../user/probe/attach.h"
#include "../../../user/probe/points.h"

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool harmful(const char *target)
{
	return strstr(target, "syscalls") || starts(target, "sys_enter") ||
	       starts(target, "sys_exit");
}

static void no_point_is_a_system_call_tracepoint(void **state)
{
	size_t i, hooks = 0;
	int p, h;

	(void)state;
	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++) {
			const struct hcw_candidate *c = &hcw_point_info(p)->candidate[i];

			assert_false(harmful(c->function));
			for (h = 0; h < HCW_HOOKS && c->hook[h].program; h++, hooks++)
				assert_false(harmful(c->hook[h].target));
		}
	assert_true(hooks > HCW_POINT_COUNT);
	assert_true(harmful("sys_enter_move_pages"));
	assert_true(harmful("raw_syscalls/sys_enter"));
}

/* The programs themselves: only kinds whose target the table names, so none that libbpf would
 * attach by its section. */
static void no_program_attaches_by_its_section(void **state)
{
	static const char *const allowed[] = {"tp_btf", "raw_tp",    "fentry", "fexit",
					      "kprobe", "kretprobe", "usdt",   "syscall"};
	struct hcw_bpf *skel = hcw_bpf__open();
	struct bpf_program *prog;
	size_t i, programs = 0;

	(void)state;
	assert_non_null(skel);
	bpf_object__for_each_program (prog, skel->obj) {
		const char *section = bpf_program__section_name(prog);
		bool known = false;

		for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
			known |= !strcmp(section, allowed[i]);
		if (!known)
			fail_msg("program %s is in section %s", bpf_program__name(prog), section);
		programs++;
	}
	assert_true(programs > 20);
	hcw_bpf__destroy(skel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_point_is_a_system_call_tracepoint),
		cmocka_unit_test(no_program_attaches_by_its_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
