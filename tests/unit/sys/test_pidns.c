/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of a process in its pid namespaces. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/pidns.h"

#define STATUS "proc/9/status"

static void names(void **state)
{
	struct hcs_pid_names n;
	int root = tree_new();

	(void)state;
	tree_text(root, STATUS,
		  "Name:\tNSpid:\t7\nState:\tS\nTgid:\t48213\nNgid:\t0\nPid:\t48220\nPPid:\t1\n"
		  "NStgid:\t48213\t97\t1\nNSpid:\t48220\t104\t8\nNSpgid:\t48213\t97\t1\n");
	assert_int_equal(hcs_pid_names(root, 9, &n, 0), 0);
	assert_int_equal(n.tgid, 48213);
	assert_int_equal(n.levels, 3);
	assert_int_equal(n.number[0], 48220);
	assert_int_equal(n.number[1], 104);
	assert_int_equal(n.number[2], 8);
	/* a kernel without pid namespaces */
	tree_text(root, STATUS, "Tgid:\t9\nPid:\t9\n");
	assert_int_equal(hcs_pid_names(root, 9, &n, 0), 0);
	assert_int_equal(n.levels, 1);
	assert_int_equal(n.number[0], 9);
	tree_remove(root);
}

static void malformed(void **state)
{
	static const char *const bad[] = {
		"",
		"Name:\tx\n",
		"Tgid:\t9\n",
		"NSpid:\t9\n",
		"Tgid:\t9\nNSpid:\n",
		"Tgid:\t9\nNSpid:\t9\tx\n",
		"Tgid:\t9\nNSpid:\t9\t-1\n",
		"Tgid:\t9\nNSpid:\t9\t0\n",
		"Tgid:\t9\nNSpid:\t99999999999\n",
		"Tgid:\t0\nNSpid:\t9\n",
		"Tgid:\t9\nPid:\t\n",
	};
	struct hcs_pid_names n = {.tgid = 77};
	char many[400] = "Tgid:\t9\nNSpid:";
	int root = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_text(root, STATUS, bad[i]);
		assert_int_equal(hcs_pid_names(root, 9, &n, 0), -EBADMSG);
	}
	for (int i = 0; i < HCS_PIDNS_LEVELS + 1; i++)
		strcat(many, "\t7");
	tree_text(root, STATUS, many);
	assert_int_equal(hcs_pid_names(root, 9, &n, 0), -EBADMSG);
	assert_int_equal(n.tgid, 77);
	many[strlen(many) - 2] = '\0';
	tree_text(root, STATUS, many);
	assert_int_equal(hcs_pid_names(root, 9, &n, 0), 0);
	assert_int_equal(n.levels, HCS_PIDNS_LEVELS);
	assert_int_equal(hcs_pid_names(root, 8, &n, 0), -ENOENT);
	assert_int_equal(hcs_pid_names(root, 9, &n, 1), -ETIMEDOUT);
	tree_remove(root);
}

static void namespace_links(void **state)
{
	static const char *const bad[] = {"pid:[]",	      "pid:[x]",	   "pid:4026531836",
					  "mnt:[4026531836]", "pid:[99999999999]", "pid:[-1]"};
	uint64_t ns = 7, level[3];
	char path[32];
	int root = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(path, sizeof(path), "proc/%zu/ns/pid", i + 1);
		tree_link(root, path, bad[i]);
		assert_int_equal(hcs_pid_ns(root, (pid_t)i + 1, &ns, 0), -EBADMSG);
	}
	assert_int_equal(ns, 7);
	tree_link(root, "proc/9/ns/pid", "pid:[4026532441]");
	assert_int_equal(hcs_pid_ns(root, 9, &ns, 0), 0);
	assert_int_equal(ns, 4026532441);
	/* only its own is known where the link cannot be followed */
	assert_int_equal(hcs_pid_ns_levels(root, 9, level, 3, 0), 0);
	assert_int_equal(level[0], 0);
	assert_int_equal(level[1], 0);
	assert_int_equal(level[2], 4026532441);
	assert_int_equal(hcs_pid_ns(root, 50, &ns, 0), -ENOENT);
	assert_int_equal(hcs_pid_ns(root, 9, &ns, 1), -ETIMEDOUT);
	assert_int_equal(hcs_pid_ns_levels(root, 9, level, 0, 0), -EINVAL);
	tree_remove(root);
}

static void self(void **state)
{
	int root = tree_new();
	pid_t pid = 0;

	(void)state;
	assert_int_equal(hcs_pid_self(root, &pid, 0), -ENOENT);
	tree_link(root, "proc/self", "48213");
	assert_int_equal(hcs_pid_self(root, &pid, 0), 0);
	assert_int_equal(pid, 48213);
	tree_remove(root);
	root = tree_new();
	tree_link(root, "proc/self", "somewhere/else");
	assert_int_equal(hcs_pid_self(root, &pid, 0), -EBADMSG);
	tree_remove(root);
	root = hcs_root();
	assert_int_equal(hcs_pid_self(root, &pid, 0), 0);
	assert_int_equal(pid, getpid());
	close(root);
}

/* Dies with its parent, also when a check fails. */
static pid_t fork_with_us(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* A grandchild two namespaces down, by real files; needs root. */
static void two_levels_down(void **state)
{
	struct hcs_pid_names n = {0}, inner = {0};
	uint64_t level[3], own;
	int root = hcs_root(), pipes[2];
	pid_t child, grandchild = 0, base;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork_with_us();
	if (!child) {
		if (unshare(CLONE_NEWPID))
			_exit(77);
		grandchild = fork_with_us();
		if (!grandchild) {
			if (unshare(CLONE_NEWPID))
				_exit(77);
			grandchild = fork_with_us();
			if (grandchild)
				waitpid(grandchild, NULL, 0);
			else if (!hcs_pid_self(root, &base, 0))
				/* /proc is of a namespace above: it numbers us by its own */
				_exit(write(pipes[1], &base, sizeof(base)) != sizeof(base) ||
				      pause());
			_exit(0);
		}
		waitpid(grandchild, NULL, 0);
		_exit(77);
	}
	close(pipes[1]);
	if (read(pipes[0], &grandchild, sizeof(grandchild)) != sizeof(grandchild)) {
		waitpid(child, NULL, 0);
		skip();
	}
	assert_int_equal(hcs_pid_names(root, grandchild, &n, 0), 0);
	assert_int_equal(hcs_pid_names(root, 0, &inner, 0), 0);
	assert_int_equal(n.levels, inner.levels + 2);
	assert_int_equal(n.number[0], grandchild);
	assert_int_equal(n.number[n.levels - 2], 2);
	assert_int_equal(n.number[n.levels - 1], 1);
	if (inner.levels == 1) {
		assert_int_equal(hcs_pid_ns_levels(root, grandchild, level, 3, 0), 0);
		assert_int_equal(hcs_pid_ns(root, 0, &own, 0), 0);
		assert_int_equal(level[0], own);
		assert_true(level[1] && level[1] != own && level[1] != level[2]);
		assert_int_equal(hcs_pid_ns(root, grandchild, &own, 0), 0);
		assert_int_equal(level[2], own);
	}
	kill(grandchild, SIGKILL);
	waitpid(child, NULL, 0);
	close(pipes[0]);
	close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),	   cmocka_unit_test(malformed),
		cmocka_unit_test(namespace_links), cmocka_unit_test(self),
		cmocka_unit_test(two_levels_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
