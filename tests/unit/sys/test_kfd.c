/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/kfd.h"

#define PROC "sys/class/kfd/kfd/proc/7/"

static void test_evicted(void **state)
{
	struct hcs_evicted e[HCS_KFD_MAX_GPUS];
	int root = tree_fixture("sysfs-mi355x");

	(void)state;
	assert_int_equal(hcs_kfd_evicted(root, 48213, e, HCS_KFD_MAX_GPUS, 0), 4);
	assert_int_equal(e[0].gpuid, 2153);
	assert_int_equal(e[0].evicted_ms, 64160);
	assert_int_equal(e[1].gpuid, 38414);
	assert_int_equal(e[1].evicted_ms, 64164);
	assert_int_equal(e[2].gpuid, 51371);
	assert_int_equal(e[3].gpuid, 64012);
	assert_int_equal(e[3].evicted_ms, 0);
	assert_int_equal(hcs_kfd_evicted(root, 48213, e, 3, 0), -E2BIG);
	assert_int_equal(hcs_kfd_evicted(root, 500, e, 1, 0), 0); /* known, no GPU yet */
	assert_int_equal(hcs_kfd_evicted(root, 1, e, 1, 0), -ENOENT);
	assert_int_equal(hcs_kfd_evicted(root, 0, e, 1, 0), -EINVAL);
	assert_int_equal(hcs_kfd_evicted(root, -1, e, 1, 0), -EINVAL);
	assert_int_equal(hcs_kfd_evicted(root, 48213, e, 4, 1), -ETIMEDOUT);
	close(root);
}

static void test_gpus(void **state)
{
	uint32_t id[8];
	int root = tree_fixture("sysfs-mi355x");

	(void)state;
	assert_int_equal(hcs_kfd_gpus(root, id, 8, 0), 4);
	assert_int_equal(id[0], 51371); /* in node order */
	assert_int_equal(id[1], 2153);
	assert_int_equal(id[3], 64012);
	assert_int_equal(hcs_kfd_gpus(root, id, 3, 0), -E2BIG);
	close(root);
	root = tree_fixture("sysfs-gpusim");
	assert_int_equal(hcs_kfd_gpus(root, id, 8, 0), -ENOENT);
	close(root);
}

static void test_odd_evicted(void **state)
{
	struct hcs_evicted e[2] = {{77, 77}};
	int root = tree_new();

	(void)state;
	tree_text(root, PROC "stats_11/evicted_ms", "8\n");
	tree_text(root, PROC "stats_x/evicted_ms", "1\n");
	tree_text(root, PROC "stats_99999999999/evicted_ms", "1\n");
	tree_text(root, PROC "counters_11/faults", "1\n");
	assert_int_equal(hcs_kfd_evicted(root, 7, e, 2, 0), 1);
	assert_int_equal(e[0].gpuid, 11);
	assert_int_equal(e[0].evicted_ms, 8);
	tree_text(root, PROC "stats_12/evicted_ms", "8 ms\n");
	e[0].gpuid = 77;
	assert_int_equal(hcs_kfd_evicted(root, 7, e, 2, 0), -EBADMSG);
	assert_int_equal(e[0].gpuid, 77); /* nothing written on failure */
	tree_remove(root);
}

static void test_vanished_stats(void **state)
{
	struct hcs_evicted e[2];
	int root = tree_new();

	(void)state;
	tree_text(root, PROC "stats_11/cu_occupancy", "0\n");
	assert_int_equal(hcs_kfd_evicted(root, 7, e, 2, 0), -ENOENT);
	tree_remove(root);
}

static void test_odd_topology(void **state)
{
	int root = tree_new();
	uint32_t id[2];

	(void)state;
	tree_text(root, "sys/class/kfd/kfd/topology/nodes/0/gpu_id", "4294967296\n");
	assert_int_equal(hcs_kfd_gpus(root, id, 2, 0), -EBADMSG);
	tree_text(root, "sys/class/kfd/kfd/topology/nodes/0/gpu_id", "");
	assert_int_equal(hcs_kfd_gpus(root, id, 2, 0), -EBADMSG);
	tree_text(root, "sys/class/kfd/kfd/topology/nodes/0/gpu_id", "4294967295");
	tree_text(root, "sys/class/kfd/kfd/topology/nodes/junk", "");
	assert_int_equal(hcs_kfd_gpus(root, id, 2, 0), 1);
	assert_true(id[0] == UINT32_MAX);
	tree_remove(root);
}

static void test_too_many_gpus(void **state)
{
	struct hcs_evicted e[2 * HCS_KFD_MAX_GPUS];
	int root = tree_new();
	char path[128];

	(void)state;
	for (int i = 0; i < HCS_KFD_MAX_GPUS; i++) {
		snprintf(path, sizeof(path), PROC "stats_%d/evicted_ms", i + 1);
		tree_text(root, path, "1\n");
	}
	assert_int_equal(hcs_kfd_evicted(root, 7, e, HCS_KFD_MAX_GPUS, 0), HCS_KFD_MAX_GPUS);
	assert_int_equal(e[HCS_KFD_MAX_GPUS - 1].gpuid, HCS_KFD_MAX_GPUS);
	tree_text(root, PROC "stats_999/evicted_ms", "1\n");
	assert_int_equal(hcs_kfd_evicted(root, 7, e, 2 * HCS_KFD_MAX_GPUS, 0), -E2BIG);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evicted),	     cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_odd_evicted),  cmocka_unit_test(test_vanished_stats),
		cmocka_unit_test(test_odd_topology), cmocka_unit_test(test_too_many_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
