/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies of other lengths, unknown types, nonsense, full tables. */
#include <stdlib.h>
#include <string.h>
#include "stream.h"

#define RANDOM_RECORDS 200000

/* A record in a block of exactly its size, so that a sanitizer sees the first byte beyond. */
static void add_exact(struct hcw_chain *c, __u16 type, __u64 ts, __u32 tid, const void *body,
		      __u16 len)
{
	struct hcw_rec *rec = malloc(sizeof(*rec) + len);

	assert_non_null(rec);
	*rec = (struct hcw_rec){.ts = ts, .tid = tid, .type = type, .len = len};
	memcpy(rec + 1, body, len);
	assert_int_equal(hcw_chain_add(c, rec), 0);
	free(rec);
}

/* An older writer's body ends early: what it lacks reads as zero. */
static void test_short_body(void **state)
{
	struct hcw_move_pages mp = stream_moved(MS(1), POOL, 9);
	struct hcw_quiesce q = {.start = MS(1), .mm = MM, .lo = 1, .hi = 2, .victim = SERVER};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	m = hcw_chain_model(s.chain);
	add_exact(s.chain, HCW_R_MOVE_PAGES, MS(2), MOVER, &mp, 32);
	assert_int_equal(m->attempts[0].move.requested, 9);
	assert_int_equal(m->attempts[0].move.moved, 0);
	add_exact(s.chain, HCW_R_QUIESCE, MS(2), MOVER, &q, 16);
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].mm, MM);
	assert_int_equal(m->episodes[0].hi, 0);
	stream_close(&s);
}

static void test_every_length(void **state)
{
	char body[128];
	struct stream s;
	__u16 type, len;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (type = 0; type <= HCW_R_END + 4; type++)
		for (len = 0; len <= sizeof(body); len++) {
			memset(body, len + 1, sizeof(body));
			add_exact(s.chain, type, MS(1), MOVER, body, len);
		}
	hcw_chain_finish(s.chain);
	stream_close(&s);
}

/* A newer writer's body goes on: what we know of it counts, the rest is skipped. */
static void test_long_body(void **state)
{
	struct {
		struct hcw_move_pages mp;
		char more[24];
	} body = {.mp = stream_moved(MS(1), POOL, 9)};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	memset(body.more, 0xff, sizeof(body.more));
	stream_open(&s, ALL_SOURCES);
	add_exact(s.chain, HCW_R_MOVE_PAGES, MS(2), MOVER, &body, sizeof(body));
	m = hcw_chain_model(s.chain);
	assert_memory_equal(&m->attempts[0].move, &body.mp, sizeof(body.mp));
	stream_close(&s);
}

static void test_unknown_types(void **state)
{
	static const __u16 types[] = {0, HCW_R_BPF_COUNT, 127, HCW_R_END + 1, 255, 65535};
	const struct hcw_model *m;
	char body[64] = {1};
	struct stream s;
	size_t i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		add_exact(s.chain, types[i], MS(1 + i), MOVER, body, sizeof(body));
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->records, i);
	assert_int_equal(m->first_ts, MS(1));
	assert_int_equal(m->last_ts, MS(6));
	assert_int_equal(m->n_episodes + m->n_attempts + m->n_pools + m->n_victims + m->n_holes, 0);
	stream_close(&s);
}

/* Paths and names come from others: without a NUL, and longer than their place. */
static void test_strings_without_end(void **state)
{
	struct {
		struct hcw_mapping m;
		char path[200];
	} map = {.m = {.lo = POOL, .hi = POOL + POOL_BYTES, .pool = POOL, .tgid = SERVER}};
	struct hcw_task t = {.start_time = 1, .mm = MM, .tid = SERVER, .tgid = SERVER};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	memset(map.path, 'p', sizeof(map.path));
	memset(t.comm, 'c', sizeof(t.comm));
	stream_open(&s, ALL_SOURCES);
	add_exact(s.chain, HCW_R_TASK, MS(1), SERVER, &t, sizeof(t));
	stream_pool(&s, MS(2), SERVER, POOL, HCW_BACKING_GTT);
	add_exact(s.chain, HCW_R_MAPPING, MS(3), 0, &map, sizeof(map));
	m = hcw_chain_model(s.chain);
	assert_int_equal(strlen(m->pools[0].path), sizeof(m->pools[0].path) - 1);
	assert_int_equal(strlen(m->victims[0].comm), HCW_COMM_LEN - 1);
	stream_close(&s);
}

