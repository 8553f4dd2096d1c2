/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that were good once: cut at every byte, bits flipped, frames removed, doubled, swapped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace_file.h"

#define FRAMES	  4u
#define PER_FRAME 25u

static void test_every_truncation(void **state)
{
	size_t size;
	unsigned char *data = make_trace(FRAMES, PER_FRAME, &size);
	struct outcome o;

	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		unsigned int whole = 0;

		while (whole + 1 < FRAMES && frame_offset(data, size, whole + 1) <= cut)
			whole++;
		read_bytes(data, cut, &o);
		if (cut < HCW_HEAD_MARK_SIZE) {
			assert_int_equal(o.open_ret, -EBADMSG);
			assert_int_equal(o.err.code, HCW_EXIT_TRACE);
			continue;
		}
		assert_int_equal(o.open_ret | o.end_ret | o.disorder, 0);
		assert_int_equal(o.records, whole * PER_FRAME);
		assert_int_equal(o.cut, cut != frame_offset(data, size, whole));
		/* with its index whole, the loss has a number */
		if (cut >= frame_offset(data, size, whole) + sizeof(struct hcw_frame_head))
			assert_int_equal(o.missing, PER_FRAME);
		else
			assert_int_equal(o.holes, 0);
	}
	free(data);
}

/* One flipped bit anywhere loses at most the frame it is in. */
static void test_every_bit(void **state)
{
	size_t size;
	unsigned char *data = make_trace(FRAMES, PER_FRAME, &size);
	struct outcome o;

	(void)state;
	for (size_t bit = 0; bit < 8 * size; bit++) {
		data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		read_bytes(data, size, &o);
		data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_int_equal(o.open_ret | o.end_ret | o.disorder, 0);
		assert_true(o.records == FRAMES * PER_FRAME ||
			    (o.records == (FRAMES - 1) * PER_FRAME && o.holes == 1));
		assert_true(!o.cut || bit / 8 >= frame_offset(data, size, FRAMES - 1));
	}
	free(data);
}

/* Many flips at once: only "never crash, never hang, never out of order". */
static void test_random_damage(void **state)
{
	size_t size;
	unsigned char *data = make_trace(FRAMES, PER_FRAME, &size);
	unsigned char *bad = malloc(size);
	unsigned int seed = 1;
	struct outcome o;

	(void)state;
	assert_non_null(bad);
	for (int round = 0; round < 3000; round++) {
		int flips = 1 + round % 40;

		memcpy(bad, data, size);
		while (flips--)
			bad[(size_t)rand_r(&seed) % size] ^= (unsigned char)rand_r(&seed);
		read_bytes(bad, size, &o);
		assert_true(o.open_ret || o.records <= FRAMES * PER_FRAME);
	}
	free(bad);
	free(data);
}

static void test_hole_in_the_middle(void **state)
{
	size_t size, at;
	unsigned char *data = make_trace(FRAMES, PER_FRAME, &size);
	struct outcome o;

	(void)state;
	at = frame_offset(data, size, 1) + sizeof(struct hcw_frame_head);
	memset(data + at + 8, 0xa5, 6);
	read_bytes(data, size, &o);
	assert_int_equal(o.records, 3 * PER_FRAME);
	assert_int_equal(o.holes, 1);
	assert_int_equal(o.hole.from, 1000 * PER_FRAME);
	assert_int_equal(o.hole.to, 1000 * (2 * PER_FRAME + 1));
	assert_int_equal(o.hole.count, PER_FRAME);
	assert_int_equal(o.cut, 0);
	free(data);
}

static void test_two_damaged_frames_are_one_hole(void **state)
{
	size_t size;
	unsigned char *data = make_trace(FRAMES, PER_FRAME, &size);
	struct outcome o;

	(void)state;
	for (unsigned int n = 1; n < 3; n++)
		memset(data + frame_offset(data, size, n) + 40, 0xa5, 6);
	read_bytes(data, size, &o);
	assert_int_equal(o.records, 2 * PER_FRAME);
	assert_int_equal(o.holes, 1);
	assert_int_equal(o.hole.count, 2 * PER_FRAME);
	free(data);
}

