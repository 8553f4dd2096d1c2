/* SPDX-License-Identifier: BSD-2-Clause */
/* Which control groups a process is in: both versions, whole names only. */
#include <errno.h>
#include <string.h>
#include "tree.h"
#include "../../../user/sys/cgroup.h"

#define FILE_OF_9 "proc/9/cgroup"

static void whole_names(void **state)
{
	static const struct {
		const char *path;
		int in;
	} cases[] = {
		{"/kubepods/pod1", 1},
		{"/kubepods/pod1/", 1},
		{"/kubepods/pod1//", 1},
		{"/kubepods", 1},
		{"/", 1},
		{"/kubepods/pod", 0},
		{"/kubepods/pod12", 0},
		{"/kubepods/pod1/srv", 1},
		{"/kubepods/pod1/srv/x", 0},
		{"/pod1", 0},
		{"/kube", 0},
	};
	int root = tree_new();

	(void)state;
	tree_text(root, FILE_OF_9, "0::/kubepods/pod1/srv\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(hcs_cgroup_in(root, 9, cases[i].path, 0), cases[i].in);
	tree_remove(root);
}

/* Version 1, alone and beside version 2: any hierarchy counts. A path may hold colons. */
static void both_versions(void **state)
{
	int root = tree_new();

	(void)state;
	tree_text(root, FILE_OF_9,
		  "12:cpuset:/\n4:memory:/docker/abc\n1:name=systemd:/a:b/c\n0::/user.slice\n");
	assert_int_equal(hcs_cgroup_in(root, 9, "/docker", 0), 1);
	assert_int_equal(hcs_cgroup_in(root, 9, "/docker/abc", 0), 1);
	assert_int_equal(hcs_cgroup_in(root, 9, "/docker/ab", 0), 0);
	assert_int_equal(hcs_cgroup_in(root, 9, "/user.slice", 0), 1);
	assert_int_equal(hcs_cgroup_in(root, 9, "/a:b", 0), 1);
	assert_int_equal(hcs_cgroup_in(root, 9, "/a", 0), 0);
	assert_int_equal(hcs_cgroup_in(root, 9, "/c", 0), 0);
	/* of another cgroup namespace: above what the reader sees as the root */
	tree_text(root, FILE_OF_9, "0::/../other\n");
	assert_int_equal(hcs_cgroup_in(root, 9, "/other", 0), 0);
	assert_int_equal(hcs_cgroup_in(root, 9, "/../other", 0), 1);
	tree_remove(root);
}

static void malformed(void **state)
{
	static const char *const bad[] = {"0\n", "0:\n", "0::\n", "::a\n", "0:x\n", "\n"};
	int root = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_text(root, FILE_OF_9, bad[i]);
		assert_int_equal(hcs_cgroup_in(root, 9, "/a", 0), -EBADMSG);
	}
	tree_text(root, FILE_OF_9, "");
	assert_int_equal(hcs_cgroup_in(root, 9, "/a", 0), 0);
	assert_int_equal(hcs_cgroup_in(root, 8, "/a", 0), -ENOENT);
	assert_int_equal(hcs_cgroup_in(root, 9, "a", 0), -EINVAL);
	assert_int_equal(hcs_cgroup_in(root, 9, "", 0), -EINVAL);
	assert_int_equal(hcs_cgroup_in(root, -9, "/a", 0), -EINVAL);
	assert_int_equal(hcs_cgroup_in(root, 9, "/a", 1), -ETIMEDOUT);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_names),
		cmocka_unit_test(both_versions),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
