/* SPDX-License-Identifier: BSD-2-Clause */
/* Who asked for what a kernel worker did; and the names of stacks. */
#include <stdio.h>
#include <string.h>
#include "stream.h"

#define WORKER	50u
#define WRITER	800u
#define LATER	801u
#define STOPPED MS(20000)

static struct stop moved_by(__u32 tid, __u32 reason)
{
	return (struct stop){
		.start = STOPPED,
		.tid = tid,
		.attempt = STOPPED - 100,
		.reason = reason,
		.trigger = BY_USERPTR,
		.lo = POOL,
		.hi = POOL + POOL_BYTES,
	};
}

static void begin(struct stream *s, unsigned int sources)
{
	stream_open(s, sources);
	stream_server(s, HCW_BACKING_REGISTERED);
	stream_task(s, 4000, WORKER, WORKER, 0, "kworker/1:2");
	stream_task(s, 4000, WRITER, WRITER, MM + 0x5000, "systemd");
	stream_task(s, 4000, LATER, LATER, MM + 0x6000, "later");
}

static const struct hcw_episode *stop_by(struct stream *s, __u32 tid, __u32 reason)
{
	struct stop stop = moved_by(tid, reason);

	stream_stop(s, &stop);
	stream_migrate(s, STOPPED - 100, MS(20030), tid, STOPPED - 100, 512);
	stream_restart(s, MS(20040), SERVER, MM);
	return &stream_end(s, MS(21000))->episodes[0];
}

static void test_cpuset(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	begin(&s, ALL_SOURCES);
	stream_request(&s, MS(15000), LATER, HCW_REQUEST_CPUSET, 0);
	stream_request(&s, MS(19990), WRITER, HCW_REQUEST_CPUSET, 0);
	stream_request(&s, MS(19995), LATER, HCW_REQUEST_COMPACT, 0);
	stream_request(&s, MS(19996), LATER, HCW_REQUEST_CPUSET, MM + 0x9000);
	stream_exit(&s, MS(19998), WRITER, WRITER);
	e = stop_by(&s, WORKER, MR_SYSCALL);
	assert_int_equal(e->cause, HCW_CAUSE_MIGRATE_SYSCALL);
	assert_string_equal(e->started_by.comm, "kworker/1:2");
	assert_int_equal(e->initiator.tid, WRITER);
	assert_int_equal(e->initiator.tgid, WRITER);
	assert_string_equal(e->initiator.comm, "systemd");
	assert_false(e->initiator_unknown);
	stream_close(&s);
}

/* Where only evictions are seen, the migration that adopts the episode tells as much. */
static void test_evictions_only(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	begin(&s, WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_RESUME));
	stream_request(&s, MS(19990), WRITER, HCW_REQUEST_CPUSET, 0);
	e = stop_by(&s, WORKER, MR_SYSCALL);
	assert_int_equal(e->cause, HCW_CAUSE_MIGRATE_SYSCALL);
	assert_int_equal(e->initiator.tid, WRITER);
	stream_close(&s);
}

static void test_nobody_seen(void **state)
{
	const struct hcw_episode *e;
	struct stream s;

	(void)state;
	begin(&s, ALL_SOURCES);
	/* too early, too late */
	stream_request(&s, STOPPED - MS(10000) - 1, WRITER, HCW_REQUEST_CPUSET, 0);
	stream_request(&s, STOPPED + 1, LATER, HCW_REQUEST_CPUSET, 0);
	e = stop_by(&s, WORKER, MR_SYSCALL);
	assert_int_equal(e->initiator.tid, 0);
	assert_true(e->initiator_unknown);
	stream_close(&s);
}

