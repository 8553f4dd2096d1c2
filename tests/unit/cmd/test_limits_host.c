/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Full tables of the kernel side and calls whose start or end is missing, on this machine's own
 * kernel: everything is bounded, and everything that had no room is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "migrations.h"

#define DYING	100003u /* prime */
#define STACK	(64u << 10)
#define HIGH	(1u << 30) /* ids no process and no thread has: above pid_max */
#define CROWD	20011u	   /* more than seen_tasks has room for */
#define AT_ONCE 16

static struct hcw_limits limits(struct hcw_session *s)
{
	struct hcw_limits l;

	assert_int_equal(hcw_session_limits(s, &l), 0);
	return l;
}

static __u32 entries(const struct bpf_map *map)
{
	__u32 key, *last = NULL, n = 0;

	while (!bpf_map_get_next_key(bpf_map__fd(map), last, &key)) {
		last = &key;
		n++;
	}
	return n;
}

/* Takes all the room there is in a table by id. */
static __u32 fill(const struct bpf_map *map)
{
	void *value = calloc(1, bpf_map__value_size(map));
	__u32 key = HIGH;

	assert_non_null(value);
	while (!bpf_map_update_elem(bpf_map__fd(map), &key, value, BPF_NOEXIST))
		key++;
	free(value);
	return key - HIGH;
}

static void empty(const struct bpf_map *map, __u32 n)
{
	__u32 key;

	for (key = HIGH; key < HIGH + n; key++)
		assert_int_equal(bpf_map_delete_elem(bpf_map__fd(map), &key), 0);
}

static __u64 last_start;

static int on_record(const struct hcw_rec *rec, void *ctx)
{
	if (rec->type == HCW_R_MIGRATE) {
		last_start = ((const struct hcw_migrate *)(rec + 1))->start;
		(*(__u64 *)ctx)++;
	}
	return 0;
}

static __u64 drain(struct hcw_session *s)
{
	__u64 n = 0;
	int ret;

	do
		ret = hcw_session_pump(s, 20, on_record, &n);
	while (ret > 0);
	assert_int_equal(ret, 0);
	return n;
}

/* A start whose end was lost is not paired with a later end, and both halves are counted. */
static void test_unpaired(void **state)
{
	struct hcw_session *s = migrations_open(0, false);
	struct hcw_totals t;
	__u64 second;

	(void)state;
	migrate_begin(s);
	second = hcs_boot_ns();
	migrate_begin(s);
	migrate_end(s, 1);
	migrate_end(s, 2);
	t = migrations_total(s, HCW_R_MIGRATE);
	assert_int_equal(t.emitted, 1);
	assert_int_equal(t.skipped, 1);
	assert_int_equal(t.lost, 1);
	assert_int_equal(t.unbegun, 1);
	assert_int_equal(drain(s), 1);
	assert_true(last_start >= second);
	assert_int_equal(entries(s->attached.skel->maps.threads), 0);
	hcw_session_close(s);
}

static void *enter_and_die(void *arg)
{
	migrate_begin(arg);
	return NULL;
}

/* 100,003 threads enter and die: no place stays taken, every record that never came is counted. */
static void test_dying_threads(void **state)
{
	struct hcw_session *s = migrations_open(64u << 10, true);
	pthread_t thread[AT_ONCE];
	struct hcw_totals t;
	pthread_attr_t attr;
	__u32 i, j, n;

	(void)state;
	if (!hcw_session_plan(s)->entry[HCW_POINT_TASK_EXIT].active) {
		printf("dying threads not checked: %s\n",
		       hcw_session_plan(s)->entry[HCW_POINT_TASK_EXIT].reason);
		hcw_session_close(s);
		skip();
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < DYING; i += n) {
		n = DYING - i < AT_ONCE ? DYING - i : AT_ONCE;
		for (j = 0; j < n; j++)
			assert_int_equal(pthread_create(&thread[j], &attr, enter_and_die, s), 0);
		for (j = 0; j < n; j++)
			assert_int_equal(pthread_join(thread[j], NULL), 0);
	}
	/* join() can come before the kernel's side of the end */
	for (i = 0; i < 200 && entries(s->attached.skel->maps.threads); i++)
		usleep(10000);
	assert_int_equal(entries(s->attached.skel->maps.threads), 0);
	t = migrations_total(s, HCW_R_MIGRATE);
	assert_int_equal(t.skipped, DYING);
	assert_int_equal(t.map_full, 0);
	assert_int_equal(limits(s).count[HCW_LIMIT_THREADS], 0);
	/* and the next one is traced as ever */
	drain(s);
	migrate_begin(s);
	migrate_end(s, 3);
	assert_int_equal(drain(s), 1);
	hcw_session_close(s);
}

