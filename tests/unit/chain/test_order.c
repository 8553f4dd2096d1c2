/* SPDX-License-Identifier: BSD-2-Clause */
/* Records come out smallest time first, whole, each once, from memory that does not grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "order.h"

#define WINDOW	 1000u
#define BYTES	 HCW_ORDER_MIN_BYTES
#define MAX_SEEN 200000
#define CROWD	 100003u /* prime: no buffer size divides it */

struct seen {
	struct hcw_order *order;
	size_t n;
	__u64 key[MAX_SEEN]; /* what hcw_hole.from, or else ts, says */
	__u32 tid[MAX_SEEN];
	int fail_at; /* the record that fn refuses, -1 = none */
};

struct body {
	__u64 word[8];
};

/* Every body holds its record's number, so that a mixed up or overwritten one is seen. */
static int on_record(void *ctx, const struct hcw_rec *rec)
{
	const unsigned char *byte = (const unsigned char *)(rec + 1);
	const struct hcw_hole *hole = (const void *)(rec + 1);
	struct seen *s = ctx;
	size_t i;

	if (s->fail_at >= 0 && s->n == (size_t)s->fail_at) {
		s->fail_at = -1;
		return -5;
	}
	assert_true(s->n < MAX_SEEN);
	s->key[s->n] = rec->type == HCW_R_HOLE ? hole->from : rec->ts;
	s->tid[s->n++] = rec->tid;
	if (rec->type != HCW_R_HOLE)
		for (i = 0; i < rec->len; i++)
			assert_int_equal(byte[i], (unsigned char)(rec->tid * 31u));
	return 0;
}

static struct seen *start(size_t bytes, __u64 window)
{
	struct seen *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->fail_at = -1;
	s->order = hcw_order_new(bytes, window, on_record, s);
	assert_non_null(s->order);
	return s;
}

static void stop(struct seen *s)
{
	hcw_order_free(s->order);
	free(s);
}

static int put_long(struct seen *s, __u64 ts, __u32 tid, __u16 len)
{
	struct hcw_rec rec = {.ts = ts, .tid = tid, .type = HCW_R_INVAL, .len = len};
	unsigned char *body = malloc(len ? len : 1);
	int ret;

	assert_non_null(body);
	memset(body, (int)(tid * 31u), len);
	ret = hcw_order_put(s->order, &rec, body);
	free(body);
	return ret;
}

static void put(struct seen *s, __u64 ts, __u32 tid)
{
	assert_int_equal(put_long(s, ts, tid, sizeof(struct body)), 0);
}

static void put_hole(struct seen *s, __u64 from, __u64 to)
{
	struct hcw_hole h = {.from = from, .to = to, .count = 1, .source = HCW_R_INVAL};
	struct hcw_rec rec = {.ts = to, .type = HCW_R_HOLE, .len = sizeof(h)};

	assert_int_equal(hcw_order_put(s->order, &rec, &h), 0);
}

static void check_sorted(const struct seen *s)
{
	size_t i;

	for (i = 1; i < s->n; i++)
		assert_true(s->key[i - 1] <= s->key[i]);
}

static void test_in_order(void **state)
{
	struct seen *s = start(BYTES, WINDOW);
	__u32 i;

	(void)state;
	for (i = 0; i < 10; i++)
		put(s, i * 300, i);
	/* 2700 has been seen: what is WINDOW older, and no more, is out */
	assert_int_equal(s->n, 6);
	assert_int_equal(hcw_order_advance(s->order, 3100), 0);
	assert_int_equal(s->n, 8);
	assert_int_equal(hcw_order_advance(s->order, 1), 0); /* time does not go back */
	assert_int_equal(s->n, 8);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, 10);
	check_sorted(s);
	assert_int_equal(hcw_order_late(s->order), 0);
	stop(s);
}

static void test_out_of_order(void **state)
{
	static const __u64 ts[] = {500, 400, 450, 600, 100, 600, 350, 599};
	static const __u32 sorted[] = {4, 6, 1, 2, 0, 7, 3, 5};
	struct seen *s = start(BYTES, WINDOW);
	__u32 i;

	(void)state;
	for (i = 0; i < 8; i++)
		put(s, ts[i], i);
	assert_int_equal(s->n, 0);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_memory_equal(s->tid, sorted, sizeof(sorted));
	assert_int_equal(hcw_order_late(s->order), 0);
	stop(s);
}

/* A task is told with the time of the record it is in, and before it. */
static void test_ties(void **state)
{
	struct seen *s = start(BYTES, WINDOW);
	__u32 i;

	(void)state;
	put(s, 200, 100);
	for (i = 0; i < 50; i++)
		put(s, i % 2 ? 200 : 150, i);
	assert_int_equal(hcw_order_flush(s->order), 0);
	for (i = 0; i < 25; i++)
		assert_int_equal(s->tid[i], 2 * i);
	assert_int_equal(s->tid[25], 100);
	for (i = 0; i < 25; i++)
		assert_int_equal(s->tid[26 + i], 2 * i + 1);
	stop(s);
}

