/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reading of a move_pages() call's arrays, by the product's own code in the kernel: what it
 * counts, what it makes of arrays that are not there, and how long it holds the caller up.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "runner.h"

#define SKIPPED	 77
#define ENTRIES	 100003 /* prime: no chunk divides it */
#define LARGEST	 262144 /* HCW_MAX_STATUSES */
#define CHUNK	 128	/* HCW_CHUNK: what is read at once, or not at all */
#define TRIES	 21
#define LIMIT_NS 3000000ull
#define PAGE	 4096ul

struct arrays {
	struct bench bench;
	int *status;
	__u64 *pages;
	__u32 want[HCW_PAGE_CLASSES];
};

/* Every answer that has a class of its own, and two that have none. */
static const int answers[] = {0, 1, 1, -14, -14, -2, -16, -13, -1, -12, 3};

static void *map_or_fail(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/* Scattered, not in runs, so that no chunk is like another. */
static void fill(struct arrays *a, size_t n)
{
	size_t i;

	memset(a->want, 0, sizeof(a->want));
	for (i = 0; i < n; i++) {
		a->status[i] = answers[i * 7919 % 104729 % (sizeof(answers) / sizeof(answers[0]))];
		a->pages[i] = 0x7f0000000000ull + (i * 31 % n) * PAGE;
		a->want[hcw_page_classify(a->status[i])]++;
	}
}

static int set_up(void **state)
{
	struct arrays *a = calloc(1, sizeof(*a));

	*state = a;
	a->status = map_or_fail((LARGEST + CHUNK) * sizeof(*a->status));
	a->pages = map_or_fail((LARGEST + CHUNK) * sizeof(*a->pages));
	/* also what is behind the largest array can be read: pages that are not there cannot */
	memset(a->status, 1, (LARGEST + CHUNK) * sizeof(*a->status));
	memset(a->pages, 1, (LARGEST + CHUNK) * sizeof(*a->pages));
	return bench_open(&a->bench, NULL, 0, 0);
}

static int tear_down(void **state)
{
	struct arrays *a = *state;

	bench_close(&a->bench);
	munmap(a->status, (LARGEST + CHUNK) * sizeof(*a->status));
	munmap(a->pages, (LARGEST + CHUNK) * sizeof(*a->pages));
	free(a);
	return 0;
}

static struct bench_result count(struct arrays *a, const void *status, const void *pages, size_t n)
{
	const __u64 args[BENCH_ARGS] = {(uintptr_t)status, (uintptr_t)pages, n};
	struct bench_result r;

	memset(&r, 0xff, sizeof(r));
	assert_int_equal(bench_run(&a->bench, a->bench.skel->progs.bench_arrays, args, &r), 0);
	return r;
}

static __u32 counted(const struct hcw_move_pages *m)
{
	return m->moved + m->efault + m->enoent + m->ebusy + m->eacces + m->other;
}

static void same_counts(const struct arrays *a, const struct hcw_move_pages *m)
{
	assert_int_equal(m->moved, a->want[HCW_PAGE_NODE]);
	assert_int_equal(m->efault, a->want[HCW_PAGE_EFAULT]);
	assert_int_equal(m->enoent, a->want[HCW_PAGE_ENOENT]);
	assert_int_equal(m->ebusy, a->want[HCW_PAGE_EBUSY]);
	assert_int_equal(m->eacces, a->want[HCW_PAGE_EACCES]);
	assert_int_equal(m->other, a->want[HCW_PAGE_OTHER]);
}

static void all_entries_are_counted(void **state)
{
	static const size_t sizes[] = {1, CHUNK - 1, CHUNK, CHUNK + 1, ENTRIES, LARGEST};
	struct arrays *a = *state;
	struct bench_result r;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fill(a, sizes[i]);
		r = count(a, a->status, a->pages, sizes[i]);
		assert_int_equal(r.move.read, sizes[i]);
		same_counts(a, &r.move);
		assert_int_equal(r.move.lo, 0x7f0000000000ull);
		assert_int_equal(r.move.hi, 0x7f0000000000ull + (sizes[i] - 1) * PAGE);
	}
}