static void test_threads_full(void **state)
{
	struct hcw_session *s = migrations_open(0, false);
	const struct bpf_map *threads = s->attached.skel->maps.threads;
	struct hcw_totals t;
	__u32 i, n;

	(void)state;
	n = fill(threads);
	assert_int_equal(n, bpf_map__max_entries(threads));
	for (i = 0; i < 7; i++) {
		migrate_begin(s);
		migrate_end(s, i);
	}
	t = migrations_total(s, HCW_R_MIGRATE);
	assert_int_equal(t.emitted, 0);
	assert_int_equal(t.map_full, 7);
	assert_int_equal(t.lost, 7);
	assert_int_equal(t.unbegun, 7);
	assert_int_equal(limits(s).count[HCW_LIMIT_THREADS], 7);
	empty(threads, n);
	migrate_begin(s);
	migrate_end(s, i);
	t = migrations_total(s, HCW_R_MIGRATE);
	assert_int_equal(t.emitted, 1);
	assert_int_equal(t.lost, 7);
	hcw_session_close(s);
}

static void fork_once(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
}

/* A child that cannot be watched. */
static void test_watched_full(void **state)
{
	struct hcw_session *s = migrations_open(0, true);
	struct hcw_err err = {0};
	__u32 n;

	(void)state;
	if (!hcw_session_plan(s)->entry[HCW_POINT_TASK_FORK].active) {
		printf("children not checked: %s\n",
		       hcw_session_plan(s)->entry[HCW_POINT_TASK_FORK].reason);
		hcw_session_close(s);
		skip();
	}
	fflush(stdout);
	fork_once();
	assert_int_equal(limits(s).count[HCW_LIMIT_WATCHED], 0);
	n = fill(s->attached.skel->maps.watched);
	assert_in_range(n, 1, bpf_map__max_entries(s->attached.skel->maps.watched) - 1);
	fork_once();
	fork_once();
	assert_int_equal(limits(s).count[HCW_LIMIT_WATCHED], 2);
	assert_true(hcw_session_watch(s, 1, &err) < 0);
	assert_non_null(strstr(err.what, "too many"));
	hcw_session_close(s);
}

static void *one_migration(void *arg)
{
	migrate_begin(arg);
	migrate_end(arg, 1);
	return NULL;
}

/* More threads than are remembered, and nobody sees them end: at least so many were forgotten. */
static void test_tasks_forgotten(void **state)
{
	struct hcw_session *s = migrations_open(16u << 20, false);
	__u32 i, room = bpf_map__max_entries(s->attached.skel->maps.seen_tasks);
	struct hcw_totals t;
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < CROWD; i++) {
		assert_int_equal(pthread_create(&thread, &attr, one_migration, s), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	t = migrations_total(s, HCW_R_TASK);
	/* a number can be used again: then its thread is known already, or told once more */
	assert_in_range(limits(s).count[HCW_LIMIT_TASKS], 1, t.emitted - room);
	assert_int_equal(migrations_total(s, HCW_R_MIGRATE).emitted, CROWD);
	assert_int_equal(migrations_total(s, HCW_R_MIGRATE).lost, 0);
	hcw_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unpaired),	cmocka_unit_test(test_dying_threads),
		cmocka_unit_test(test_threads_full),	cmocka_unit_test(test_watched_full),
		cmocka_unit_test(test_tasks_forgotten),
	};

	if (!migrations_possible())
		return MIGRATIONS_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