static void test_totals_and_end(void **state)
{
	struct hcw_totals t = {.source = HCW_R_INVAL, .emitted = 10, .lost = 2};
	struct hcw_hole h = {.from = 1, .to = 2, .cause = HCW_HOLE_DAMAGED_FRAME};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	m = hcw_chain_model(s.chain);
	stream_put(&s, HCW_R_TOTALS, MS(1), 0, &t, sizeof(t));
	t = (struct hcw_totals){.source = HCW_R_INVAL, .emitted = 20, .lost = 3};
	stream_put(&s, HCW_R_TOTALS, MS(2), 0, &t, sizeof(t));
	t = (struct hcw_totals){.source = HCW_R_ITER_END, .emitted = 1, .lost = 4};
	stream_put(&s, HCW_R_TOTALS, MS(2), 0, &t, sizeof(t));
	t = (struct hcw_totals){.source = HCW_R_BPF_COUNT, .emitted = 1, .lost = 100};
	stream_put(&s, HCW_R_TOTALS, MS(2), 0, &t, sizeof(t));
	assert_int_equal(m->lost, 7);
	assert_int_equal(m->totals[HCW_R_INVAL].emitted, 20);
	stream_put(&s, HCW_R_HOLE, MS(2), 0, &h, sizeof(h));
	assert_int_equal(m->damaged, 1);
	assert_false(m->ended);
	stream_end(&s, MS(3));
	assert_true(m->ended);
	assert_int_equal(m->end_reason, HCW_END_COMMAND);
	stream_close(&s);
}

/* An older recorder's totals end with `lost`: why is not known then. */
static void test_old_totals(void **state)
{
	struct hcw_totals t = {.source = HCW_R_INVAL, .emitted = 10, .lost = 2, .ring_full = 2};
	const struct hcw_totals *got;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	got = &hcw_chain_model(s.chain)->totals[HCW_R_INVAL];
	add_exact(s.chain, HCW_R_TOTALS, MS(1), 0, &t, 24);
	assert_int_equal(got->lost, 2);
	assert_int_equal(got->ring_full + got->map_full + got->skipped + got->unbegun, 0);
	add_exact(s.chain, HCW_R_TOTALS, MS(2), 0, &t, sizeof(t));
	assert_int_equal(got->ring_full, 2);
	stream_close(&s);
}

/* The last ones count; a newer recorder may know more of them. Only a process that could not be
 * watched hides anything. */
static void test_limits(void **state)
{
	struct {
		struct hcw_limits l;
		__u64 more;
	} body = {.more = 99};
	const struct hcw_model *m;
	struct stream s;
	int l;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	m = hcw_chain_model(s.chain);
	for (l = 0; l < HCW_LIMIT_COUNT; l++) {
		assert_string_not_equal(hcw_limit_name(l), "unknown");
		body.l = (struct hcw_limits){0};
		body.l.count[l] = 7;
		add_exact(s.chain, HCW_R_LIMITS, MS(1), 0, &body, sizeof(body));
		assert_memory_equal(&m->limits, &body.l, sizeof(body.l));
		assert_int_equal(hcw_limits_hide(&m->limits), l == HCW_LIMIT_WATCHED);
	}
	add_exact(s.chain, HCW_R_LIMITS, MS(1), 0, &body, 8);
	assert_int_equal(m->limits.count[l - 1], 0);
	assert_string_equal(hcw_limit_name(l), "unknown");
	hcw_chain_late(s.chain, 3);
	assert_int_equal(m->late, 3);
	stream_close(&s);
}

