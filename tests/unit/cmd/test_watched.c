/* SPDX-License-Identifier: BSD-2-Clause */
/* Do no harm: when a process may be touched. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "../../../user/cmd/watched.h"

#define S 1000000000ull

static void put(struct watched_table *t, __u16 type, __u64 ts, const void *body, size_t len)
{
	char buf[sizeof(struct hcw_rec) + 64] = {0};
	struct hcw_rec rec = {.ts = ts, .type = type, .len = (__u16)len};

	memcpy(buf, &rec, sizeof(rec));
	memcpy(buf + sizeof(rec), body, len);
	watched_record(t, (const struct hcw_rec *)buf);
}

#define PUT(t, type, ts, ...)                            \
	do {                                             \
		typeof(__VA_ARGS__) body_ = __VA_ARGS__; \
		put(t, type, ts, &body_, sizeof(body_)); \
	} while (0)

static void quiesce(struct watched_table *t, __u64 ts, __u32 tgid, __u64 mm, __s32 ret)
{
	PUT(t, HCW_R_QUIESCE, ts, (struct hcw_quiesce){.victim = tgid, .mm = mm, .ret = ret});
}

/* One that ran before we came may be evicted right now: we would not know. */
static void an_old_process_waits(void **state)
{
	struct watched_table t = {0};
	struct watched *w = watched_add(&t, 42, 10 * S);

	(void)state;
	assert_false(watched_settled(w, 10 * S));
	assert_false(watched_settled(w, 11 * S));
	assert_true(watched_settled(w, 11 * S + 1));
	w = watched_add(&t, 43, 0);
	assert_true(watched_settled(w, 10 * S));
	assert_false(watched_all_settled(&t, 10 * S));
	assert_true(watched_all_settled(&t, 12 * S));
}

static void an_evicted_process_is_left_alone(void **state)
{
	struct watched_table t = {0};
	struct watched *w = watched_add(&t, 42, 0);

	(void)state;
	quiesce(&t, 5 * S, 42, 0xabc, 0);
	assert_false(watched_settled(w, 100 * S));
	PUT(&t, HCW_R_RESUME, 200 * S, (struct hcw_resume){.mm = 0xabc});
	assert_false(watched_settled(w, 200 * S + 5));
	assert_true(watched_settled(w, 201 * S + 1));
	/* noise of an exit, and a failed resume, change nothing */
	quiesce(&t, 300 * S, 42, 0xabc, -3);
	assert_true(watched_settled(w, 300 * S));
	quiesce(&t, 301 * S, 42, 0xabc, 0);
	PUT(&t, HCW_R_RESUME, 302 * S, (struct hcw_resume){.mm = 0xabc, .ret = -3});
	assert_false(watched_settled(w, 400 * S));
}

/* The eviction began before us: only its passes are seen. */
static void a_pass_is_a_sign(void **state)
{
	struct watched_table t = {0};
	struct watched *w = watched_add(&t, 42, 1 * S);

	(void)state;
	PUT(&t, HCW_R_TASK, 1 * S, (struct hcw_task){.tid = 42, .tgid = 42, .mm = 0xabc});
	PUT(&t, HCW_R_PASS, 5 * S, (struct hcw_pass){.mm = 0xabc});
	assert_false(watched_settled(w, 60 * S));
	PUT(&t, HCW_R_PASS, 70 * S, (struct hcw_pass){.mm = 0xabc, .resumed = 1});
	assert_true(watched_settled(w, 72 * S));
	PUT(&t, HCW_R_EVICT, 80 * S, (struct hcw_evict){.victim = 42, .mm = 0xabc});
	assert_false(watched_settled(w, 90 * S));
	PUT(&t, HCW_R_RESTORE, 95 * S, (struct hcw_evict){.victim = 42, .mm = 0xabc});
	assert_true(watched_settled(w, 97 * S));
}

static void exec_and_exit(void **state)
{
	struct watched_table t = {0};
	struct watched *w = watched_add(&t, 42, 0);

	(void)state;
	quiesce(&t, 5 * S, 42, 0xabc, 0);
	/* another thread's record tells nothing; the leader's new mm is an exec */
	PUT(&t, HCW_R_TASK, 6 * S, (struct hcw_task){.tid = 44, .tgid = 42, .mm = 0xdef});
	assert_false(watched_settled(w, 100 * S));
	PUT(&t, HCW_R_TASK, 7 * S, (struct hcw_task){.tid = 42, .tgid = 42, .mm = 0xdef});
	assert_true(watched_settled(w, 100 * S));
	PUT(&t, HCW_R_RESUME, 8 * S, (struct hcw_resume){.mm = 0xdef});
	assert_int_equal(w->last, 8 * S);
	/* the leader's end is not the process's */
	PUT(&t, HCW_R_TASK_EXIT, 9 * S, (struct hcw_task_exit){.tid = 42, .tgid = 42});
	assert_int_equal(t.n, 1);
	PUT(&t, HCW_R_TASK_EXIT, 9 * S, (struct hcw_task_exit){.tid = 44, .tgid = 42, .last = 1});
	assert_int_equal(t.n, 0);
}

/* Its mm is its parent's until exec: what happens to that is told of the parent. */
static void a_vforked_child_is_not_its_parent(void **state)
{
	struct watched_table t = {0};
	struct watched *child = watched_add(&t, 43, 0), *parent = watched_add(&t, 42, 0);

	(void)state;
	PUT(&t, HCW_R_TASK, 1 * S, (struct hcw_task){.tid = 42, .tgid = 42, .mm = 0xabc});
	PUT(&t, HCW_R_TASK, 2 * S, (struct hcw_task){.tid = 43, .tgid = 43, .mm = 0xabc});
	PUT(&t, HCW_R_PASS, 3 * S, (struct hcw_pass){.mm = 0xabc});
	assert_false(watched_settled(parent, 9 * S));
	assert_true(watched_settled(child, 9 * S));
}

/* One that was told first, or had it before, does not keep what is another's. */
static void a_victim_owns_its_address_space(void **state)
{
	struct watched_table t = {0};
	struct watched *before = watched_add(&t, 43, 0), *victim = watched_add(&t, 42, 0);

	(void)state;
	PUT(&t, HCW_R_TASK, 1 * S, (struct hcw_task){.tid = 43, .tgid = 43, .mm = 0xabc});
	quiesce(&t, 2 * S, 42, 0xabc, 0);
	assert_false(watched_settled(victim, 9 * S));
	PUT(&t, HCW_R_RESUME, 3 * S, (struct hcw_resume){.mm = 0xabc});
	assert_true(watched_settled(victim, 9 * S));
	assert_true(watched_settled(before, 3 * S));
}

static void a_full_table_stays_whole(void **state)
{
	struct watched_table t = {0};
	__u32 i;

	(void)state;
	for (i = 1; i <= WATCHED_MAX; i++)
		assert_non_null(watched_add(&t, i, 0));
	assert_null(watched_add(&t, i, 0));
	assert_non_null(watched_add(&t, 1, 0));
	assert_null(watched_find(&t, 0, 0));
	quiesce(&t, S, i, 0xabc, 0);
	assert_true(watched_all_settled(&t, 2 * S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_old_process_waits),
		cmocka_unit_test(an_evicted_process_is_left_alone),
		cmocka_unit_test(a_pass_is_a_sign),
		cmocka_unit_test(exec_and_exit),
		cmocka_unit_test(a_vforked_child_is_not_its_parent),
		cmocka_unit_test(a_victim_owns_its_address_space),
		cmocka_unit_test(a_full_table_stays_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