/* Only a worker that moves pages by a system call's reason does it for somebody. */
static void test_nobody_asked(void **state)
{
	static const struct {
		__u32 tid, reason;
	} row[] = {
		{MOVER, MR_SYSCALL}, /* migrate_pages(2) */
		{WORKER, 0},	     /* kcompactd */
		{WRITER, 0},	     /* a write to compact_memory */
		{WORKER, 8},	     /* demotion */
		{4711, MR_SYSCALL},  /* a thread never told */
	};
	struct stream s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct hcw_episode *e;

		begin(&s, ALL_SOURCES);
		stream_request(&s, MS(19990), WRITER, HCW_REQUEST_CPUSET, 0);
		stream_request(&s, MS(19990), WRITER, HCW_REQUEST_COMPACT, 0);
		e = stop_by(&s, row[i].tid, row[i].reason);
		assert_int_equal(e->started_by.tid, row[i].tid);
		assert_int_equal(e->initiator.tid, 0);
		assert_false(e->initiator_unknown);
		stream_close(&s);
	}
}

/* More requests than are kept: the last ones are. */
static void test_many_requests(void **state)
{
	const struct hcw_episode *e;
	struct stream s;
	__u32 i;

	(void)state;
	begin(&s, ALL_SOURCES);
	for (i = 0; i < 100; i++)
		stream_request(&s, MS(19000 + i), i == 99 ? WRITER : LATER, HCW_REQUEST_CPUSET, 0);
	e = stop_by(&s, WORKER, MR_SYSCALL);
	assert_int_equal(e->initiator.tid, WRITER);
	stream_close(&s);
}

static void check_stack(const struct stream *s, __s32 id, __u32 depth, const char *names, size_t n)
{
	__u32 got = 77;
	const char *text = hcw_chain_stack(s->chain, id, &got);

	assert_non_null(text);
	assert_int_equal(got, depth);
	assert_memory_equal(text, names, n);
}

static void test_stacks(void **state)
{
	static const char two[] = "kgd2kfd_quiesce_mm+0x0 [amdgpu]\0migrate_pages+0x1";
	static const char other[] = "a+0x1";
	__u32 depth;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	assert_null(hcw_chain_stack(s.chain, 5, &depth));
	stream_stack(&s, 5, 2, two, sizeof(two));
	stream_stack(&s, 0, 1, other, sizeof(other));
	stream_stack(&s, -1, 1, other, sizeof(other));
	check_stack(&s, 5, 2, two, sizeof(two));
	check_stack(&s, 0, 1, other, sizeof(other));
	assert_null(hcw_chain_stack(s.chain, -1, &depth));
	/* told again, it is replaced */
	stream_stack(&s, 5, 1, other, sizeof(other));
	check_stack(&s, 5, 1, other, sizeof(other));
	stream_close(&s);
}

/* The depth a trace claims, and names without an end. */
static void test_damaged_stacks(void **state)
{
	static const char cut[] = {'a', '\0', 'b', 'b', 'b', 'b', 'b', 'b'};
	__u32 depth;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_stack(&s, 1, 4000000000u, "a\0b\0c", 6);
	check_stack(&s, 1, 3, "a\0b\0c", 6);
	stream_stack(&s, 2, 2, cut, sizeof(cut));
	check_stack(&s, 2, 1, "a", 2);
	stream_stack(&s, 3, 1, "", 0);
	assert_null(hcw_chain_stack(s.chain, 3, &depth));
	stream_stack(&s, 4, 0, "a", 2);
	assert_null(hcw_chain_stack(s.chain, 4, &depth));
	stream_close(&s);
}

static void test_stacks_full(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	char name[32];
	__u32 depth;
	__s32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 0; i < 4100; i++) {
		int n = snprintf(name, sizeof(name), "f%d+0x1", i);

		stream_stack(&s, i, 1, name, (size_t)n + 1);
	}
	check_stack(&s, 4095, 1, "f4095+0x1", 10);
	assert_null(hcw_chain_stack(s.chain, 4096, &depth));
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->dropped_stalls, 4);
	assert_int_equal(m->dropped, 0);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpuset),	       cmocka_unit_test(test_evictions_only),
		cmocka_unit_test(test_nobody_seen),    cmocka_unit_test(test_nobody_asked),
		cmocka_unit_test(test_many_requests),  cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_damaged_stacks), cmocka_unit_test(test_stacks_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
