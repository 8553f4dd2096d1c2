/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of the memory management: values, words, and what a missing file means. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/vm.h"

#define THP	"sys/kernel/mm/transparent_hugepage/"
#define WITNESS "proc/sys/kernel/osrelease"

static void test_server(void **state)
{
	static const struct {
		enum hcs_vm which;
		const char *text;
		uint64_t number;
	} want[] = {
		{HCS_VM_NUMA_BALANCING, "1", 1},    {HCS_VM_PROACTIVENESS, "20", 20},
		{HCS_VM_UNEVICTABLE, "1", 1},	    {HCS_VM_THP_ENABLED, "always", 0},
		{HCS_VM_THP_DEFRAG, "madvise", 0},  {HCS_VM_THP_SHMEM, "never", 0},
		{HCS_VM_KHUGEPAGED_DEFRAG, "1", 1}, {HCS_VM_KSM_RUN, "0", 0},
	};
	int root = tree_fixture("doctor-server");
	struct hcs_vm_value v;
	struct hcs_swap swap;

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(hcs_vm_read(root, want[i].which, &v, 0), 0);
		assert_string_equal(v.text, want[i].text);
		assert_true(v.number == want[i].number);
		assert_non_null(hcs_vm_path(want[i].which));
	}
	assert_int_equal(hcs_swap_read(root, &swap, 0), 0);
	assert_int_equal(swap.areas, 2);
	assert_true(swap.total == (8388604ull + 1048572) * 1024);
	assert_true(swap.used == 1024 * 1024);
	assert_int_equal(hcs_vm_read(root, HCS_VM_KSM_RUN, &v, 1), -ETIMEDOUT);
	close(root);
}

/* F4: every value of the mask, with and without a newline. */
static void test_numa_balancing(void **state)
{
	static const struct {
		const char *tree;
		int ret;
		uint64_t mask;
	} cases[] = {{"numa-balancing/0", 0, 0},	  {"numa-balancing/1", 0, 1},
		     {"numa-balancing/2", 0, 2},	  {"numa-balancing/3", 0, 3},
		     {"numa-balancing/no-newline", 0, 1}, {"numa-balancing/absent", -ENOENT, 0}};
	struct hcs_vm_value v;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int root = tree_fixture(cases[i].tree);

		v.number = 0;
		assert_int_equal(hcs_vm_read(root, HCS_VM_NUMA_BALANCING, &v, 0), cases[i].ret);
		assert_true(v.number == cases[i].mask);
		close(root);
	}
}

/* Missing here is one thing, nothing to look at another. */
static void test_not_mounted(void **state)
{
	int root = tree_new();
	struct hcs_vm_value v;
	struct hcs_swap swap;

	(void)state;
	for (int i = 0; i < HCS_VM_COUNT; i++)
		assert_int_equal(hcs_vm_read(root, i, &v, 0), -ENODEV);
	assert_int_equal(hcs_swap_read(root, &swap, 0), -ENODEV);
	tree_text(root, WITNESS, "6.1.0\n");
	assert_int_equal(hcs_vm_read(root, HCS_VM_NUMA_BALANCING, &v, 0), -ENOENT);
	assert_int_equal(hcs_swap_read(root, &swap, 0), -ENOENT);
	assert_int_equal(hcs_vm_read(root, HCS_VM_THP_ENABLED, &v, 0), -ENODEV);
	tree_text(root, "sys/kernel/mm/x", "");
	assert_int_equal(hcs_vm_read(root, HCS_VM_THP_ENABLED, &v, 0), -ENOENT);
	tree_remove(root);
}

static void test_odd_values(void **state)
{
	static const char *const numbers[] = {"",
					      "\n",
					      "-1\n",
					      "1 2\n",
					      "one\n",
					      "1\n1\n",
					      " 1\n",
					      "00000000000000000000000000000000000001\n",
					      "99999999999999999999\n"};
	static const char *const words[] = {"",
					    "always madvise never\n",
					    "[a] [b]\n",
					    "[]\n",
					    "]never[\n",
					    "[never\n",
					    "[al ways]\n",
					    "[a-word-that-no-kernel-has-ever-written]\n"};
	int root = tree_new();
	struct hcs_vm_value v = {.number = 7};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		tree_text(root, "proc/sys/kernel/numa_balancing", numbers[i]);
		assert_int_equal(hcs_vm_read(root, HCS_VM_NUMA_BALANCING, &v, 0), -EBADMSG);
	}
	tree_put(root, "proc/sys/kernel/numa_balancing", "1\0\n", 3);
	assert_int_equal(hcs_vm_read(root, HCS_VM_NUMA_BALANCING, &v, 0), -EBADMSG);
	assert_int_equal(v.number, 7); /* untouched */
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		tree_text(root, THP "enabled", words[i]);
		assert_true(hcs_vm_read(root, HCS_VM_THP_ENABLED, &v, 0) < 0);
	}
	tree_text(root, THP "enabled", "always [new-word] never\n");
	assert_int_equal(hcs_vm_read(root, HCS_VM_THP_ENABLED, &v, 0), 0);
	assert_string_equal(v.text, "new-word");
	tree_remove(root);
}

static void test_odd_swaps(void **state)
{
	static const char head[] = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
	static const char *const bad[] = {"", "\n", "/dev/sda2 partition 1 1 -2\n",
					  "Filename Type Size Used\n"};
	int root = tree_new();
	struct hcs_swap swap;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_text(root, "proc/swaps", bad[i]);
		assert_int_equal(hcs_swap_read(root, &swap, 0), -EBADMSG);
	}
	tree_text(root, "proc/swaps", head);
	assert_int_equal(hcs_swap_read(root, &swap, 0), 0);
	assert_int_equal(swap.areas, 0);
	snprintf(text, sizeof(text), "%s/dev/sda2 partition x 1 -2\n", head);
	tree_text(root, "proc/swaps", text);
	assert_int_equal(hcs_swap_read(root, &swap, 0), -EBADMSG);
	tree_remove(root);
}

static void test_choice(void **state)
{
	char word[8];

	(void)state;
	assert_int_equal(hcs_choice("always [madvise] never", word, sizeof(word)), 0);
	assert_string_equal(word, "madvise");
	assert_int_equal(hcs_choice("[madvises]", word, sizeof(word)), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),	    cmocka_unit_test(test_numa_balancing),
		cmocka_unit_test(test_not_mounted), cmocka_unit_test(test_odd_values),
		cmocka_unit_test(test_odd_swaps),   cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
