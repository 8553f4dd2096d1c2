/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools: the answers to attempts, their addresses, the mapping underneath. */
#include "trial.h"

static void half_read(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->read = 256;
	mp->efault = 256;
}

static void unclassified(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->efault = 511;
}

static void arrays_unreadable(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_move_pages blind = {.start = MS(50), .requested = 512};

	(void)mp;
	stream_move(s, MS(51), MOVER, &blind);
}

/* It read only the start of a list that may go on into the pool. */
static void half_read_beside(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_move_pages half = stream_refused(MS(50), POOL - POOL_BYTES, 512);

	(void)mp;
	half.read = 128;
	half.efault = 128;
	stream_move(s, MS(51), MOVER, &half);
}

static void test_truncated_status(void **state)
{
	(void)state;
	CHECK("half read", .twist = half_read, BY_MAPPING_BUT(HCW_WHY_STATUS_TRUNCATED));
	CHECK("unclassified", .twist = unclassified, BY_MAPPING_BUT(HCW_WHY_STATUS_TRUNCATED));
	CHECK("another call unreadable", .twist = arrays_unreadable,
	      BY_MAPPING_BUT(HCW_WHY_STATUS_TRUNCATED));
	CHECK("another call half read", .twist = half_read_beside,
	      BY_MAPPING_BUT(HCW_WHY_STATUS_TRUNCATED));
}

/* The call failed: the caller's zeros are still in the array and look like node 0. */
static void failed_call(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	*mp = stream_moved(ATTEMPT, POOL, 512);
	mp->rc = -19;
}

static void failed_over_old_answers(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->rc = -19;
	mp->efault = 500;
	mp->ebusy = 12;
}

static void failed_late(struct stream *s, struct hcw_move_pages *mp)
{
	failed_call(s, mp);
	stream_migrate(s, ATTEMPT + 10, ATTEMPT + 20, MOVER, ATTEMPT, 32);
}

static void three_not_migrated(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->rc = 3;
	mp->efault = 509;
	mp->moved = 3;
}

static void test_statuses_of_failed_calls(void **state)
{
	(void)state;
	CHECK("failed at once", .twist = failed_call, BY_MAPPING_BUT(HCW_WHY_STATUS_TRUNCATED));
	CHECK("failed over old answers", .twist = failed_over_old_answers,
	      BY_MAPPING_BUT(HCW_WHY_STATUS_TRUNCATED));
	CHECK("positive return", .twist = three_not_migrated,
	      BY_MAPPING_BUT(HCW_WHY_STATUS_TRUNCATED));
	CHECK("failed after some moved", .twist = failed_late, .verdict = HCW_VERDICT_EXPOSED,
	      .evidence = HCW_EVIDENCE_TRIAL, .reasons = HCW_WHY_DRIVER_PAGES | HCW_WHY_MOVED);
}

static void one_busy(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->efault = 511;
	mp->ebusy = 1;
}

static void one_shared(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->efault = 511;
	mp->eacces = 1;
}

static void one_other(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	mp->efault = 511;
	mp->other = 1;
}

static void test_other_status(void **state)
{
	(void)state;
	CHECK("EBUSY", .twist = one_busy, BY_MAPPING_BUT(HCW_WHY_OTHER_STATUS));
	CHECK("EACCES", .twist = one_shared, BY_MAPPING_BUT(HCW_WHY_OTHER_STATUS));
	CHECK("other", .twist = one_other, BY_MAPPING_BUT(HCW_WHY_OTHER_STATUS));
}

/* move_pages() answers with the node for a page that is there already. */
static void all_stayed(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_move_pages there = stream_moved(MS(50), POOL, 8);

	(void)mp;
	stream_answer(s, MS(51), MOVER, &there);
}

static void some_moved(struct stream *s, struct hcw_move_pages *mp)
{
	all_stayed(s, mp);
	stream_migrate(s, MS(60) + 5, MS(61) - 5, MOVER, MS(60), 3);
	*mp = stream_moved(MS(60), POOL, 8);
	stream_answer(s, MS(61), MOVER, mp);
	*mp = stream_refused(ATTEMPT, POOL, 512);
}

static void check_stayed(unsigned int sources, enum hcw_backing backing, __u64 stayed,
			 enum hcw_verdict_word verdict, enum hcw_evidence evidence)
{
	struct hcw_move_pages there = stream_moved(MS(50), POOL, 8);
	const struct hcw_pool_info *p;
	struct stream s;

