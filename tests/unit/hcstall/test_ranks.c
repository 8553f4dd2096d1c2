/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks meet in every iteration; one that dies or fails ends the run for all, and hangs nobody. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../bpf/hcwatch_abi.h"
#include "../../../tools/hcstall/ranks.h"

#define MEETINGS 300

struct script {
	int *counts;	  /* shared: meetings of each rank */
	unsigned int who; /* does something at meeting `at`; 0 = nobody */
	int at;
	enum { FAIL, DIE, LEAVE } what;
};

static int act(const struct script *s, struct stall_err *err)
{
	if (s->what == DIE)
		kill(getpid(), SIGKILL);
	if (s->what == LEAVE)
		_exit(0);
	stall_fail(err, HCW_EXIT_PERMISSION, "no more");
	stall_hint(err, "ask for less");
	return -1;
}

static int follow(struct stall_ranks *ranks, unsigned int rank, void *arg, struct stall_err *err)
{
	const struct script *s = arg;
	bool over = false;

	while (!over) {
		if (rank == s->who && s->counts[rank] == s->at)
			return act(s, err);
		/* each rank is late in turn */
		if (s->counts[rank] % 7 == (int)rank)
			usleep(100);
		if (stall_ranks_meet(ranks, rank, &over, err))
			return -1;
		s->counts[rank]++;
		stall_ranks_at(ranks, rank)->trial[0].median_ns++;
	}
	return 0;
}

static int lead(struct stall_ranks *ranks, int *count, struct stall_err *err)
{
	bool over;
	int i;

	for (i = 0; i < MEETINGS; i++) {
		over = i + 1 == MEETINGS;
		if (stall_ranks_meet(ranks, 0, &over, err))
			return -1;
		++*count;
	}
	return 0;
}

static int run(struct script *s, unsigned int n, struct stall_err *err)
{
	struct stall_err join_err;
	struct stall_ranks *ranks;
	unsigned int i;
	int ret;

	alarm(60); /* a test that hangs must end */
	s->counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(s->counts, MAP_FAILED);
	assert_int_equal(stall_ranks_start(&ranks, n, 1, follow, s, err), 0);
	ret = lead(ranks, &s->counts[0], err);
	if (ret)
		stall_ranks_fail(ranks, 0, err);
	if (stall_ranks_join(ranks, &join_err) && !ret) {
		*err = join_err;
		ret = -1;
	}
	for (i = 1; ranks && i < n; i++)
		assert_int_equal(stall_ranks_at(ranks, i)->trial[0].median_ns, s->counts[i]);
	stall_ranks_free(ranks);
	alarm(0);
	return ret;
}

static void test_meetings(void **state)
{
	struct script s = {0};
	struct stall_err err;
	int i;

	(void)state;
	assert_int_equal(run(&s, 4, &err), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(s.counts[i], MEETINGS);
	munmap(s.counts, 4096);
}

/* Alone there is nobody to wait for. */
static void test_one(void **state)
{
	struct script s = {0};
	struct stall_err err;

	(void)state;
	assert_int_equal(run(&s, 1, &err), 0);
	assert_int_equal(s.counts[0], MEETINGS);
	munmap(s.counts, 4096);
}

static void ends(struct script s, int code, const char *what, const char *hint)
{
	struct stall_err err = {0};
	int i;

	assert_int_equal(run(&s, 3, &err), -1);
	assert_int_equal(err.code, code);
	if (!strstr(err.what, what) || !strstr(err.hint, hint))
		fail_msg("\"%s\" and \"%s\" are not in: %s / %s", what, hint, err.what, err.hint);
	for (i = 0; i < 3; i++)
		assert_true(s.at <= s.counts[i] && s.counts[i] <= s.at + 1);
	munmap(s.counts, 4096);
}

static void test_killed(void **state)
{
	(void)state;
	ends((struct script){.who = 2, .at = 50, .what = DIE}, HCW_EXIT_INCOMPLETE, "rank 2", "");
	ends((struct script){.who = 1, .at = 0, .what = DIE}, HCW_EXIT_INCOMPLETE,
	     "was killed by signal 9", "");
}

static void test_fails(void **state)
{
	(void)state;
	ends((struct script){.who = 1, .at = 120, .what = FAIL}, HCW_EXIT_PERMISSION,
	     "rank 1: no more", "ask for less");
}

/* A rank that ends well, but before its time. */
static void test_leaves(void **state)
{
	(void)state;
	ends((struct script){.who = 2, .at = 10, .what = LEAVE}, HCW_EXIT_INCOMPLETE,
	     "rank 2 ended early", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meetings), cmocka_unit_test(test_one),
		cmocka_unit_test(test_killed),	 cmocka_unit_test(test_fails),
		cmocka_unit_test(test_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
