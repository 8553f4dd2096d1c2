/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is hit, who did it: processes and threads over their lives. */
#include <string.h>
#include "trial.h"

#define OTHER	   300u
#define OTHER_MM   (MM + 0x9000)
#define STRANGER   500u
#define OTHER_WORK (WORK + 64)

static const struct stop pool_hit = {
	.start = ATTEMPT + 1000,
	.attempt = ATTEMPT,
	.reason = MR_SYSCALL,
	.trigger = BY_USERPTR,
	.lo = POOL,
	.hi = POOL_END,
};

/* Ranks of one server, stopped in turns: nothing of one may land on the other. */
static void test_interleaved(void **state)
{
	struct stop a = {.start = MS(100), .trigger = BY_USERPTR, .lo = POOL, .hi = POOL_END};
	struct stop b = a;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	b.start = MS(110);
	b.tid = b.victim = OTHER;
	b.mm = OTHER_MM;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_task(&s, 4000, OTHER, OTHER, OTHER_MM, "other");
	stream_pool(&s, 5000, OTHER, POOL, HCW_BACKING_REGISTERED);
	stream_stop(&s, &a);
	stream_stop(&s, &b);
	stream_pass(&s, MS(112), MS(113), MM, WORK, false);
	stream_pass(&s, MS(112), MS(114), OTHER_MM, OTHER_WORK, false);
	stream_pass(&s, MS(115), MS(116), 0, OTHER_WORK, false);
	stream_restart(&s, MS(120), SERVER, MM);
	stream_pass(&s, MS(114), MS(120) + 50, 0, WORK, true);
	stream_restart(&s, MS(150), OTHER, OTHER_MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 2);
	assert_int_equal(m->n_victims, 2);
	assert_int_equal(m->episodes[0].victim, SERVER);
	assert_int_equal(m->episodes[0].end, MS(120));
	assert_int_equal(m->episodes[0].passes, 2);
	assert_int_equal(m->episodes[0].passes_thrown, 1);
	assert_int_equal(m->episodes[0].pool, 0);
	assert_int_equal(m->episodes[1].victim, OTHER);
	assert_int_equal(m->episodes[1].end, MS(150));
	assert_int_equal(m->episodes[1].passes, 2);
	assert_int_equal(m->episodes[1].passes_thrown, 2);
	assert_int_equal(m->episodes[1].pool, 1);
	assert_string_equal(m->victims[1].comm, "other");
	assert_int_equal(m->unattributed_passes, 0);
	stream_close(&s);
}

static void check_stranger(__s32 pid)
{
	struct hcw_move_pages mp = stream_moved(ATTEMPT, POOL, 512);
	struct stop stop = pool_hit;
	const struct hcw_model *m;
	struct stream s;

	mp.pid = pid;
	stop.tid = STRANGER;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_task(&s, 4000, STRANGER, STRANGER, OTHER_MM, "stranger");
	/* it has a pool at the same address, which it does not touch */
	stream_pool(&s, 5000, STRANGER, POOL, HCW_BACKING_REGISTERED);
	stream_stop(&s, &stop);
	stream_move(&s, MS(105), STRANGER, &mp);
	stream_restart(&s, MS(150), SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].victim, SERVER);
	assert_int_equal(m->episodes[0].started_by.tid, STRANGER);
	assert_int_equal(m->episodes[0].started_by.tgid, STRANGER);
	assert_string_equal(m->episodes[0].started_by.comm, "stranger");
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_MOVE_PAGES);
	assert_int_equal(m->attempts[0].pool, 0);
	assert_int_equal(m->pools[0].moved, 512);
	assert_int_equal(m->pools[1].attempts, 0);
	stream_close(&s);
}

static void test_mover_is_another_process(void **state)
{
	(void)state;
	check_stranger(SERVER);
	/* move_pages(2) takes the id of any thread */
	check_stranger(MOVER);
}

static void test_dies_while_evicted(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_exit(&s, MS(120), MOVER, SERVER);
	assert_false(hcw_chain_model(s.chain)->episodes[0].killed);
	stream_exit(&s, MS(130), SERVER, SERVER);
	/* the restore worker was under way */
	stream_restart(&s, MS(140), SERVER, MM);
	stream_pass(&s, MS(120), MS(141), MM, WORK, true);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_true(m->episodes[0].killed);
	assert_int_equal(m->episodes[0].end, MS(130));
	assert_true(m->victims[0].exited);
	assert_int_equal(m->n_victims, 1);
	assert_int_equal(m->victims[0].episode_ns, MS(30) - 1000);
	assert_int_equal(m->pools[0].episode_ns, MS(30) - 1000);
	assert_int_equal(m->pools[0].freed, MS(130));
	stream_close(&s);
}