	stream_open(&s, sources);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_pool(&s, MS(2), SERVER, POOL_END, backing);
	stream_mapping(&s, MS(3), POOL_END, POOL_END, POOL_END + POOL_BYTES, HCW_VM_SHARED);
	there.lo += POOL_BYTES;
	there.hi += POOL_BYTES;
	stream_answer(&s, MS(51), MOVER, &there);
	p = &stream_end(&s, MS(200))->pools[1];
	assert_int_equal(p->stayed, stayed);
	assert_int_equal(p->moved, 8 - stayed);
	assert_int_equal(p->refused_other, 0);
	assert_int_equal(p->verdict, verdict);
	assert_int_equal(p->evidence, evidence);
	assert_int_equal(!(p->reasons & HCW_WHY_OTHER_STATUS), !stayed);
	stream_close(&s);
}

static void test_already_there(void **state)
{
	(void)state;
	CHECK("all stayed", .twist = all_stayed, BY_MAPPING_BUT(HCW_WHY_OTHER_STATUS));
	CHECK("some moved", .twist = some_moved, .verdict = HCW_VERDICT_EXPOSED,
	      .evidence = HCW_EVIDENCE_TRIAL, .reasons = HCW_WHY_DRIVER_PAGES | HCW_WHY_MOVED);
	check_stayed(ALL_SOURCES, HCW_BACKING_REGISTERED, 8, HCW_VERDICT_EXPOSED,
		     HCW_EVIDENCE_MAPPING);
	check_stayed(ALL_SOURCES, HCW_BACKING_PAGEABLE, 8, HCW_VERDICT_INCONCLUSIVE,
		     HCW_EVIDENCE_MAPPING);
	check_stayed(ALL_SOURCES, HCW_BACKING_UNKNOWN, 8, HCW_VERDICT_INCONCLUSIVE,
		     HCW_EVIDENCE_MAPPING);
	/* where migrate_pages() is not watched nobody can tell them apart */
	check_stayed(WITHOUT(HCW_R_MIGRATE), HCW_BACKING_PAGEABLE, 0, HCW_VERDICT_EXPOSED,
		     HCW_EVIDENCE_TRIAL);
}

static void starts_before(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_move_pages before = stream_refused(MS(50), POOL - PAGE, 2);

	(void)mp;
	stream_move(s, MS(51), MOVER, &before);
}

static void ends_behind(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_move_pages behind = stream_refused(MS(50), POOL + POOL_BYTES - PAGE, 2);

	(void)mp;
	stream_move(s, MS(51), MOVER, &behind);
}

static void ends_at_the_top(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_move_pages top = stream_refused(MS(50), POOL, 2);

	(void)mp;
	top.hi = ~0ull;
	stream_move(s, MS(51), MOVER, &top);
}

static void beside(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_move_pages before = stream_moved(MS(50), POOL - PAGE, 1);
	struct hcw_move_pages behind = stream_moved(MS(52), POOL + POOL_BYTES, 1);

	(void)mp;
	stream_move(s, MS(51), MOVER, &before);
	stream_move(s, MS(53), MOVER, &behind);
}

static void whole(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	*mp = stream_refused(ATTEMPT, POOL, POOL_BYTES / PAGE);
}

static void only_outside(struct stream *s, struct hcw_move_pages *mp)
{
	(void)s;
	*mp = stream_refused(ATTEMPT, POOL - PAGE, 512);
}

static void test_addresses(void **state)
{
	(void)state;
	CHECK("before", .twist = starts_before, BY_MAPPING_BUT(HCW_WHY_ATTEMPT_OUTSIDE));
	CHECK("behind", .twist = ends_behind, BY_MAPPING_BUT(HCW_WHY_ATTEMPT_OUTSIDE));
	CHECK("top", .twist = ends_at_the_top, BY_MAPPING_BUT(HCW_WHY_ATTEMPT_OUTSIDE));
	CHECK("only outside", .twist = only_outside,
	      BY_MAPPING_BUT(HCW_WHY_ATTEMPT_OUTSIDE | HCW_WHY_NO_ATTEMPT));
	CHECK("beside", .twist = beside, CLEARED);
	CHECK("first to last page", .twist = whole, CLEARED);
}

static void map_in_two(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_mapping(s, 3000, POOL, POOL - PAGE, HALF_WAY, HCW_VM_PFNMAP);
	stream_mapping(s, 3000, POOL, HALF_WAY, POOL_END + PAGE, HCW_VM_IO);
}

static void map_half_unread(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_mapping(s, 3000, POOL, POOL, HALF_WAY, OF_DRIVER);
	stream_mapping(s, 3000, POOL, HALF_WAY, POOL_END, HCW_VM_UNREADABLE);
}

static void map_with_a_gap(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_mapping(s, 3000, POOL, POOL, HALF_WAY - PAGE, OF_DRIVER);
	stream_mapping(s, 3000, POOL, HALF_WAY, POOL_END, OF_DRIVER);
}

static void map_last_page_ordinary(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_mapping(s, 3000, POOL, POOL, POOL_END - PAGE, OF_DRIVER);
	stream_mapping(s, 3000, POOL, POOL_END - PAGE, POOL_END, 0);
}

