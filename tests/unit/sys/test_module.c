/* SPDX-License-Identifier: BSD-2-Clause */
/* /sys/module and /sys/kernel/btf. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/module.h"

static void test_dkms(void **state)
{
	int root = tree_fixture("doctor-server");
	struct hcs_module m;
	uint64_t value;

	(void)state;
	assert_int_equal(hcs_module_read(root, "amdgpu", &m, 0), 0);
	assert_int_equal(m.state, HCS_MODULE_LIVE);
	assert_string_equal(m.version, "6.12.12");
	assert_string_equal(m.srcversion, "7C8F9D0E1A2B3C4D5E6F708");
	assert_true(m.out_of_tree);
	assert_int_equal(hcs_module_param(root, "amdttm", "pages_limit", &value, 0), 0);
	assert_true(value == 33554432);
	assert_int_equal(hcs_module_param(root, "amdttm", "no_such", &value, 0), -ENOENT);
	assert_int_equal(hcs_module_read(root, "gpusim", &m, 0), 0);
	assert_int_equal(m.state, HCS_MODULE_ABSENT);
	assert_string_equal(m.version, "");
	assert_int_equal(hcs_module_read(root, "amdgpu", &m, 1), -ETIMEDOUT);
	assert_int_equal(hcs_module_id(root, "amdgpu", &value, 1), -ETIMEDOUT);
	close(root);
}

static void test_states(void **state)
{
	int root = tree_new();
	struct hcs_module m;

	(void)state;
	assert_int_equal(hcs_module_read(root, "amdgpu", &m, 0), -ENODEV);
	tree_text(root, "sys/module/amdgpu/parameters/x", "1\n");
	assert_int_equal(hcs_module_read(root, "amdgpu", &m, 0), 0);
	assert_int_equal(m.state, HCS_MODULE_BUILT_IN);
	assert_false(m.out_of_tree);
	tree_text(root, "sys/module/amdgpu/initstate", "coming\n");
	assert_int_equal(hcs_module_read(root, "amdgpu", &m, 0), 0);
	assert_int_equal(m.state, HCS_MODULE_CHANGING);
	tree_text(root, "sys/module/amdgpu/initstate", "live");
	assert_int_equal(hcs_module_read(root, "amdgpu", &m, 0), 0);
	assert_int_equal(m.state, HCS_MODULE_LIVE);
	assert_int_equal(hcs_module_read(root, "../module", &m, 0), -EINVAL);
	assert_int_equal(hcs_module_read(root, "..", &m, 0), -EINVAL);
	assert_int_equal(hcs_module_read(root, "", &m, 0), -EINVAL);
	tree_remove(root);
}

struct head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len, type_off, type_len, str_off, str_len;
};

static int check(int root, struct head h, size_t tail)
{
	char bytes[sizeof(h) + 64] = {0};
	uint64_t size = 0;
	int ret;

	memcpy(bytes, &h, sizeof(h));
	tree_put(root, "sys/kernel/btf/vmlinux", bytes, sizeof(h) + tail);
	ret = hcs_btf_check(root, "vmlinux", &size, 0);
	if (!ret)
		assert_int_equal(size, sizeof(h) + tail);
	return ret;
}

/* A whole one; then each field wrong, and the file cut. */
static void test_btf(void **state)
{
	const struct head good = {0xeb9f, 1, 0, sizeof(good), 0, 16, 16, 8};
	struct head h;
	int root = tree_new();
	uint64_t size;

	(void)state;
	assert_int_equal(hcs_btf_check(root, "vmlinux", &size, 0), -ENODEV);
	tree_text(root, "sys/kernel/mm/x", "");
	assert_int_equal(hcs_btf_check(root, "vmlinux", &size, 0), -ENOENT);
	assert_int_equal(check(root, good, 24), 0);
	assert_int_equal(check(root, good, 23), -EBADMSG);
	assert_int_equal(check(root, good, 0), -EBADMSG);
	h = good, h.magic = 0x9feb;
	assert_int_equal(check(root, h, 24), -EBADMSG);
	h = good, h.version = 2;
	assert_int_equal(check(root, h, 24), -EBADMSG);
	h = good, h.type_len = 25;
	assert_int_equal(check(root, h, 24), -EBADMSG);
	h = good, h.str_off = UINT32_MAX;
	assert_int_equal(check(root, h, 24), -EBADMSG);
	h = good, h.hdr_len = 8;
	assert_int_equal(check(root, h, 24), -EBADMSG);
	h = good, h.str_len = 0;
	assert_int_equal(check(root, h, 24), -EBADMSG);
	tree_put(root, "sys/kernel/btf/vmlinux", &good, 10);
	assert_int_equal(hcs_btf_check(root, "vmlinux", &size, 0), -EBADMSG);
	tree_remove(root);
}

/* Each load of a module has its own. */
static void test_loads(void **state)
{
	uint64_t first = 0, second = 0, other = 0;
	int root = tree_new();

	(void)state;
	assert_int_equal(hcs_module_id(root, "amdgpu", &first, 0), -ENOENT);
	tree_text(root, "sys/module/amdgpu/initstate", "live\n");
	tree_text(root, "sys/module/gpusim/initstate", "live\n");
	assert_int_equal(hcs_module_id(root, "amdgpu", &first, 0), 0);
	assert_int_equal(hcs_module_id(root, "gpusim", &other, 0), 0);
	assert_true(first && other && first != other);
	assert_int_equal(hcs_module_id(root, "amdgpu", &second, 0), 0);
	assert_true(first == second);
	/* a new folder in its place while the old one is still there, so that it gets another inode
	 */
	assert_int_equal(renameat(root, "sys/module/amdgpu", root, "sys/module/gone"), 0);
	assert_int_equal(hcs_module_id(root, "amdgpu", &second, 0), -ENOENT);
	tree_text(root, "sys/module/amdgpu/initstate", "live\n");
	assert_int_equal(hcs_module_id(root, "amdgpu", &second, 0), 0);
	assert_true(first != second);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_dkms),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_btf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
