/* SPDX-License-Identifier: BSD-2-Clause */
/* What does and what does not speak against a pool, one thing at a time. */
#include <string.h>
#include "trial.h"

#define BY_SUSPEND 3u
#define BY_CRIU	   4u
#define ELSEWHERE  (POOL_END + (1ull << 30))

/* Anonymous memory nobody wrote to answers -EFAULT for every page, as driver pages do. */
static void unwritten_anonymous(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_mapping(s, 3000, POOL, POOL, POOL_END, 0);
}

static void map_named(struct stream *s, const char *path, __u32 vmflags)
{
	struct {
		struct hcw_mapping m;
		char path[32];
	} b = {
		.m = {.lo = POOL, .hi = POOL_END, .pool = POOL, .tgid = SERVER, .vmflags = vmflags},
	};

	strncpy(b.path, path, sizeof(b.path) - 1);
	stream_put(s, HCW_R_MAPPING, 3000, 0, &b, sizeof(b));
}

static void map_vvar(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	map_named(s, "[vvar]", OF_DRIVER);
}

static void map_dev_mem(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	map_named(s, "/dev/mem", HCW_VM_PFNMAP);
}

static void test_mappings(void **state)
{
	(void)state;
	CHECK("unwritten anonymous memory", .no_mapping = true, .twist = unwritten_anonymous,
	      .verdict = HCW_VERDICT_INCONCLUSIVE, .evidence = HCW_EVIDENCE_MAPPING,
	      .reasons = HCW_WHY_ORDINARY_PAGES);
	/* the kernel refuses by the flags alone, whoever mapped it */
	CHECK("[vvar]", .no_mapping = true, .twist = map_vvar, CLEARED);
	CHECK("/dev/mem", .no_mapping = true, .twist = map_dev_mem, CLEARED);
}

static void check_path(const char *path)
{
	struct stream s;

	stream_open(&s, ALL_SOURCES);
	stream_pool(&s, 2000, SERVER, POOL, HCW_BACKING_UNKNOWN);
	map_named(&s, path, OF_DRIVER);
	assert_string_equal(stream_end(&s, MS(200))->pools[0].path, path);
	stream_close(&s);
}

/* Whose the memory is, is for the reader to see. */
static void test_path_is_shown(void **state)
{
	(void)state;
	check_path("[vvar]");
	check_path("/dev/mem");
	check_path("/dev/dri/renderD129");
}

static void by_driver(struct stream *s, unsigned int at, __u32 trigger)
{
	stream_evict(s, MS(at), MS(at + 1), SERVER, MM, trigger);
	stream_restore(s, MS(at + 5), SERVER, MM);
}

static void driver_evictions(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	by_driver(s, 10, BY_TTM);
	by_driver(s, 20, BY_SUSPEND);
	by_driver(s, 30, BY_CRIU);
}

static void nested_of_driver(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	stream_evict(s, MS(10), MS(11), SERVER, MM, BY_TTM);
	by_driver(s, 20, BY_SUSPEND);
	stream_restore(s, MS(50), SERVER, MM);
}

static struct stop hit(unsigned int at, __u64 lo, __u64 hi)
{
	return (struct stop){.start = MS(at), .trigger = BY_USERPTR, .lo = lo, .hi = hi};
}

/* A stop of the driver's own, and one for another range, each with a hit of `lo` inside. */
static void nested_hit(struct stream *s, __u32 outer, __u64 lo, __u64 hi)
{
	struct stop inner = hit(20, lo, hi), first = hit(10, ELSEWHERE, ELSEWHERE + PAGE);

	if (outer == BY_USERPTR)
		stream_stop(s, &first);
	else
		stream_evict(s, MS(10), MS(11), SERVER, MM, outer);
	stream_stop(s, &inner);
	stream_restart(s, MS(30), SERVER, MM);
	stream_restart(s, MS(50), SERVER, MM);
}

static void nested_elsewhere(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	nested_hit(s, BY_TTM, ELSEWHERE, ELSEWHERE + PAGE);
}

static void nested_unseen(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	nested_hit(s, BY_USERPTR, 0, 0);
}

static void nested_in_pool(struct stream *s, struct hcw_move_pages *mp)
{
	(void)mp;
	nested_hit(s, BY_USERPTR, POOL, POOL + PAGE);
}