/* The leader may end long before the other threads do. */
static void test_leader_leaves_first(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_leave(&s, MS(90), SERVER, SERVER, false);
	m = hcw_chain_model(s.chain);
	assert_false(m->victims[0].exited);
	assert_int_equal(m->pools[0].freed, 0);
	stream_stop(&s, &pool_hit);
	stream_restart(&s, MS(150), SERVER, MM);
	stream_leave(&s, MS(160), MOVER, SERVER, true);
	/* of two that end at once each may be the last */
	stream_leave(&s, MS(161), MOVER + 1, SERVER, true);
	m = stream_end(&s, MS(200));
	assert_false(m->episodes[0].killed);
	assert_int_equal(m->episodes[0].end, MS(150));
	assert_true(m->victims[0].exited);
	assert_int_equal(m->pools[0].freed, MS(160));
	assert_int_equal(m->n_victims, 1);
	stream_close(&s);
}

/* Records from before they said which thread is the last. */
static void test_old_exit(void **state)
{
	struct hcw_task_exit x = {.mm = MM, .tid = MOVER, .tgid = SERVER, .last = 1};
	const size_t old = offsetof(struct hcw_task_exit, last);
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	m = hcw_chain_model(s.chain);
	stream_put(&s, HCW_R_TASK_EXIT, MS(90), x.tid, &x, old);
	assert_false(m->victims[0].exited);
	x.tid = SERVER;
	stream_put(&s, HCW_R_TASK_EXIT, MS(95), x.tid, &x, old);
	assert_true(m->victims[0].exited);
	stream_close(&s);
}

/* The kernel gives the dead server's mm and pid to others. */
static void test_mm_and_pid_reused(void **state)
{
	struct hcw_move_pages mp = stream_moved(MS(160), POOL, 512);
	struct stop stop = pool_hit;
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	stream_stop(&s, &pool_hit);
	stream_exit(&s, MS(130), SERVER, SERVER);
	stream_task(&s, MS(140), OTHER, OTHER, MM, "other");
	stop.start = MS(150);
	stop.tid = stop.victim = OTHER;
	stream_stop(&s, &stop);
	stream_restart(&s, MS(155), OTHER, MM);
	/* a new process with the old pid moves pages where the old pool was */
	stream_task(&s, MS(159), SERVER, SERVER, OTHER_MM, "young");
	stream_move(&s, MS(161), SERVER, &mp);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 2);
	assert_true(m->episodes[0].killed);
	assert_int_equal(m->episodes[1].victim, OTHER);
	assert_int_equal(m->episodes[1].end, MS(155));
	assert_int_equal(m->n_victims, 2);
	assert_int_equal(m->victims[1].episodes, 1);
	assert_int_equal(m->pools[0].moved, 0);
	assert_int_equal(m->pools[0].attempts, 0);
	stream_close(&s);
}

/* An exit that was lost, or exec: the next sight of the pid tells. */
static void check_other_life(__u64 start_time, __u64 mm)
{
	struct hcw_task t = {
		.start_time = start_time,
		.mm = mm,
		.tid = SERVER,
		.tgid = SERVER,
		.comm = "next",
	};
	const struct hcw_model *m;
	struct stream s;

	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_put(&s, HCW_R_TASK, MS(150), SERVER, &t, sizeof(t));
	stream_iteration(&s, MS(160), MS(161), SERVER);
	m = stream_end(&s, MS(200));
	assert_true(m->episodes[0].killed);
	assert_int_equal(m->episodes[0].end, MS(150));
	assert_int_equal(m->pools[0].freed, MS(150));
	assert_int_equal(m->n_victims, 2);
	assert_true(m->victims[0].exited);
	assert_string_equal(m->victims[0].comm, "server");
	assert_string_equal(m->victims[1].comm, "next");
	assert_int_equal(m->victims[1].mm, mm);
	assert_int_equal(m->victims[1].start_time, start_time);
	assert_int_equal(m->victims[1].iterations, 1);
	stream_close(&s);
}

static void test_other_life(void **state)
{
	(void)state;
	check_other_life(1000 + SERVER, OTHER_MM);
	check_other_life(99999, OTHER_MM);
	check_other_life(99999, MM);
}

