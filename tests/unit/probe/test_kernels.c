/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plans of real kernels: fixtures/probe-<kernel> has the lines of kallsyms that matter, as that
 * kernel shows them with amdgpu and the test GPU loaded, and the plans they must lead to.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../user/probe/calibrate.h"
#include "../sys/tree.h"

#define TEXT_MAX 8192

static void render(const struct hcw_plan *plan, char *out, size_t size)
{
	const struct hcw_plan_entry *e;
	size_t used = 0;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		e = &plan->entry[p];
		used += (size_t)snprintf(out + used, size - used, "%s: %s%s%s%s%s\n",
					 hcw_point_name(p), hcw_tier_name(e->tier),
					 e->target[0] ? " " : "", e->target,
					 e->reason[0] ? " # " : "", e->reason);
		assert_true(used < size);
	}
}

static void check_plan(int root, const char *file, bool long_running)
{
	struct hcw_calibrate_opts opts = {.root = root, .long_running = long_running};
	char want[TEXT_MAX], got[TEXT_MAX];
	struct hcs_kallsyms *symbols;
	struct hcw_calibration c;
	struct hcw_plan plan;

	assert_true(hcs_read_file(root, file, want, sizeof(want), 0) > 0);
	assert_int_equal(hcs_kallsyms_load(&symbols, root, 0), 0);
	opts.symbols = symbols;
	hcw_calibrate(&c, &opts);
	hcw_plan_build(&plan, &c);
	render(&plan, got, sizeof(got));
	hcs_kallsyms_free(symbols);
	assert_string_equal(got, want);
}

static void plans_of(const char *fixture)
{
	int root = tree_fixture(fixture);

	check_plan(root, "plan", false);
	check_plan(root, "plan-long-running", true);
	close(root);
}

static void kernel_6_1(void **state)
{
	(void)state;
	plans_of("probe-6.1");
}

static void kernel_6_12(void **state)
{
	(void)state;
	plans_of("probe-6.12");
}

static void kernel_7_3(void **state)
{
	(void)state;
	plans_of("probe-7.3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_6_1),
		cmocka_unit_test(kernel_6_12),
		cmocka_unit_test(kernel_7_3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
