/* SPDX-License-Identifier: BSD-2-Clause */
/* The traced command: held until released, its failures told, ended in time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../../user/cmd/child.h"

static void wait_end(struct hcw_child *c)
{
	int tries = 500;

	while (!child_ended(c) && tries-- > 0)
		usleep(10000);
	assert_true(c->ended);
}

static void runs_only_when_released(void **state)
{
	char *const argv[] = {"sh", "-c", "echo ran; exit 7", NULL};
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct hcw_child c;
	struct hcw_err err;

	(void)state;
	assert_int_equal(child_start(&c, argv, fd, true, &err), 0);
	usleep(100000);
	assert_false(child_ended(&c));
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_int_equal(child_release(&c, &err), 0);
	wait_end(&c);
	assert_int_equal(WEXITSTATUS(c.status), 7);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
	close(fd);
}

static void tells_a_failed_exec(void **state)
{
	char *const argv[] = {"./no-such-program", NULL};
	struct hcw_child c;
	struct hcw_err err;

	(void)state;
	assert_int_equal(child_start(&c, argv, -1, true, &err), 0);
	assert_true(child_release(&c, &err) < 0);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_true(c.ended);
}

/* Our own tool must not outlive us. */
static void kills_what_does_not_end(void **state)
{
	char *const argv[] = {"sh", "-c", "trap '' TERM; while :; do sleep 0.05; done", NULL};
	struct timespec a, b;
	struct hcw_child c;
	struct hcw_err err;

	(void)state;
	assert_int_equal(child_start(&c, argv, -1, true, &err), 0);
	assert_int_equal(child_release(&c, &err), 0);
	usleep(200000);
	clock_gettime(CLOCK_MONOTONIC, &a);
	child_leave(&c, SIGTERM, 300);
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_true(c.ended);
	assert_true(WIFSIGNALED(c.status));
	assert_true(b.tv_sec - a.tv_sec < 5);
}

/* The user's server gets the signal, and as long as it wants; it is never killed. */
static void leaves_the_users_command_alone(void **state)
{
	char *const argv[] = {"sh", "-c", "trap 'echo got' TERM; sleep 1; exit 9", NULL};
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct hcw_child c;
	struct hcw_err err;

	(void)state;
	assert_int_equal(child_start(&c, argv, fd, false, &err), 0);
	assert_int_equal(child_release(&c, &err), 0);
	usleep(200000);
	child_leave(&c, SIGTERM, 100);
	assert_false(c.ended);
	wait_end(&c);
	assert_true(WIFEXITED(c.status));
	assert_int_equal(WEXITSTATUS(c.status), 9);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4); /* the signal did reach it */
	close(fd);
}

/* 0: it came from the terminal, which has told the command already. */
static void does_not_repeat_a_signal(void **state)
{
	char *const argv[] = {"sleep", "1", NULL};
	struct hcw_child c;
	struct hcw_err err;

	(void)state;
	assert_int_equal(child_start(&c, argv, -1, false, &err), 0);
	assert_int_equal(child_release(&c, &err), 0);
	child_leave(&c, 0, 50);
	assert_false(c.ended);
	wait_end(&c);
	assert_true(WIFEXITED(c.status));
}

static void a_held_child_ends_too(void **state)
{
	char *const argv[] = {"sleep", "1000", NULL};
	struct hcw_child c;
	struct hcw_err err;

	(void)state;
	assert_int_equal(child_start(&c, argv, -1, true, &err), 0);
	child_leave(&c, SIGTERM, 1000);
	assert_true(c.ended);
}

static void finds_programs_as_exec_does(void **state)
{
	char path[4096];

	(void)state;
	assert_int_equal(child_path("sh", path, sizeof(path)), 0);
	assert_int_equal(path[0], '/');
	assert_true(child_path("no-such-program-anywhere", path, sizeof(path)) < 0);
	assert_true(child_path("./no-such-program", path, sizeof(path)) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_only_when_released),
		cmocka_unit_test(tells_a_failed_exec),
		cmocka_unit_test(kills_what_does_not_end),
		cmocka_unit_test(leaves_the_users_command_alone),
		cmocka_unit_test(does_not_repeat_a_signal),
		cmocka_unit_test(a_held_child_ends_too),
		cmocka_unit_test(finds_programs_as_exec_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
