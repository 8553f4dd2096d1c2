/* SPDX-License-Identifier: BSD-2-Clause */
#include "tree.h"
#include "../../../user/sys/hist.h"

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* Everything that must hold for one value. */
static void check_value(uint64_t v)
{
	uint32_t b = hcs_hist_bucket(v);
	uint64_t low, width;

	assert_true(b < HCS_HIST_BUCKETS);
	low = hcs_hist_low(b);
	assert_true(low <= v);
	assert_int_equal(hcs_hist_bucket(low), b);
	if (b + 1 == HCS_HIST_BUCKETS)
		return;
	assert_true(v < hcs_hist_low(b + 1));
	width = hcs_hist_low(b + 1) - low;
	/* relative error of the low end: (v - low) / v <= 1/16 */
	assert_true(v - low <= v / 16);
	assert_true(width == 1 || width <= low / 16);
}

static void test_buckets(void **state)
{
	(void)state;
	assert_int_equal(HCS_HIST_BUCKETS, 976);
	assert_int_equal(hcs_hist_low(0), 0);
	for (uint32_t b = 0; b < HCS_HIST_BUCKETS; b++) {
		assert_int_equal(hcs_hist_bucket(hcs_hist_low(b)), b);
		if (b) {
			assert_true(hcs_hist_low(b) > hcs_hist_low(b - 1));
			assert_int_equal(hcs_hist_bucket(hcs_hist_low(b) - 1), b - 1);
		}
	}
	assert_int_equal(hcs_hist_bucket(UINT64_MAX), HCS_HIST_BUCKETS - 1);
}

static void test_extremes(void **state)
{
	(void)state;
	for (uint64_t v = 0; v < 100000; v++)
		check_value(v);
	for (int bit = 0; bit < 64; bit++) {
		for (int64_t delta = -2; delta <= 2; delta++)
			check_value((1ull << bit) + (uint64_t)delta);
	}
	check_value(UINT64_MAX);
}

static void test_random(void **state)
{
	uint64_t s = 88172645463325252ull;
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t v = next_random(&s) >> (i % 64);

		check_value(v);
		assert_true(v >= last ? hcs_hist_bucket(v) >= hcs_hist_bucket(last)
				      : hcs_hist_bucket(v) <= hcs_hist_bucket(last));
		last = v;
	}
}

static void test_log2(void **state)
{
	(void)state;
	for (uint32_t bit = 0; bit < 64; bit++) {
		assert_int_equal(hcs_hist_log2(1ull << bit), bit);
		assert_int_equal(hcs_hist_log2((1ull << bit) | ((1ull << bit) - 1)), bit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_log2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
