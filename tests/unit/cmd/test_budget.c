/* SPDX-License-Identifier: BSD-2-Clause */
/* How --mem is divided, and what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../user/chain/order.h"
#include "../../../user/cmd/budget.h"
#include "../../../user/cmd/tracer_internal.h"
#include "../sys/tree.h"

#define OWN_BYTES (12u << 20) /* of the program at any size, as budget.h has it */

static void test_shares(void **state)
{
	static const uint64_t sizes[] = {BUDGET_MIN, 17000001, 0, 48u << 20, 1u << 30, BUDGET_MAX};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t mem = sizes[i] ? sizes[i] : BUDGET_DEFAULT;
		struct budget b = budget_of(sizes[i]);

		assert_int_equal(b.ring & (b.ring - 1), 0);
		assert_true(b.ring <= mem / 8 && b.ring > mem / 16);
		assert_in_range(b.ring, 4096, 1u << 30); /* what --ring takes */
		assert_true(b.order >= HCW_ORDER_MIN_BYTES);
		/* the ring is mapped twice */
		assert_true(2 * (uint64_t)b.ring + b.symbols + b.order <= mem);
		if (mem >= BUDGET_DEFAULT)
			assert_true(2 * (uint64_t)b.ring + b.symbols + OWN_BYTES <= mem);
	}
}

static struct hcs_kallsyms *one_symbol(void)
{
	struct hcs_kallsyms *k = NULL;
	int root = tree_new();

	tree_text(root, "proc/kallsyms", "ffffffff81000000 T a_function\n");
	assert_int_equal(hcs_kallsyms_load(&k, root, hcs_deadline_ms(1000)), 0);
	tree_remove(root);
	return k;
}

/* Names that do not fit go, and it is said; else they stay. */
static void test_names_go(void **state)
{
	static struct tracer r;
	struct tracer_opts opts = {0};
	char said[256] = "";
	int err = dup(2);
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	r.opts = &opts;
	r.symbols = one_symbol();
	assert_in_range(hcs_kallsyms_bytes(r.symbols), 30, 4096);
	dup2(fileno(f), 2);
	symbols_fit(&r);
	assert_non_null(r.symbols);
	opts.mem_bytes = 64;
	symbols_fit(&r);
	assert_null(r.symbols);
	symbols_fit(&r); /* there are none: nothing to say */
	dup2(err, 2);
	close(err);
	rewind(f);
	assert_true(fread(said, 1, sizeof(said) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(said, "without names"));
	assert_null(strstr(strstr(said, "without names") + 1, "without names"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_names_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
