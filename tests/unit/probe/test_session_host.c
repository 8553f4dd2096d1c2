/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session on this machine's kernel, which watches this very program. Uses what tiers the kernel
 * has; ends with 77 (skipped) and the reason where BPF is not permitted.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../allocator/include/hcpool/iteration.h"
#include "../../../allocator/src/usdt.h"
#include "../../../user/probe/internal.h"

#define SKIPPED	   77
#define ITERATIONS 1009 /* prime: no buffer size divides it */
#define PAGES	   131	/* prime, and more than one chunk of statuses */
#define PAGE	   4096UL
#define MOVE	   2 /* MPOL_MF_MOVE of linux/mempolicy.h */

struct seen {
	__u64 count[HCW_R_BPF_COUNT];
	__u64 next_begin, next_end, last_ts;
	struct hcw_pool pool;
	struct hcw_task task;
	struct hcw_move_pages move;
	__u32 exited;
	__u32 iterating; /* process of the last iteration */
};

static int on_record(const struct hcw_rec *rec, void *ctx)
{
	const void *body = rec + 1;
	const struct hcw_iter *iter = body;
	struct seen *s = ctx;

	assert_in_range(rec->type, 1, HCW_R_BPF_COUNT - 1);
	assert_int_equal(rec->len % 8, 0);
	s->count[rec->type]++;
	s->last_ts = rec->ts;
	if (rec->type == HCW_R_ITER_BEGIN)
		assert_int_equal(iter->id, s->next_begin++);
	else if (rec->type == HCW_R_ITER_END)
		assert_int_equal(iter->id, s->next_end++);
	if (rec->type == HCW_R_ITER_END)
		s->iterating = iter->tgid;
	if (rec->type == HCW_R_POOL_ALLOC)
		memcpy(&s->pool, body, sizeof(s->pool));
	else if (rec->type == HCW_R_MOVE_PAGES)
		memcpy(&s->move, body, sizeof(s->move));
	else if (rec->type == HCW_R_TASK && rec->tid == (__u32)gettid())
		memcpy(&s->task, body, sizeof(s->task));
	else if (rec->type == HCW_R_TASK_EXIT)
		s->exited = ((const struct hcw_task_exit *)body)->tid;
	return 0;
}

static void drain(struct hcw_session *s, struct seen *seen)
{
	int n;

	do
		n = hcw_session_pump(s, 50, on_record, seen);
	while (n > 0);
	assert_int_equal(n, 0);
}

static struct hcw_session *open_session(size_t ring_bytes, bool watch)
{
	const struct hcw_session_opts opts = {.ring_bytes = ring_bytes};
	struct hcw_session *s = NULL;
	struct hcw_err err = {0};

	if (hcw_session_open(&s, &opts, &err))
		fail_msg("%s", err.what);
	if (watch)
		assert_int_equal(hcw_session_watch(s, getpid(), &err), 0);
	return s;
}

static void attach_self(struct hcw_session *s)
{
	struct hcw_err err = {0};
	int n = hcw_session_attach_file(s, "/proc/self/exe", &err);

	if (n != 4)
		fail_msg("%d marks: %s", n, err.what);
	/* the same file again, and one without marks */
	assert_int_equal(hcw_session_attach_file(s, "/proc/self/exe", &err), 0);
	assert_int_equal(hcw_session_attach_file(s, "/dev/null", &err), 0);
	assert_true(hcw_session_attach_file(s, "/nonexistent", &err) < 0);
}

static void *iterate(void *arg)
{
	__u64 i;

	for (i = 0; i < ITERATIONS; i++) {
		hcwatch_iteration_begin(i);
		hcwatch_iteration_end(i);
	}
	*(__u32 *)arg = (__u32)gettid();
	return NULL;
}

static void exact_totals(struct hcw_session *s, const struct seen *seen)
{
	struct hcw_totals totals[HCW_R_BPF_COUNT];
	int type;

	assert_int_equal(hcw_session_totals(s, totals), 0);
	for (type = 1; type < HCW_R_BPF_COUNT; type++) {
		assert_int_equal(totals[type].source, type);
		assert_int_equal(totals[type].emitted, seen->count[type]);
		assert_int_equal(totals[type].lost, 0);
	}
}

