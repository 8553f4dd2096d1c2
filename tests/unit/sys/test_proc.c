/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/proc.h"

#define STAT "proc/9/stat"
#define TAIL " S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 555 0 0\n"

static void test_read(void **state)
{
	int root = tree_fixture("proc-sglang");
	struct hcs_proc p;

	(void)state;
	assert_int_equal(hcs_proc_read(root, 48213, &p, 0), 0);
	assert_int_equal(p.tgid, 48213);
	assert_int_equal(p.parent, 48001);
	assert_int_equal(p.state, 'S');
	assert_string_equal(p.comm, "sglang::sch) (0");
	assert_int_equal(p.start_ticks, 8813245);
	assert_int_equal(hcs_proc_read(root, 48300, &p, 0), 0);
	assert_int_equal(p.state, 'Z');
	assert_int_equal(hcs_proc_read(root, 121, &p, 0), 0);
	assert_string_equal(p.comm, "kcompactd0");
	assert_int_equal(hcs_proc_read(root, 4, &p, 0), -ENOENT);
	assert_int_equal(hcs_proc_read(root, -4, &p, 0), -EINVAL);
	assert_int_equal(hcs_proc_read(root, 121, &p, 1), -ETIMEDOUT);
	close(root);
}

static void test_cmdline(void **state)
{
	int root = tree_fixture("proc-sglang");
	char buf[64];

	(void)state;
	assert_int_equal(hcs_proc_cmdline(root, 48213, buf, sizeof(buf), 0), 33);
	assert_string_equal(buf, "sglang::scheduler_TP3 --tp-size 8");
	assert_int_equal(hcs_proc_cmdline(root, 48213, buf, 8, 0), 7);
	assert_string_equal(buf, "sglang:");
	assert_int_equal(hcs_proc_cmdline(root, 121, buf, sizeof(buf), 0), 0);
	assert_string_equal(buf, "");
	assert_int_equal(hcs_proc_cmdline(root, 4, buf, sizeof(buf), 0), -ENOENT);
	assert_int_equal(hcs_proc_cmdline(root, 48213, buf, 0, 0), -EINVAL);
	close(root);
}

static void test_odd_comm(void **state)
{
	static const char *const comms[] = {"",
					    ")",
					    "(",
					    ") S 1 (",
					    "a\nb",
					    "  ",
					    "((",
					    "))",
					    "\xff\xfe",
					    "\033[31m",
					    "kworker/u513:3+events_unbound_and_a_long_tail"};
	int root = tree_new();
	struct hcs_proc p;

	(void)state;
	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "9 (%s)" TAIL, comms[i]);
		tree_text(root, STAT, text);
		assert_int_equal(hcs_proc_read(root, 9, &p, 0), 0);
		assert_string_equal(p.comm, comms[i]);
		assert_int_equal(p.parent, 1);
		assert_int_equal(p.start_ticks, 555);
	}
	tree_remove(root);
}

static void test_malformed(void **state)
{
	static const char *const bad[] = {
		"",
		"9",
		"9 (x",
		"9 (x)",
		"9 x) S 1",
		"9 )x( S 1",
		"x (x)" TAIL,
		"-9 (x)" TAIL,
		"99999999999 (x)" TAIL,
		"9 (x) S 1 9 9\n",
		"9 (x) SS 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 555 0\n",
		"9 (x) S -1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 555 0\n",
		"9 (x) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 -555 0\n",
		"9 (x) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0\n",
		"9 (0123456789012345678901234567890123456789012345678901234567890123)" TAIL,
	};
	struct hcs_proc p = {.tgid = 77};
	int root = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_text(root, STAT, bad[i]);
		assert_int_equal(hcs_proc_read(root, 9, &p, 0), -EBADMSG);
	}
	tree_put(root, STAT, "9 (x)\0" TAIL, sizeof("9 (x)\0" TAIL) - 1);
	assert_int_equal(hcs_proc_read(root, 9, &p, 0), -EBADMSG);
	assert_int_equal(p.tgid, 77);
	tree_remove(root);
}

static void test_this_process(void **state)
{
	int root = hcs_root();
	struct hcs_proc p;
	char buf[256];

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "a) R 7 (b"), 0);
	assert_int_equal(hcs_proc_read(root, 0, &p, 0), 0);
	assert_int_equal(p.tgid, getpid());
	assert_int_equal(p.parent, getppid());
	assert_string_equal(p.comm, "a) R 7 (b");
	assert_true(p.start_ticks > 0);
	assert_int_equal(p.threads, 1);
	assert_true(hcs_proc_cmdline(root, 0, buf, sizeof(buf), 0) > 0);
	assert_non_null(strstr(buf, "test_sys_proc"));
	close(root);
}

struct seen {
	size_t n;
	int self, stop_at;
};

static int see(pid_t pid, void *ctx)
{
	struct seen *s = ctx;

	s->n++;
	s->self |= pid == getpid();
	return s->stop_at && pid == s->stop_at;
}

/* Only whole numbers are processes. */
static void test_each(void **state)
{
	int root = tree_new();
	struct seen s = {0};

	(void)state;
	tree_text(root, "proc/1/stat", "");
	tree_text(root, "proc/12/stat", "");
	tree_text(root, "proc/self2/stat", "");
	tree_text(root, "proc/12x/stat", "");
	tree_text(root, "proc/-3/stat", "");
	assert_int_equal(hcs_proc_each(root, see, &s, 0), 0);
	assert_int_equal(s.n, 2);
	s.stop_at = 12;
	assert_int_equal(hcs_proc_each(root, see, &s, 0), 1);
	assert_int_equal(hcs_proc_each(root, see, &s, 1), -ETIMEDOUT);
	tree_remove(root);
	root = hcs_root();
	s = (struct seen){0};
	assert_int_equal(hcs_proc_each(root, see, &s, 0), 0);
	assert_true(s.self);
	close(root);
}

static void test_exe(void **state)
{
	char buf[256];
	int root = tree_new();

	(void)state;
	tree_link(root, "proc/9/exe", "/usr/bin/a b (deleted)");
	assert_int_equal(hcs_proc_exe(root, 9, buf, sizeof(buf), 0), 22);
	assert_string_equal(buf, "/usr/bin/a b (deleted)");
	assert_int_equal(hcs_proc_exe(root, 9, buf, 22, 0), -E2BIG);
	assert_int_equal(hcs_proc_exe(root, 8, buf, sizeof(buf), 0), -ENOENT);
	assert_int_equal(hcs_proc_exe(root, -1, buf, sizeof(buf), 0), -EINVAL);
	tree_remove(root);
	root = hcs_root();
	assert_true(hcs_proc_exe(root, 0, buf, sizeof(buf), 0) > 0);
	assert_non_null(strstr(buf, "test_sys_proc"));
	close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),	     cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_odd_comm),     cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_this_process), cmocka_unit_test(test_each),
		cmocka_unit_test(test_exe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