/* One that is older than what is out comes next, and is counted. */
static void test_late(void **state)
{
	struct seen *s = start(BYTES, WINDOW);

	(void)state;
	put(s, 1000, 1);
	put(s, 3000, 2);
	assert_int_equal(s->n, 1);
	put(s, 999, 3);
	assert_int_equal(s->n, 2);
	assert_int_equal(s->tid[1], 3);
	put(s, 1000, 4); /* equal is not older */
	put(s, 0, 5);
	assert_int_equal(hcw_order_late(s->order), 2);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, 5);
	stop(s);
}

/* A hole is known at its end and stands at its start; at the latest where the stream is. */
static void test_holes(void **state)
{
	static const __u64 key[] = {1000, 1500, 1600, 2000, 100, 5000};
	struct seen *s = start(BYTES, WINDOW);

	(void)state;
	put(s, 1000, 1);
	put(s, 1600, 2);
	put_hole(s, 1500, 2000);
	put(s, 2000, 3);
	assert_int_equal(hcw_order_advance(s->order, 3000), 0);
	assert_int_equal(s->n, 4);
	/* long open: it begins before what is out, which makes it not late */
	put_hole(s, 100, 5000);
	put(s, 5000, 4);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_memory_equal(s->key, key, sizeof(key));
	assert_int_equal(hcw_order_late(s->order), 0);
	/* a hole that ends before it begins stands at its own time */
	put_hole(s, 9000, 6000);
	put(s, 7000, 5);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->tid[7], 5);
	stop(s);
}

/* More than memory holds: the first go early, in order, and nothing is lost. */
static void test_full(void **state)
{
	struct seen *s = start(BYTES, ~0ull);
	__u32 i;

	(void)state;
	for (i = 0; i < CROWD; i++)
		put(s, 1000000 + i, i);
	assert_in_range(CROWD - s->n, BYTES / 256, BYTES / 96);
	put_hole(s, 1, 1000000 + CROWD); /* the room it takes does not make it late */
	put(s, 1000000 + CROWD, CROWD);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, CROWD + 2);
	assert_int_equal(s->tid[CROWD + 1], CROWD);
	assert_int_equal(hcw_order_late(s->order), 0);
	stop(s);
}

/* The same when each is earlier than the one before: those go that are smallest so far. */
static void test_full_backwards(void **state)
{
	struct seen *s = start(BYTES, ~0ull);
	__u32 i;

	(void)state;
	for (i = 0; i < CROWD; i++)
		put(s, 2000000 - i, i);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, CROWD);
	assert_true(hcw_order_late(s->order) > CROWD / 2);
	stop(s);
}

/* A damaged record from the far future neither blocks nor loses anything. */
static void test_far_future(void **state)
{
	struct seen *s = start(BYTES, WINDOW);
	__u32 i;

	(void)state;
	put(s, ~0ull, 1000000);
	for (i = 0; i < CROWD; i++)
		put(s, i, i);
	assert_true(s->n >= CROWD - 1);
	for (i = 0; i < 100; i++)
		assert_int_equal(s->tid[i], i);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, CROWD + 1);
	stop(s);
}

/* Of any length; the longest of them fill the memory many times over and wrap around in it. */
static void test_lengths(void **state)
{
	struct seen *s = start(2u << 20, 50);
	__u32 i, len = 0;

	(void)state;
	for (i = 0; i < 20011; i++) {
		assert_int_equal(put_long(s, i * 10 + (i % 7 ? 0 : 45), i, (__u16)len), 0);
		len = (len * 5 + 8 * (i % 11) + 24) % 65536 & ~7u;
	}
	assert_int_equal(put_long(s, 1000000, i, 65528), 0);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, 20012);
	check_sorted(s);
	stop(s);
}

static int by_key(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return (x > y) - (x < y);
}

/* Any disorder within the window comes out as a sort would make it. */
static void test_random(void **state)
{
	static __u64 want[MAX_SEEN];
	struct seen *s = start(8u << 20, 5000);
	__u64 x = 88172645463325252ull;
	__u32 i;

	(void)state;
	for (i = 0; i < CROWD; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		want[i] = (__u64)i * 10 + (x % 8 ? x % 16 : x % 5000);
		put(s, want[i], i);
	}
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, CROWD);
	qsort(want, CROWD, sizeof(want[0]), by_key);
	assert_memory_equal(s->key, want, CROWD * sizeof(want[0]));
	assert_int_equal(hcw_order_late(s->order), 0);
	stop(s);
}

/* What fn refuses is told to whoever led to it; the rest is still there. */
static void test_refused(void **state)
{
	struct seen *s = start(BYTES, WINDOW);

	(void)state;
	put(s, 100, 1);
	put(s, 200, 2);
	s->fail_at = 0;
	assert_int_equal(put_long(s, 5000, 3, 64), -5);
	assert_int_equal(s->n, 0);
	assert_int_equal(hcw_order_flush(s->order), 0);
	assert_int_equal(s->n, 2);
	assert_int_equal(s->tid[0], 2);
	hcw_order_free(NULL);
	stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),       cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_ties),	       cmocka_unit_test(test_late),
		cmocka_unit_test(test_holes),	       cmocka_unit_test(test_full),
		cmocka_unit_test(test_full_backwards), cmocka_unit_test(test_far_future),
		cmocka_unit_test(test_lengths),	       cmocka_unit_test(test_random),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