static void marks_and_tasks_come_through(void **state)
{
	struct hcw_session *s = open_session(0, true);
	const struct hcw_plan *plan = hcw_session_plan(s);
	struct seen seen = {0};
	pthread_t thread;
	__u32 tid = 0;

	(void)state;
	assert_false(plan->entry[HCW_POINT_ITERATION].active);
	attach_self(s);
	assert_true(plan->entry[HCW_POINT_ITERATION].active);
	assert_int_equal(plan->entry[HCW_POINT_POOL].tier, HCW_TIER_USDT);
	usdt_alloc(0x123456789000, 135790592, HCW_BACKING_REGISTERED);
	assert_int_equal(pthread_create(&thread, NULL, iterate, &tid), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	usdt_free(0x123456789000);
	drain(s, &seen);
	assert_int_equal(seen.count[HCW_R_ITER_BEGIN], ITERATIONS);
	assert_int_equal(seen.count[HCW_R_ITER_END], ITERATIONS);
	assert_int_equal(seen.count[HCW_R_POOL_ALLOC], 1);
	assert_int_equal(seen.count[HCW_R_POOL_FREE], 1);
	assert_int_equal(seen.pool.ptr, 0x123456789000);
	assert_int_equal(seen.pool.bytes, 135790592);
	assert_int_equal(seen.pool.backing, HCW_BACKING_REGISTERED);
	assert_int_equal(seen.pool.tgid, getpid());
	assert_int_equal(seen.count[HCW_R_TASK], 2);
	assert_int_equal(seen.task.tgid, getpid());
	assert_true(seen.task.start_time > 0 && seen.task.mm);
	assert_true(!strncmp(seen.task.comm, "test_probe_sess", HCW_COMM_LEN));
	if (plan->entry[HCW_POINT_TASK_EXIT].active)
		assert_int_equal(seen.exited, tid);
	exact_totals(s, &seen);
	hcw_session_close(s);
}

/* A ring of one page, read only afterwards: what was emitted and what was lost is all that
 * happened. */
static void nothing_is_lost_uncounted(void **state)
{
	struct hcw_session *s = open_session((size_t)sysconf(_SC_PAGESIZE), true);
	struct hcw_totals totals[HCW_R_BPF_COUNT];
	__u64 emitted, lost;
	__u32 tid = 0;
	int type;
	struct seen seen = {0};

	(void)state;
	attach_self(s);
	iterate(&tid);
	assert_int_equal(hcw_session_totals(s, totals), 0);
	for (type = HCW_R_ITER_BEGIN; type <= HCW_R_ITER_END; type++) {
		emitted = totals[type].emitted;
		lost = totals[type].lost;
		assert_true(emitted > 0 && lost > 0);
		assert_int_equal(emitted + lost, ITERATIONS);
	}
	emitted = totals[HCW_R_ITER_BEGIN].emitted + totals[HCW_R_ITER_END].emitted;
	drain(s, &seen);
	assert_int_equal(seen.count[HCW_R_ITER_BEGIN] + seen.count[HCW_R_ITER_END], emitted);
	hcw_session_close(s);
}

static void others_are_not_told(void **state)
{
	struct hcw_session *s = open_session(0, false);
	struct seen seen = {0};
	struct hcw_err err = {0};
	__u32 tid = 0;
	int type;

	(void)state;
	attach_self(s);
	iterate(&tid);
	drain(s, &seen);
	for (type = 1; type < HCW_R_BPF_COUNT; type++)
		assert_int_equal(seen.count[type], 0);
	assert_int_equal(hcw_session_watch(s, getpid(), &err), 0);
	iterate(&tid);
	drain(s, &seen);
	assert_int_equal(seen.count[HCW_R_ITER_END], ITERATIONS);
	exact_totals(s, &seen);
	hcw_session_close(s);
}

static bool is_listed(const struct hcw_session *s, pid_t pid)
{
	__u32 key = (__u32)pid, value;

	return !bpf_map__lookup_elem(s->attached.skel->maps.watched, &key, sizeof(key), &value,
				     sizeof(value), 0);
}

/* A child, and a child of that, which does the work. The first one lives until the pipe is closed.
 */
static pid_t fork_worker(const int *pipefd)
{
	pid_t child = fork();
	__u32 tid;
	char byte;

	if (child)
		return child;
	close(pipefd[1]);
	if (!fork()) {
		iterate(&tid);
		_exit(0);
	}
	wait(NULL);
	_exit(read(pipefd[0], &byte, 1) ? 1 : 0);
}

/* Until it is dead; its number may be another's then. */
static void children_are_watched(void **state)
{
	struct hcw_session *s = open_session(0, true);
	const struct hcw_plan *plan = hcw_session_plan(s);
	struct seen seen = {0};
	time_t end = time(NULL) + 30;
	int pipefd[2], status;
	pid_t child;

	(void)state;
	if (!plan->entry[HCW_POINT_TASK_FORK].active || !plan->entry[HCW_POINT_TASK_EXIT].active) {
		printf("children not checked: %s\n", plan->entry[HCW_POINT_TASK_FORK].reason);
		hcw_session_close(s);
		skip();
	}
	attach_self(s);
	assert_int_equal(pipe(pipefd), 0);
	fflush(stdout);
	child = fork_worker(pipefd);
	/* 0 also when a record was being written just then */
	while (seen.count[HCW_R_ITER_END] < ITERATIONS && time(NULL) < end)
		assert_true(hcw_session_pump(s, 50, on_record, &seen) >= 0);
	assert_int_equal(seen.count[HCW_R_ITER_END], ITERATIONS);
	assert_true(is_listed(s, child));
	assert_int_not_equal(seen.iterating, child);
	assert_int_not_equal(seen.iterating, getpid());
	close(pipefd[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_false(is_listed(s, child));
	assert_false(is_listed(s, (pid_t)seen.iterating));
	assert_true(is_listed(s, getpid()));
	close(pipefd[0]);
	drain(s, &seen);
	exact_totals(s, &seen);
	hcw_session_close(s);
}

/* Half of the pages are there, the other half never was: node and -ENOENT, and the range that was
 * asked for. */
static void statuses_are_counted(void **state)
{
	struct hcw_session *s = open_session(0, true);
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	int nodes[PAGES] = {0}, status[PAGES], i;
	__u32 want[HCW_PAGE_CLASSES] = {0};
	struct seen seen = {0};
	void *pages[PAGES];

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	if (!hcw_session_plan(s)->entry[HCW_POINT_MOVE_PAGES].active) {
		printf("move_pages not checked: %s\n",
		       hcw_session_plan(s)->entry[HCW_POINT_MOVE_PAGES].reason);
		munmap(memory, PAGES * PAGE);
		hcw_session_close(s);
		skip();
	}
	for (i = 0; i < PAGES; i++) {
		pages[i] = memory + (size_t)i * PAGE;
		if (i % 2)
			memory[(size_t)i * PAGE] = 1;
	}
	assert_int_equal(syscall(SYS_move_pages, 0, PAGES, pages, nodes, status, MOVE), 0);
	for (i = 0; i < PAGES; i++)
		want[hcw_page_classify(status[i])]++;
	assert_int_equal(syscall(SYS_move_pages, 0, PAGES, pages, NULL, status, MOVE), 0);
	drain(s, &seen);
	assert_int_equal(seen.count[HCW_R_MOVE_PAGES], 1); /* the query is none */
	assert_int_equal(seen.move.requested, PAGES);
	assert_int_equal(seen.move.read, PAGES);
	assert_int_equal(want[HCW_PAGE_NODE], PAGES / 2);
	assert_int_equal(seen.move.moved, want[HCW_PAGE_NODE]);
	assert_int_equal(seen.move.efault, want[HCW_PAGE_EFAULT]);
	assert_int_equal(seen.move.enoent, want[HCW_PAGE_ENOENT]);
	assert_int_equal(seen.move.lo, (uintptr_t)pages[0]);
	assert_int_equal(seen.move.hi, (uintptr_t)pages[PAGES - 1]);
	munmap(memory, PAGES * PAGE);
	hcw_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_and_tasks_come_through),
		cmocka_unit_test(nothing_is_lost_uncounted),
		cmocka_unit_test(others_are_not_told),
		cmocka_unit_test(children_are_watched),
		cmocka_unit_test(statuses_are_counted),
	};
	const struct hcw_session_opts opts = {0};
	struct hcw_session *s;
	struct hcw_err err = {0};

	if (hcw_session_open(&s, &opts, &err)) {
		printf("SKIP probe_session_host: %s\n", err.what);
		return err.code == HCW_EXIT_PERMISSION || err.code == HCW_EXIT_UNSUPPORTED ? SKIPPED
											   : 1;
	}
	hcw_session_close(s);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
