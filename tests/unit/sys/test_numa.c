/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/numa.h"

#define NODE	"sys/devices/system/node/"
#define MEMINFO NODE "node0/meminfo"

static void test_list(void **state)
{
	static const struct {
		const char *text;
		int n, first, last;
	} good[] = {
		{"0", 1, 0, 0},	      {"0-2,5", 4, 0, 5},
		{"0-2,5\n", 4, 0, 5}, {"", 0, 0, 0},
		{"\n", 0, 0, 0},      {"3,7,9", 3, 3, 9},
		{"4-4", 1, 4, 4},     {"2147483640-2147483647", 8, 2147483640, 2147483647},
	};
	int v[8];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(hcs_parse_list(good[i].text, v, 8), good[i].n);
		if (good[i].n) {
			assert_int_equal(v[0], good[i].first);
			assert_int_equal(v[good[i].n - 1], good[i].last);
		}
	}
}

static void test_bad_list(void **state)
{
	static const char *const bad[] = {
		",",	 "0,",
		",0",	 "0-",
		"-1",	 "0--1",
		"2-1",	 "1,1",
		"5,3",	 "0 1",
		" 0",	 "0\n\n",
		"0-2,2", "2147483648",
		"0x1",	 "0-1-2",
		"a",	 "0,a",
		"0;1",	 "0,\n",
		"1:2",	 "99999999999999999999",
	};
	int v[8] = {77};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(hcs_parse_list(bad[i], v, 8), -EBADMSG);
	assert_int_equal(hcs_parse_list("0-8", v, 8), -E2BIG);
	assert_int_equal(hcs_parse_list("0-2147483647", v, 8), -E2BIG);
	assert_int_equal(hcs_parse_list("0-7,9", v, 8), -E2BIG);
	assert_int_equal(hcs_parse_list("0", v, 0), -E2BIG);
	assert_int_equal(v[0], 77); /* nothing written on failure */
}

static void test_nodes(void **state)
{
	int root = tree_fixture("sysfs-mi355x");
	int v[HCS_NUMA_MAX];

	(void)state;
	/* online 0,2-3; node 3 has no memory */
	assert_int_equal(hcs_numa_nodes(root, v, HCS_NUMA_MAX, 0), 2);
	assert_int_equal(v[0], 0);
	assert_int_equal(v[1], 2);
	assert_int_equal(hcs_numa_nodes(root, v, 1, 0), -E2BIG);
	assert_int_equal(hcs_numa_nodes(root, v, 2, 1), -ETIMEDOUT);
	close(root);
	root = tree_fixture("proc-sglang");
	assert_int_equal(hcs_numa_nodes(root, v, 2, 0), -ENOENT);
	close(root);
}

static void test_allowed(void **state)
{
	int root = tree_new();
	int v[4];

	(void)state;
	tree_text(root, NODE "online", "0-1\n");
	tree_text(root, MEMINFO, "Node 0 MemTotal:       1024 kB\n");
	tree_text(root, NODE "node1/meminfo", "Node 1 MemTotal:       1024 kB\n");
	tree_text(root, "proc/9/status", "Name:\tx\nMems_allowed_list:\t1-63\n");
	assert_int_equal(hcs_numa_allowed(root, 9, v, 4, 0), 1);
	assert_int_equal(v[0], 1);
	tree_text(root, "proc/self/status", "Mems_allowed_list:\t0-1\n");
	assert_int_equal(hcs_numa_allowed(root, 0, v, 4, 0), 2);
	tree_text(root, "proc/9/status", "Mems_allowed_list:\t\n");
	assert_int_equal(hcs_numa_allowed(root, 9, v, 4, 0), 0);
	tree_text(root, "proc/9/status", "Mems_allowed_list:\t1-\n");
	assert_int_equal(hcs_numa_allowed(root, 9, v, 4, 0), -EBADMSG);
	tree_text(root, "proc/9/status", "Name:\tMems_allowed_list:\t1\n");
	assert_int_equal(hcs_numa_allowed(root, 9, v, 4, 0), -EBADMSG);
	assert_int_equal(hcs_numa_allowed(root, 10, v, 4, 0), -ENOENT);
	tree_remove(root);
}

static void test_odd_meminfo(void **state)
{
	static const char *const bad[] = {
		"",
		"Node 0 MemFree: 5 kB\n",
		"Node 0 MemTotal: kB\n",
		"Node 0 MemTotal: 5\n",
		"Node 0 MemTotal: -5 kB\n",
		"Node 0 MemTotal: 5 5 kB\n",
		"MemTotal: 5 kB\n",
	};
	int root = tree_new();
	int v[4];

	(void)state;
	tree_text(root, NODE "online", "0\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_text(root, MEMINFO, bad[i]);
		assert_int_equal(hcs_numa_nodes(root, v, 4, 0), -EBADMSG);
	}
	tree_put(root, NODE "online", "0\0\n", 3);
	assert_int_equal(hcs_numa_nodes(root, v, 4, 0), -EBADMSG);
	tree_remove(root);
}

static void test_this_machine(void **state)
{
	int root = hcs_root();
	int nodes[HCS_NUMA_MAX], allowed[HCS_NUMA_MAX];
	int n;

	(void)state;
	assert_true(root >= 0);
	n = hcs_numa_nodes(root, nodes, HCS_NUMA_MAX, 0);
	if (n == -ENOENT) /* a kernel without NUMA */
		skip();
	assert_true(n >= 1);
	assert_in_range(hcs_numa_allowed(root, 0, allowed, HCS_NUMA_MAX, 0), 1, n);
	close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),	    cmocka_unit_test(test_bad_list),
		cmocka_unit_test(test_nodes),	    cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_odd_meminfo), cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