/* prctl(PR_SET_NAME) tells a task again; its process goes on. */
static void test_renamed(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_task(&s, MS(110), SERVER, SERVER, MM, "renamed");
	stream_task(&s, MS(111), MOVER, SERVER, MM, "thread");
	stream_restart(&s, MS(150), SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_victims, 1);
	assert_false(m->episodes[0].killed);
	assert_int_equal(m->episodes[0].end, MS(150));
	assert_string_equal(m->victims[0].comm, "renamed");
	assert_string_equal(m->episodes[0].started_by.comm, "mover");
	stream_close(&s);
}

/* The thread of an attempt whose record was lost ends; its id comes again with the same start. */
static void check_tid_reused(bool exit_seen)
{
	struct hcw_move_pages mp = stream_moved(ATTEMPT, POOL, 1);
	struct hcw_task t = {.start_time = 5, .mm = OTHER_MM, .tid = MOVER, .tgid = OTHER};
	const struct hcw_model *m;
	struct stream s;

	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_stop(&s, &pool_hit);
	stream_restart(&s, MS(110), SERVER, MM);
	if (exit_seen)
		stream_exit(&s, MS(120), MOVER, SERVER);
	strcpy(t.comm, "late");
	stream_put(&s, HCW_R_TASK, MS(130), MOVER, &t, sizeof(t));
	stream_move(&s, MS(140), MOVER, &mp);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_attempts, 2);
	assert_int_equal(m->attempts[0].end, 0);
	assert_false(m->attempts[0].is_move_pages);
	assert_string_equal(m->attempts[0].actor.comm, "mover");
	assert_string_equal(m->attempts[1].actor.comm, "late");
	assert_int_equal(m->attempts[1].actor.tgid, OTHER);
	assert_int_equal(m->episodes[0].attempt, 0);
	assert_int_equal(m->episodes[0].cause, HCW_CAUSE_MIGRATE_SYSCALL);
	stream_close(&s);
}

static void test_tid_reused(void **state)
{
	(void)state;
	check_tid_reused(true);
	check_tid_reused(false);
}

/* Threads that come and go leave no trace: only the living ones count towards the limit. */
static void test_threads_come_and_go(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	for (i = 0; i < 300000; i++) {
		stream_task(&s, MS(1), 1000 + i, SERVER, MM, "worker");
		if (i >= 100)
			stream_exit(&s, MS(1), 900 + i, SERVER);
	}
	stream_stop(&s, &pool_hit);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->dropped, 0);
	assert_string_equal(m->episodes[0].started_by.comm, "mover");
	assert_false(m->victims[0].exited);
	stream_close(&s);
}

/* A victim that is met before its task record, or by a thread that is not the leader. */
static void test_names(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_task(&s, 1000, MOVER, SERVER, MM, "mover");
	stream_iteration(&s, MS(1), MS(2), SERVER);
	stream_iteration(&s, MS(1), MS(2), OTHER);
	m = hcw_chain_model(s.chain);
	assert_string_equal(m->victims[0].comm, "mover");
	assert_int_equal(m->victims[0].mm, MM);
	assert_string_equal(m->victims[1].comm, "");
	stream_task(&s, MS(3), SERVER, SERVER, MM, "server");
	stream_task(&s, MS(3), OTHER, OTHER, OTHER_MM, "other");
	stream_end(&s, MS(200));
	assert_string_equal(m->victims[0].comm, "server");
	assert_string_equal(m->victims[1].comm, "other");
	assert_int_equal(m->victims[1].mm, OTHER_MM);
	assert_int_equal(m->victims[0].start_time, 1000 + SERVER);
	stream_close(&s);
}

/* An mm that has no owner any more and is stopped all the same. */
static void test_nameless_victim(void **state)
{
	struct hcw_quiesce q = {.start = MS(50), .mm = MM, .stack = -1, .trigger = BY_USERPTR};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	q.reason = HCW_REASON_NONE;
	stream_open(&s, WITHOUT(HCW_R_EVICT) & WITHOUT(HCW_R_RESTORE));
	stream_put(&s, HCW_R_QUIESCE, MS(51), KWORKER, &q, sizeof(q));
	stream_restart(&s, MS(60), 0, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].victim, 0);
	assert_int_equal(m->episodes[0].mm, MM);
	assert_int_equal(m->episodes[0].end, MS(60));
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interleaved),
		cmocka_unit_test(test_mover_is_another_process),
		cmocka_unit_test(test_dies_while_evicted),
		cmocka_unit_test(test_leader_leaves_first),
		cmocka_unit_test(test_old_exit),
		cmocka_unit_test(test_mm_and_pid_reused),
		cmocka_unit_test(test_other_life),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_tid_reused),
		cmocka_unit_test(test_threads_come_and_go),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_nameless_victim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
