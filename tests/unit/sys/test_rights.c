/* SPDX-License-Identifier: BSD-2-Clause */
/* Capabilities, lockdown, user namespace, tracefs, probes by perf events. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/rights.h"

#define STATUS "proc/self/status"

/* C9: bits 38 and 39 only. */
static void test_two_capabilities(void **state)
{
	int root = tree_fixture("rights/paranoid3");
	struct hcs_rights r;

	(void)state;
	assert_int_equal(hcs_rights_read(root, 0, &r, 0), 0);
	assert_true(r.cap_effective == (1ull << 38 | 1ull << 39));
	assert_true(r.cap_bounding == 0x1ffffffffffull);
	assert_true(hcs_has_cap(&r, HCS_CAP_BPF) && hcs_has_cap(&r, HCS_CAP_PERFMON));
	assert_false(hcs_has_cap(&r, HCS_CAP_SYS_ADMIN) || hcs_has_cap(&r, HCS_CAP_SYSLOG));
	assert_int_equal(r.seccomp, 0);
	assert_int_equal(r.no_new_privs, 0);
	assert_int_equal(hcs_rights_read(root, 0, &r, 1), -ETIMEDOUT);
	close(root);
}

static void test_status(void **state)
{
	static const char *const bad[] = {"",
					  "Name:\tx\n",
					  "CapEff:\t\n",
					  "CapEff:\t12g4\n",
					  "CapEff:\t00000000000000001\n",
					  "CapEff:\t0\nSeccomp:\ttwo\n"};
	int root = tree_new();
	struct hcs_rights r;

	(void)state;
	assert_int_equal(hcs_rights_read(root, 0, &r, 0), -ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_text(root, STATUS, bad[i]);
		assert_int_equal(hcs_rights_read(root, 0, &r, 0), -EBADMSG);
	}
	tree_text(root, STATUS, "CapEff:\t000001ffffffffff\n");
	assert_int_equal(hcs_rights_read(root, 0, &r, 0), 0);
	assert_int_equal(r.seccomp, -1); /* not told is not none */
	assert_int_equal(r.no_new_privs, -1);
	/* a name that looks like a field cannot forge one: the kernel escapes its newline */
	tree_text(root, STATUS, "Name:\tCapEff:\t0\nCapEff:\t8000000000\nSeccomp:\t2\n");
	assert_int_equal(hcs_rights_read(root, 0, &r, 0), 0);
	assert_true(hcs_has_cap(&r, HCS_CAP_BPF));
	assert_int_equal(r.seccomp, 2);
	tree_remove(root);
}

static void test_user_ns(void **state)
{
	static const struct {
		const char *map;
		int first;
	} cases[] = {
		{"         0          0 4294967295\n", 1},
		{"         0       1000          1\n", 0},
		{"         0          0 4294967295\n         1 2 3\n", 0},
		{"0 0 4294967294\n", 0},
		{"", 0}, /* nothing is mapped yet */
	};
	int root = tree_new();

	(void)state;
	assert_int_equal(hcs_first_user_ns(root, 0, 0), -ENOENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_text(root, "proc/self/uid_map", cases[i].map);
		assert_int_equal(hcs_first_user_ns(root, 0, 0), cases[i].first);
	}
	tree_remove(root);
}

/* C10: the five states of the file. */
static void test_lockdown(void **state)
{
	static const struct {
		const char *tree;
		int ret;
		enum hcs_lockdown level;
	} cases[] = {
		{"lockdown/none", 0, HCS_LOCKDOWN_NONE},
		{"lockdown/integrity", 0, HCS_LOCKDOWN_INTEGRITY},
		{"lockdown/confidentiality", 0, HCS_LOCKDOWN_CONFIDENTIALITY},
		{"lockdown/missing", -ENOENT, 0},
		{"lockdown/unreadable", -EISDIR, 0},
	};
	enum hcs_lockdown level;
	int root;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		root = tree_fixture(cases[i].tree);
		assert_int_equal(hcs_lockdown_read(root, &level, 0), cases[i].ret);
		if (!cases[i].ret)
			assert_int_equal(level, cases[i].level);
		close(root);
	}
	root = tree_new();
	tree_text(root, "sys/kernel/security/lockdown", "none integrity confidentiality\n");
	assert_int_equal(hcs_lockdown_read(root, &level, 0), -EBADMSG);
	tree_text(root, "sys/kernel/security/lockdown", "[paranoia]\n");
	assert_int_equal(hcs_lockdown_read(root, &level, 0), -EBADMSG);
	tree_remove(root);
}

static void test_tracefs(void **state)
{
	int root = tree_new();

	(void)state;
	assert_int_equal(hcs_tracefs_check(root, 0), -ENOENT);
	tree_text(root, "sys/kernel/debug/tracing/README", "tracing mini-HOWTO:\n");
	assert_int_equal(hcs_tracefs_check(root, 0), 0);
	tree_remove(root);
	root = tree_new();
	tree_text(root, "sys/kernel/tracing/README", "tracing mini-HOWTO:\n");
	assert_int_equal(hcs_tracefs_check(root, 0), 0);
	assert_int_equal(fchmodat(root, "sys/kernel/tracing/README", 0, 0), 0);
	if (geteuid())
		assert_int_equal(hcs_tracefs_check(root, 0), -EACCES);
	tree_remove(root);
}

static void test_perf_probes(void **state)
{
	int root = tree_new();

	(void)state;
	assert_int_equal(hcs_perf_probe_right(root, "kprobe", 0), -ENODEV);
	tree_text(root, "sys/bus/x", "");
	assert_int_equal(hcs_perf_probe_right(root, "kprobe", 0), -ENOENT);
	tree_text(root, "sys/bus/event_source/devices/kprobe/type", "six\n");
	assert_int_equal(hcs_perf_probe_right(root, "kprobe", 0), -EBADMSG);
	tree_text(root, "sys/bus/event_source/devices/kprobe/type", "4294967296\n");
	assert_int_equal(hcs_perf_probe_right(root, "kprobe", 0), -EBADMSG);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_capabilities), cmocka_unit_test(test_status),
		cmocka_unit_test(test_user_ns),		 cmocka_unit_test(test_lockdown),
		cmocka_unit_test(test_tracefs),		 cmocka_unit_test(test_perf_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