static __u64 next_random(__u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Mostly small numbers, so that ids, addresses and times meet each other; some of any size. */
static void random_body(__u64 *state, __u32 *word, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		word[i] = next_random(state) % 64 ? (__u32)(next_random(state) % 8)
						  : (__u32)next_random(state);
}

static void check_indices(const struct hcw_model *m)
{
	size_t i;

	for (i = 0; i < m->n_episodes; i++) {
		assert_in_range(m->episodes[i].pool + 1, 0, m->n_pools);
		assert_in_range(m->episodes[i].attempt + 1, 0, m->n_attempts);
		assert_true(m->episodes[i].passes >= m->episodes[i].passes_thrown);
		assert_true(m->episodes[i].n_prolonged <= HCW_MAX_PROLONGERS);
	}
	for (i = 0; i < m->n_attempts; i++)
		assert_in_range(m->attempts[i].pool + 1, 0, m->n_pools);
	for (i = 0; i < m->n_stalls; i++) {
		assert_in_range(m->stalls[i].episode + 1, 0, m->n_episodes);
		assert_in_range(m->stalls[i].collateral + 1, 0, m->n_episodes);
	}
}

static void random_stream(__u64 seed, unsigned int sources)
{
	__u64 state = seed, i, ts;
	__u32 body[32];
	struct stream s;
	__u16 type;

	stream_open(&s, sources);
	hcw_chain_one_group(s.chain, seed & 2);
	for (i = 1; i <= RANDOM_RECORDS; i++) {
		random_body(&state, body, 32);
		type = (__u16)(next_random(&state) % (HCW_R_BPF_COUNT + 1));
		if (next_random(&state) % 8 == 0)
			type = (__u16)(HCW_R_HEADER + next_random(&state) % 10);
		ts = next_random(&state) % 16 ? i / 4 : next_random(&state);
		add_exact(s.chain, type, ts, (__u32)(next_random(&state) % 8), body,
			  (__u16)(next_random(&state) % (sizeof(body) + 1)));
		if (i % 50000 == 0)
			hcw_chain_finish(s.chain);
	}
	assert_int_equal(hcw_chain_model(s.chain)->records, RANDOM_RECORDS);
	check_indices(hcw_chain_model(s.chain));
	stream_close(&s);
}

static void test_random_records(void **state)
{
	(void)state;
	random_stream(0x9e3779b97f4a7c15ull, ALL_SOURCES);
	random_stream(0xd1b54a32d192ed03ull, WITHOUT(HCW_R_EVICT) & WITHOUT(HCW_R_RESTORE));
}

/* What no table has room for is counted, and nobody is cleared any more. */
static void test_threads_full(void **state)
{
	struct hcw_move_pages mp = stream_refused(MS(10), POOL, 512);
	const struct hcw_model *m;
	struct stream s;
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	for (i = 0; i < 65536 + 5 - 2; i++)
		stream_task(&s, MS(1), 1000 + i, 1000 + i, MM + i, "crowd");
	/* those that are known stay known */
	stream_task(&s, MS(2), SERVER, SERVER, MM, "renamed");
	stream_move(&s, MS(11), MOVER, &mp);
	m = stream_end(&s, MS(20));
	assert_int_equal(m->dropped, 5);
	assert_string_equal(m->victims[0].comm, "renamed");
	assert_string_equal(m->attempts[0].actor.comm, "mover");
	assert_int_equal(m->pools[0].evidence, HCW_EVIDENCE_MAPPING);
	assert_int_equal(m->pools[0].reasons, HCW_WHY_DRIVER_PAGES | HCW_WHY_LOSS);
	stream_close(&s);
}

static void test_victims_full(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 1; i <= 4096 + 3; i++)
		stream_evict(&s, MS(1), MS(2), i, MM + (__u64)i * 4096, BY_USERPTR);
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->n_victims, 4096);
	assert_int_equal(m->n_episodes, 4096);
	assert_int_equal(m->dropped, 3);
	stream_close(&s);
}

static void test_stalls_full(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u64 at = MS(100);
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_warm_up(&s, at, SERVER, 100000, 100);
	for (i = 0; i < 65536 + 7; i++, at += MS(4))
		stream_iteration(&s, at, at + MS(3), SERVER);
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->n_stalls, 65536);
	assert_int_equal(m->dropped_stalls, 7);
	assert_int_equal(m->dropped, 0);
	stream_close(&s);
}

static void test_holes_full(void **state)
{
	const struct hcw_model *m;
	struct stream s;
	__u32 i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	for (i = 0; i < 65536 + 2; i++)
		stream_hole(&s, i, i, 1, HCW_R_PASS);
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->n_holes, 65536);
	assert_int_equal(m->dropped, 2);
	stream_close(&s);
}

static void test_nothing(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	hcw_chain_finish(s.chain);
	m = hcw_chain_model(s.chain);
	assert_int_equal(m->records + m->n_pools + m->n_episodes + m->n_victims, 0);
	assert_int_equal(hcw_chain_percentile(s.chain, SERVER, 50), 0);
	stream_close(&s);
	hcw_chain_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_body),	    cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_long_body),	    cmocka_unit_test(test_unknown_types),
		cmocka_unit_test(test_strings_without_end), cmocka_unit_test(test_totals_and_end),
		cmocka_unit_test(test_random_records),	    cmocka_unit_test(test_threads_full),
		cmocka_unit_test(test_victims_full),	    cmocka_unit_test(test_stalls_full),
		cmocka_unit_test(test_holes_full),	    cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_old_totals),	    cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