static void test_nested(void **state)
{
	(void)state;
	CHECK("TTM, suspend, CRIU", .twist = driver_evictions, CLEARED);
	CHECK("one in the other", .twist = nested_of_driver, CLEARED);
	CHECK("a hit inside, quiesce not traced", .twist = nested_elsewhere,
	      .sources = WITHOUT(HCW_R_QUIESCE) & WITHOUT(HCW_R_RESUME),
	      BY_MAPPING_BUT(HCW_WHY_RANGE_UNKNOWN));
	CHECK("a hit elsewhere inside", .twist = nested_elsewhere, CLEARED);
	CHECK("a hit of who knows what inside", .twist = nested_unseen,
	      BY_MAPPING_BUT(HCW_WHY_RANGE_UNKNOWN));
	CHECK("a hit of the pool inside", .twist = nested_in_pool, .verdict = HCW_VERDICT_EXPOSED,
	      .evidence = HCW_EVIDENCE_TRIAL, .reasons = HCW_WHY_DRIVER_PAGES | HCW_WHY_EPISODE);
}

static void exit_noise(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_quiesce q = {.start = MS(60), .mm = MM + 0x7000, .ret = -3, .stack = -1};

	(void)mp;
	stream_put(s, HCW_R_QUIESCE, MS(61), 900, &q, sizeof(q));
	q.mm = MM;
	q.victim = SERVER;
	stream_put(s, HCW_R_QUIESCE, MS(62), MOVER, &q, sizeof(q));
}

/* A stop for another range whose restore is thrown away twice. */
static void rescheduled(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = hit(10, ELSEWHERE, ELSEWHERE + PAGE);

	(void)mp;
	stream_stop(s, &stop);
	stream_pass(s, MS(12), MS(20), MM, WORK, false);
	stream_inval(s, MS(25), MS(25), MOVER, 0, 1);
	stream_pass(s, MS(22), MS(30), MM, WORK, false);
	stream_restart(s, MS(50), SERVER, MM);
	stream_pass(s, MS(32), MS(50), MM, WORK, true);
}

static void never_restored(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = hit(10, ELSEWHERE, ELSEWHERE + PAGE);

	(void)mp;
	stream_stop(s, &stop);
}

static void only_iterations_lost(struct stream *s, struct hcw_move_pages *mp)
{
	struct hcw_totals t = {.source = HCW_R_ITER_END, .emitted = 10, .lost = 5};

	(void)mp;
	stream_iteration(s, MS(20), MS(30), SERVER);
	stream_hole(s, ATTEMPT, ANSWER, 5, HCW_R_ITER_END);
	stream_put(s, HCW_R_TOTALS, MS(150), 0, &t, sizeof(t));
}

/* More actors than a ledger has room for: the length's shares are "at least", nothing else. */
static void many_prolong(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = hit(10, ELSEWHERE, ELSEWHERE + PAGE);
	__u32 i;

	(void)mp;
	stream_stop(s, &stop);
	for (i = 0; i < 100; i++)
		stream_inval(s, MS(15), MS(15), 1000 + i, 0, 1);
	stream_pass(s, MS(12), MS(20), MM, WORK, false);
	assert_true(hcw_chain_model(s->chain)->dropped_charges);
	stream_restart(s, MS(50), SERVER, MM);
}

static void test_says_nothing(void **state)
{
	(void)state;
	CHECK("refused quiesces of an exit", .twist = exit_noise, CLEARED);
	CHECK("restore rescheduled", .twist = rescheduled, CLEARED);
	CHECK("a stop elsewhere that never ended", .twist = never_restored, CLEARED);
	CHECK("iterations lost", .twist = only_iterations_lost, CLEARED);
	CHECK("no iterations", .sources = WITHOUT(HCW_R_ITER_BEGIN) & WITHOUT(HCW_R_ITER_END),
	      CLEARED);
	CHECK("no requests", .sources = WITHOUT(HCW_R_REQUEST), CLEARED);
	CHECK("too many actors", .twist = many_prolong, CLEARED);
}

static void killed(struct stream *s, struct hcw_move_pages *mp)
{
	struct stop stop = hit(110, POOL, POOL_END);

	stream_move(s, ANSWER, MOVER, mp);
	stream_stop(s, &stop);
	stream_exit(s, MS(120), SERVER, SERVER);
}

/* The pool is gone with its process; that it was hit stays true. */
static void test_killed(void **state)
{
	(void)state;
	CHECK("killed while evicted", .twist = killed, .no_attempt = true,
	      .verdict = HCW_VERDICT_EXPOSED, .evidence = HCW_EVIDENCE_TRIAL,
	      .reasons = HCW_WHY_DRIVER_PAGES | HCW_WHY_EPISODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings), cmocka_unit_test(test_path_is_shown),
		cmocka_unit_test(test_nested),	 cmocka_unit_test(test_says_nothing),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
