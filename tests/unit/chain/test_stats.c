/* SPDX-License-Identifier: BSD-2-Clause */
/* The histogram against a sorted list of the same values. */
#include <stdlib.h>
#include <string.h>
#include "stream.h"
#include "stats.h"

#define N 2000

struct reference {
	__u64 sorted[N];
	size_t n;
	struct hcw_hist hist;
};

static __u64 next_random(__u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void add(struct reference *r, __u64 value)
{
	size_t i = r->n++;

	for (; i > 0 && r->sorted[i - 1] > value; i--)
		r->sorted[i] = r->sorted[i - 1];
	r->sorted[i] = value;
	hcw_hist_add(&r->hist, value);
}

static void assert_close(__u64 got, __u64 want)
{
	__u64 off = got > want ? got - want : want - got;

	if (off > want / 16)
		fail_msg("%llu is more than 6.25 %% off %llu", (unsigned long long)got,
			 (unsigned long long)want);
}

static void check(const struct reference *r)
{
	static const double percents[] = {0, 1, 25, 50, 90, 99, 99.9, 100};
	size_t i;

	assert_close(hcw_hist_median(&r->hist), r->sorted[(r->n - 1) / 2]);
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		size_t at = (size_t)((double)r->n * percents[i] / 100.0);

		if (at >= r->n)
			at = r->n - 1;
		assert_close(hcw_hist_percentile(&r->hist, percents[i]), r->sorted[at]);
	}
}

typedef __u64 (*make_fn)(size_t i, __u64 *state);

static __u64 make_equal(size_t i, __u64 *state)
{
	(void)i;
	(void)state;
	return 700000;
}

static __u64 make_descending(size_t i, __u64 *state)
{
	(void)state;
	return MS(N - i);
}

static __u64 make_ascending(size_t i, __u64 *state)
{
	(void)state;
	return i * i;
}

static __u64 make_huge(size_t i, __u64 *state)
{
	(void)state;
	return ~0ull - i;
}

/* From one end of the range to the other and back: the median's bucket walks as far as it can. */
static __u64 make_swinging(size_t i, __u64 *state)
{
	(void)state;
	return i % 2 ? ~0ull : 0;
}

static __u64 make_random(size_t i, __u64 *state)
{
	(void)i;
	return next_random(state) >> (next_random(state) % 64);
}

static void run(make_fn make, __u64 seed)
{
	struct reference *r = calloc(1, sizeof(*r));
	size_t i;

	assert_non_null(r);
	for (i = 0; i < N; i++) {
		add(r, make(i, &seed));
		if (i < 64 || i % 37 == 0)
			check(r);
	}
	check(r);
	free(r);
}

static void test_shapes(void **state)
{
	static const make_fn shapes[] = {make_equal, make_descending, make_ascending, make_huge,
					 make_swinging};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		run(shapes[i], 0);
}

static void test_random(void **state)
{
	__u64 seed;

	(void)state;
	for (seed = 1; seed <= 20; seed++)
		run(make_random, seed * 0x9e3779b97f4a7c15ull);
}

static void test_empty(void **state)
{
	struct hcw_hist h = {0};

	(void)state;
	assert_int_equal(hcw_hist_median(&h), 0);
	assert_int_equal(hcw_hist_percentile(&h, 50), 0);
}

static void test_buckets_tile(void **state)
{
	__u32 b;

	(void)state;
	for (b = 0; b < HCS_HIST_BUCKETS; b++) {
		assert_int_equal(hcs_hist_bucket(hcs_hist_low(b)), b);
		if (b)
			assert_int_equal(hcs_hist_bucket(hcs_hist_low(b) - 1), b - 1);
	}
	assert_int_equal(hcs_hist_bucket(~0ull), HCS_HIST_BUCKETS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_buckets_tile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