static void map_more_than_there_is(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_mapping(s, 3000, POOL, POOL, HALF_WAY + PAGE, OF_DRIVER);
	stream_mapping(s, 4000, POOL, POOL, HALF_WAY, OF_DRIVER);
}

static void test_mappings(void **state)
{
	(void)state;
	CHECK("in two", .no_mapping = true, .twist = map_in_two, CLEARED);
	CHECK("half unread", .no_mapping = true, .twist = map_half_unread, UNREAD);
	CHECK("gap", .no_mapping = true, .twist = map_with_a_gap, UNREAD);
	CHECK("overlapping reads", .no_mapping = true, .twist = map_more_than_there_is, UNREAD);
	CHECK("one ordinary page", .no_mapping = true, .twist = map_last_page_ordinary,
	      .verdict = HCW_VERDICT_INCONCLUSIVE, .evidence = HCW_EVIDENCE_MAPPING,
	      .reasons = HCW_WHY_ORDINARY_PAGES);
}

static void check_backing(enum hcw_backing backing, enum hcw_verdict_word verdict)
{
	const struct hcw_pool_info *p;
	struct stream s;

	stream_open(&s, ALL_SOURCES);
	stream_task(&s, 1000, SERVER, SERVER, MM, "server");
	stream_pool(&s, 2000, SERVER, POOL, backing);
	stream_mapping(&s, 3000, POOL, POOL, POOL_END, HCW_VM_SHARED);
	p = stream_end(&s, MS(200))->pools;
	assert_int_equal(p->verdict, verdict);
	assert_int_equal(p->evidence, HCW_EVIDENCE_MAPPING);
	assert_int_equal(p->reasons, HCW_WHY_ORDINARY_PAGES | HCW_WHY_NO_ATTEMPT);
	stream_close(&s);
}

static void test_ordinary_pages(void **state)
{
	(void)state;
	check_backing(HCW_BACKING_REGISTERED, HCW_VERDICT_EXPOSED);
	check_backing(HCW_BACKING_USERPTR, HCW_VERDICT_EXPOSED);
	check_backing(HCW_BACKING_GTT, HCW_VERDICT_INCONCLUSIVE);
	check_backing(HCW_BACKING_PAGEABLE, HCW_VERDICT_INCONCLUSIVE);
	check_backing(HCW_BACKING_UNKNOWN, HCW_VERDICT_INCONCLUSIVE);
}

static void check_two(const struct hcw_model *m)
{
	const struct hcw_pool_info *hit = &m->pools[1], *other = &m->pools[0];

	assert_int_equal(m->n_pools, 2);
	assert_int_equal(m->episodes[0].pool, 1);
	assert_int_equal(hit->ptr, POOL_END);
	assert_int_equal(hit->episodes, 1);
	assert_int_equal(hit->episode_ns, MS(10));
	assert_int_equal(hit->verdict, HCW_VERDICT_EXPOSED);
	assert_int_equal(hit->evidence, HCW_EVIDENCE_TRIAL);
	assert_int_equal(other->episodes, 0);
	assert_int_equal(other->episode_ns, 0);
	assert_int_equal(other->verdict, HCW_VERDICT_IMMUNE);
	assert_int_equal(other->evidence, HCW_EVIDENCE_TRIAL);
}

/* Two pools side by side: the hit one is exposed, the other one keeps its own verdict. */
static void test_two_pools(void **state)
{
	struct hcw_move_pages refused = stream_refused(MS(20), POOL, 512);
	struct hcw_move_pages moved = stream_moved(ATTEMPT, POOL_END, 512);
	struct stop stop = {
		.start = ATTEMPT + 10,
		.attempt = ATTEMPT,
		.reason = MR_SYSCALL,
		.trigger = BY_USERPTR,
		.lo = POOL_END,
		.hi = POOL_END + POOL_BYTES,
	};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	stream_pool(&s, 4000, SERVER, POOL_END, HCW_BACKING_REGISTERED);
	stream_mapping(&s, 5000, POOL_END, POOL_END, POOL_END + POOL_BYTES, HCW_VM_SHARED);
	stream_move(&s, MS(21), MOVER, &refused);
	stream_stop(&s, &stop);
	stream_move(&s, ATTEMPT + MS(5), MOVER, &moved);
	stream_restart(&s, stop.start + MS(10), SERVER, MM);
	m = stream_end(&s, MS(200));
	check_two(m);
	assert_int_equal(m->attempts[0].pool, 0);
	assert_int_equal(m->attempts[1].pool, 1);
	stream_close(&s);
}