static void longer_ones_are_cut(void **state)
{
	struct arrays *a = *state;
	struct bench_result r;

	fill(a, LARGEST);
	r = count(a, a->status, a->pages, LARGEST + 1);
	assert_int_equal(r.move.read, LARGEST);
	same_counts(a, &r.move);
	r = count(a, a->status, a->pages, SIZE_MAX);
	assert_int_equal(r.move.read, LARGEST);
	same_counts(a, &r.move);
}

static void absent_ones_are_not_counted(void **state)
{
	struct arrays *a = *state;
	void *hole = mmap(NULL, ENTRIES * sizeof(*a->pages), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct bench_result r;

	assert_ptr_not_equal(hole, MAP_FAILED);
	fill(a, ENTRIES);
	r = count(a, NULL, a->pages, ENTRIES);
	assert_int_equal(r.move.read, 0);
	assert_int_equal(counted(&r.move), 0);
	assert_int_equal(r.move.lo, 0x7f0000000000ull);
	r = count(a, hole, a->pages, ENTRIES);
	assert_int_equal(r.move.read, 0);
	r = count(a, a->status, hole, ENTRIES);
	same_counts(a, &r.move);
	assert_int_equal(r.move.lo, 0);
	assert_int_equal(r.move.hi, 0);
	r = count(a, (void *)0xffff888000000000ull, (void *)~0ull, ENTRIES);
	assert_int_equal(r.move.read, 0);
	assert_int_equal(r.move.hi, 0);
	r = count(a, a->status, a->pages, 0);
	assert_int_equal(r.move.read, 0);
	assert_int_equal(r.move.hi, 0);
	munmap(hole, ENTRIES * sizeof(*a->pages));
}

/* The second half of the array is a hole. */
static void half_of_one_is_half_counted(void **state)
{
	struct arrays *a = *state;
	size_t half = 32 * PAGE / sizeof(*a->status);
	char *memory = map_or_fail(64 * PAGE);
	struct bench_result r;

	fill(a, half);
	memcpy(memory, a->status, half * sizeof(*a->status));
	munmap(memory + 32 * PAGE, 32 * PAGE);
	r = count(a, memory, a->pages, 2 * half);
	assert_int_equal(r.move.read, half);
	same_counts(a, &r.move);
	munmap(memory, 32 * PAGE);
}

static int compare(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* By the median: a busy machine takes the processor away now and then. */
static void the_caller_is_not_held_up(void **state)
{
	struct arrays *a = *state;
	struct bench_result r;
	__u64 ns[TRIES];
	int i;

	fill(a, ENTRIES);
	for (i = 0; i < TRIES; i++) {
		r = count(a, a->status, a->pages, ENTRIES);
		assert_int_equal(r.move.read, ENTRIES);
		ns[i] = r.ns;
	}
	qsort(ns, TRIES, sizeof(ns[0]), compare);
	printf("%d entries: %llu us, from %llu to %llu\n", ENTRIES, ns[TRIES / 2] / 1000,
	       ns[0] / 1000, ns[TRIES - 1] / 1000);
	assert_true(ns[0] > 0);
	assert_true(ns[TRIES / 2] < LIMIT_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_entries_are_counted),
		cmocka_unit_test(longer_ones_are_cut),
		cmocka_unit_test(absent_ones_are_not_counted),
		cmocka_unit_test(half_of_one_is_half_counted),
		cmocka_unit_test(the_caller_is_not_held_up),
	};
	struct bench b;
	int ret = bench_open(&b, NULL, 0, 0);

	bench_close(&b);
	if (ret == -EPERM || ret == -EACCES) {
		printf("SKIP bench_arrays: BPF is not permitted here: %s\n", strerror(-ret));
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
