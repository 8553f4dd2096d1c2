/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/drm.h"

#define NODE "sys/class/drm/renderD128/"

static void test_amdgpu(void **state)
{
	struct hcs_drm_node n[HCS_DRM_MAX];
	int root = tree_fixture("sysfs-mi355x");

	(void)state;
	assert_int_equal(hcs_drm_nodes(root, n, HCS_DRM_MAX, 0), 2);
	assert_int_equal(n[0].minor, 128);
	assert_string_equal(n[0].driver, "amdgpu");
	assert_int_equal(n[0].has_gtt, 1);
	assert_true(n[0].gtt_total == 1623497637888ull);
	assert_true(n[0].gtt_used == 34408759296ull);
	assert_int_equal(n[1].minor, 129);
	assert_true(n[1].has_gtt && !n[1].gtt_used);
	assert_int_equal(hcs_drm_nodes(root, n, 1, 0), -E2BIG);
	assert_int_equal(hcs_drm_nodes(root, n, HCS_DRM_MAX, 1), -ETIMEDOUT);
	close(root);
}

static void test_gpusim(void **state)
{
	struct hcs_drm_node n[2];
	int root = tree_fixture("sysfs-gpusim");

	(void)state;
	assert_int_equal(hcs_drm_nodes(root, n, 2, 0), 2);
	assert_string_equal(n[0].driver, "gpusim");
	assert_int_equal(n[0].has_gtt, 1);
	assert_string_equal(n[1].driver, "gpusim");
	assert_int_equal(n[1].has_gtt, 0); /* no mem_info files */
	assert_int_equal(n[1].gtt_total, 0);
	close(root);
}

static void test_none(void **state)
{
	struct hcs_drm_node n[1];
	int root = tree_new();

	(void)state;
	assert_int_equal(hcs_drm_nodes(root, n, 1, 0), 0);
	tree_text(root, "sys/class/drm/version", "drm 1.1.0 20060810\n");
	tree_text(root, "sys/class/drm/renderDx/device/mem_info_gtt_total", "1\n");
	assert_int_equal(hcs_drm_nodes(root, n, 1, 0), 0);
	tree_remove(root);
}

/* What the driver link may be without leading to another driver's name. */
static void test_odd_driver(void **state)
{
	static const struct {
		const char *target, *name;
	} cases[] = {
		{"vkms", "vkms"},
		{"/sys/bus/pci/drivers/amdgpu", "amdgpu"},
		{"../drivers/", ""},
		{"../drivers/a-name-of-exactly-31-characters", "a-name-of-exactly-31-characters"},
		{"../drivers/amdgpu-with-a-tail-that-does-not-fit", ""},
	};
	struct hcs_drm_node n[1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int root = tree_new();

		tree_link(root, NODE "device/driver", cases[i].target);
		assert_int_equal(hcs_drm_nodes(root, n, 1, 0), 1);
		assert_string_equal(n[0].driver, cases[i].name);
		tree_remove(root);
	}
}

static void test_odd_gtt(void **state)
{
	struct hcs_drm_node n[1];
	int root = tree_new();

	(void)state;
	tree_text(root, NODE "device/driver", "a file, no link");
	tree_text(root, NODE "device/mem_info_gtt_total", "100\n");
	tree_text(root, NODE "device/mem_info_gtt_used", "-1\n");
	assert_int_equal(hcs_drm_nodes(root, n, 1, 0), 1);
	assert_string_equal(n[0].driver, "");
	assert_int_equal(n[0].has_gtt, 0);
	assert_int_equal(n[0].gtt_total, 0);
	tree_text(root, NODE "device/mem_info_gtt_used", "0\n");
	assert_int_equal(hcs_drm_nodes(root, n, 1, 0), 1);
	assert_int_equal(n[0].has_gtt, 1);
	assert_int_equal(n[0].gtt_total, 100);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amdgpu),	cmocka_unit_test(test_gpusim),
		cmocka_unit_test(test_none),	cmocka_unit_test(test_odd_driver),
		cmocka_unit_test(test_odd_gtt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