/* One registered range over two pools and half of a third, and a fourth beside it. */
static void test_range_over_pools(void **state)
{
	struct stop stop = {
		.start = MS(50),
		.trigger = BY_USERPTR,
		.lo = POOL,
		.hi = POOL + 2 * POOL_BYTES + PAGE,
	};
	const struct hcw_model *m;
	struct stream s;
	int i;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_task(&s, 1000, SERVER, SERVER, MM, "server");
	for (i = 0; i < 4; i++)
		stream_pool(&s, MS(1), SERVER, POOL + (__u64)i * POOL_BYTES,
			    HCW_BACKING_REGISTERED);
	stream_stop(&s, &stop);
	/* hits once more, twice, while the queues are stopped */
	stop.start = MS(52);
	stop.hi = POOL + 4 * POOL_BYTES;
	stream_stop(&s, &stop);
	stop.start = MS(53);
	stop.lo = POOL + 3 * POOL_BYTES;
	stream_stop(&s, &stop);
	for (i = 0; i < 3; i++)
		stream_restart(&s, MS(58 + i), SERVER, MM);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_episodes, 1);
	assert_int_equal(m->episodes[0].pool, 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(m->pools[i].episodes, 1);
		assert_int_equal(m->pools[i].episode_ns, i < 3 ? MS(10) : 0);
		assert_int_equal(m->pools[i].residual, i == 3);
		assert_int_equal(m->pools[i].evidence, HCW_EVIDENCE_TRIAL);
	}
	stream_close(&s);
}

/* The same address twice: what was done to the first pool is not held against the second. */
static void test_address_reused(void **state)
{
	struct hcw_move_pages moved = stream_moved(MS(20), POOL, 512);
	struct hcw_move_pages refused = stream_refused(ATTEMPT, POOL, 512);
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_REGISTERED);
	stream_move(&s, MS(21), MOVER, &moved);
	stream_pool_free(&s, MS(30), SERVER, POOL);
	stream_pool(&s, MS(40), SERVER, POOL, HCW_BACKING_GTT);
	stream_mapping(&s, MS(41), POOL, POOL, POOL_END, OF_DRIVER);
	stream_move(&s, ANSWER, MOVER, &refused);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_pools, 2);
	assert_int_equal(m->pools[0].freed, MS(30));
	assert_int_equal(m->pools[0].verdict, HCW_VERDICT_EXPOSED);
	assert_int_equal(m->pools[0].moved, 512);
	assert_int_equal(m->pools[1].freed, 0);
	assert_int_equal(m->pools[1].verdict, HCW_VERDICT_IMMUNE);
	assert_int_equal(m->pools[1].evidence, HCW_EVIDENCE_TRIAL);
	assert_int_equal(m->pools[1].moved, 0);
	stream_close(&s);
}

/* A free that was lost: the next pool at the address ends the one before. */
static void test_free_not_seen(void **state)
{
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_server(&s, HCW_BACKING_GTT);
	stream_pool(&s, MS(40), SERVER, POOL, HCW_BACKING_REGISTERED);
	/* read while the first was there, told later */
	stream_mapping(&s, MS(39), POOL, POOL, POOL + PAGE, HCW_VM_SHARED);
	stream_mapping(&s, MS(41), POOL, POOL, POOL_END, HCW_VM_SHARED);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_pools, 2);
	assert_int_equal(m->pools[0].freed, MS(40));
	assert_int_equal(m->pools[0].mapped_ordinary, PAGE);
	assert_int_equal(m->pools[1].mapped_ordinary, POOL_BYTES);
	stream_close(&s);
}

static void test_no_range(void **state)
{
	struct hcw_pool wraps = {.ptr = ~0ull - 100, .bytes = 4096, .tgid = SERVER};
	struct hcw_pool empty = {.ptr = POOL, .tgid = SERVER};
	const struct hcw_model *m;
	struct stream s;

	(void)state;
	stream_open(&s, ALL_SOURCES);
	stream_put(&s, HCW_R_POOL_ALLOC, MS(1), SERVER, &wraps, sizeof(wraps));
	stream_put(&s, HCW_R_POOL_ALLOC, MS(1), SERVER, &empty, sizeof(empty));
	stream_mapping(&s, MS(2), POOL, POOL, POOL_END, OF_DRIVER);
	m = stream_end(&s, MS(200));
	assert_int_equal(m->n_pools, 1);
	assert_int_equal(m->pools[0].verdict, HCW_VERDICT_INCONCLUSIVE);
	stream_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated_status),
		cmocka_unit_test(test_statuses_of_failed_calls),
		cmocka_unit_test(test_other_status),
		cmocka_unit_test(test_already_there),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_ordinary_pages),
		cmocka_unit_test(test_two_pools),
		cmocka_unit_test(test_range_over_pools),
		cmocka_unit_test(test_address_reused),
		cmocka_unit_test(test_free_not_seen),
		cmocka_unit_test(test_no_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
