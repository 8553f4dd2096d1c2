/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "../../../user/probe/lookup.h"
#include "../sys/tree.h"

static struct hcw_lookup look(const char *text, const char *name, const char *module)
{
	struct hcs_kallsyms *symbols;
	struct hcw_lookup found;
	int root = tree_new();

	tree_text(root, "proc/kallsyms", text);
	assert_int_equal(hcs_kallsyms_load(&symbols, root, 0), 0);
	hcw_lookup(&found, symbols, name, module);
	hcs_kallsyms_free(symbols);
	tree_remove(root);
	return found;
}

static void expect_one(const struct hcw_lookup *found, const char *symbol, bool args_lost)
{
	assert_int_equal(found->candidates, 1);
	assert_string_equal(found->symbol, symbol);
	assert_int_equal(found->args_lost, args_lost);
}

/* The list of case C5: iovisor/bcc#1754, #3293, #5007. */
static void suffixes(void **state)
{
	static const struct {
		const char *symbol;
		bool args_lost;
	} made[] = {
		{"f.llvm.3433979326929198294", false},
		{"f.lto_priv.0", false},
		{"f.isra.34", true},
		{"f.constprop.0", true},
		{"f.part.0", true},
		{"f.constprop.0.isra.1", true},
		{"f.isra.0.llvm.12", true},
		{"f.suffix_of_tomorrow.1", true},
	};
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		struct hcw_lookup found;

		snprintf(text, sizeof(text), "ffffffff81000000 t %s\n", made[i].symbol);
		found = look(text, "f", NULL);
		expect_one(&found, made[i].symbol, made[i].args_lost);
		assert_true(found.suffixed);
	}
}

/* Pieces and marks that are no entry of the function, and names that only begin alike. */
static void never_taken(void **state)
{
	static const char *const other[] = {
		"f.cold", "f.isra.0.cold", "f.cold.3",	 "f.llvm.1.cold", "__pfx_f", "__cfi_f",
		"ff",	  "f_isra.0",	   "g.isra.0.f", "__ksymtab_f"};
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		snprintf(text, sizeof(text), "ffffffff81000000 t %s\n", other[i]);
		assert_int_equal(look(text, "f", NULL).candidates, 0);
	}
}

static void plain_first_then_with_arguments(void **state)
{
	struct hcw_lookup found = look("ffffffff81000000 t f.isra.0\n"
				       "ffffffff81000010 t f.cold\n"
				       "ffffffff81000020 t f\n"
				       "ffffffff81000030 t __pfx_f\n",
				       "f", NULL);

	(void)state;
	expect_one(&found, "f", false);
	assert_false(found.suffixed);
	assert_string_equal(found.also, "f.isra.0");
	found = look("ffffffff81000000 t f.isra.0\n"
		     "ffffffff81000020 t f.llvm.77\n",
		     "f", NULL);
	expect_one(&found, "f.llvm.77", false);
	assert_string_equal(found.also, "f.isra.0");
}

static void two_are_no_choice(void **state)
{
	(void)state;
	assert_int_equal(look("ffffffff81000000 t f\n"
			      "ffffffff81000010 t f\n",
			      "f", NULL)
				 .candidates,
			 2);
	assert_int_equal(look("ffffffff81000000 t f.isra.0\n"
			      "ffffffff81000010 t f.constprop.0\n",
			      "f", NULL)
				 .candidates,
			 2);
	assert_int_equal(look("ffffffffc0000000 t f\t[amdgpu]\n"
			      "ffffffffc0000010 t f\t[amdgpu]\n"
			      "ffffffffc0000020 t f\t[amdgpu]\n",
			      "f", "amdgpu")
				 .candidates,
			 3);
}

/* Case C6: cilium/ebpf#723, #894. */
static void the_module_decides(void **state)
{
	static const char text[] = "ffffffff81000000 t f\n"
				   "ffffffffc0000000 t f\t[amdgpu]\n"
				   "ffffffffc1000000 t f\t[other]\n"
				   "ffffffffc1000010 t g\t[other]\n"
				   "ffffffffc1000020 t h.isra.0\t[amdgpu]\n"
				   "ffffffff81000020 t h\n";
	struct hcw_lookup found = look(text, "f", "amdgpu");

	(void)state;
	expect_one(&found, "f", false);
	assert_true(found.in_module);
	assert_int_equal(found.addr, 0xffffffffc0000000);
	assert_int_equal(found.namesakes, 2);
	found = look(text, "f", NULL);
	expect_one(&found, "f", false);
	assert_false(found.in_module);
	assert_int_equal(found.addr, 0xffffffff81000000);
	/* of somebody else */
	assert_int_equal(look(text, "g", "amdgpu").candidates, 0);
	assert_int_equal(look(text, "g", NULL).candidates, 0);
	/* what the module has comes before the kernel's of that name */
	found = look(text, "h", "amdgpu");
	expect_one(&found, "h.isra.0", true);
	assert_int_equal(found.namesakes, 0);
}

/* Case C11: kptr_restrict=2. The names prove what exists. */
static void hidden_addresses(void **state)
{
	struct hcw_lookup found = look("0000000000000000 t f\n"
				       "0000000000000000 t g\t[amdgpu]\n",
				       "g", "amdgpu");

	(void)state;
	expect_one(&found, "g", false);
	assert_int_equal(found.addr, 0);
}

static void too_long_a_name(void **state)
{
	char text[256];

	(void)state;
	snprintf(text, sizeof(text), "ffffffff81000000 t f.llvm.%0120d\n", 7);
	assert_int_equal(look(text, "f", NULL).candidates, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suffixes),
		cmocka_unit_test(never_taken),
		cmocka_unit_test(plain_first_then_with_arguments),
		cmocka_unit_test(two_are_no_choice),
		cmocka_unit_test(the_module_decides),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(too_long_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