/* Copies the frames listed, in that order, and puts `gap` bytes of garbage before the last. */
static void read_frames(const unsigned int *order, unsigned int n, size_t gap, struct outcome *o)
{
	size_t size, len = 0;
	unsigned char *data = make_trace(FRAMES, PER_FRAME, &size);
	unsigned char *out = calloc(1, n * size + gap);

	assert_non_null(out);
	for (unsigned int i = 0; i < n; i++) {
		size_t from = frame_offset(data, size, order[i]);
		size_t to = order[i] + 1 < FRAMES ? frame_offset(data, size, order[i] + 1) : size;

		if (i == n - 1)
			len += gap;
		memcpy(out + len, data + from, to - from);
		len += to - from;
	}
	read_bytes(out, len, o);
	free(out);
	free(data);
}

static void test_missing_frame(void **state)
{
	static const unsigned int order[] = {0, 1, 3};
	struct outcome o;

	(void)state;
	read_frames(order, 3, 0, &o);
	assert_int_equal(o.records, 3 * PER_FRAME);
	assert_int_equal(o.holes, 1);
	assert_int_equal(o.hole.count, 0); /* not known */
	assert_int_equal(o.hole.from, 1000 * 2 * PER_FRAME);
	assert_int_equal(o.hole.to, 1000 * (3 * PER_FRAME + 1));
}

static void test_missing_first_frame(void **state)
{
	static const unsigned int order[] = {1, 2, 3};
	struct outcome o;

	(void)state;
	read_frames(order, 3, 0, &o);
	assert_int_equal(o.records, 3 * PER_FRAME);
	assert_int_equal(o.holes, 1);
	assert_int_equal(o.hole.to, 1000 * (PER_FRAME + 1));
}

static void test_garbage_between(void **state)
{
	static const unsigned int order[] = {0, 1, 2, 3};
	static const size_t gaps[] = {1, 11, 12, 31, 32, 33, 4096, 300000};
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		read_frames(order, 4, gaps[i], &o);
		assert_int_equal(o.open_ret | o.end_ret | o.disorder | o.cut, 0);
		assert_int_equal(o.records, FRAMES * PER_FRAME);
		assert_int_equal(o.holes, 1);
	}
}

/* The next head lies across the end of what one read gives. */
static void test_head_across_reads(void **state)
{
	const size_t chunk = 256 << 10;
	size_t size;
	unsigned char *data = make_trace(2, PER_FRAME, &size);
	size_t second = frame_offset(data, size, 1);
	unsigned char *out = calloc(1, chunk + size);
	struct outcome o;

	(void)state;
	assert_non_null(out);
	for (size_t before = 0; before <= sizeof(struct hcw_frame_head); before++) {
		size_t at = chunk - before;

		memset(out, 0, chunk + size);
		memcpy(out, data, second);
		memcpy(out + at, data + second, size - second);
		read_bytes(out, at + size - second, &o);
		assert_int_equal(o.records, 2 * PER_FRAME);
		assert_int_equal(o.holes, 1);
	}
	free(out);
	free(data);
}

static void test_doubled_and_swapped(void **state)
{
	static const unsigned int order[] = {0, 1, 1, 3, 2};
	struct outcome o;

	(void)state;
	read_frames(order, 5, 0, &o);
	assert_int_equal(o.end_ret, 0);
	assert_int_equal(o.records, 5 * PER_FRAME);
	assert_int_equal(o.holes, 1); /* before 3; what comes after a lower number is no gap */
}

static void test_garbage_at_the_end(void **state)
{
	size_t size;
	unsigned char *data = make_trace(FRAMES, PER_FRAME, &size);
	unsigned char *longer = calloc(1, size + 5000);
	struct outcome o;

	(void)state;
	assert_non_null(longer);
	memcpy(longer, data, size);
	read_bytes(longer, size + 5000, &o);
	assert_int_equal(o.records, FRAMES * PER_FRAME);
	assert_int_equal(o.holes, 1);
	assert_int_equal(o.hole.from, 1000 * FRAMES * PER_FRAME);
	free(longer);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_hole_in_the_middle),
		cmocka_unit_test(test_two_damaged_frames_are_one_hole),
		cmocka_unit_test(test_missing_frame),
		cmocka_unit_test(test_missing_first_frame),
		cmocka_unit_test(test_garbage_between),
		cmocka_unit_test(test_head_across_reads),
		cmocka_unit_test(test_doubled_and_swapped),
		cmocka_unit_test(test_garbage_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, test_path_teardown);
}
