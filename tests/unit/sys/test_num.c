/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "tree.h"
#include "../../../user/sys/num.h"

struct accept {
	const char *text;
	uint64_t value;
};

static const char *const never[] = {"",	   " ",	   " 1",  "1 ",	 "+1",	"-1",  "0x10", "12abc",
				    "1e3", "1_0",  "1,0", "\t1", "1\n", "abc", ".",    ".5",
				    "1.",  "1..2", "nan", "inf", "--1", "1-",  "١"};

static void test_u64(void **state)
{
	static const struct accept good[] = {
		{"0", 0},
		{"007", 7},
		{"42", 42},
		{"18446744073709551615", UINT64_MAX},
	};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(hcs_num_u64(good[i].text, 0, UINT64_MAX, &v), 0);
		assert_true(v == good[i].value);
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(hcs_num_u64(never[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(hcs_num_u64("1.5", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(hcs_num_u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(hcs_num_u64("99999999999999999999999999", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(hcs_num_u64("99999999999999999999999999x", 0, UINT64_MAX, &v), -EINVAL);
}

static void test_limits(void **state)
{
	uint64_t v = 77;

	(void)state;
	assert_int_equal(hcs_num_u64("9", 10, 20, &v), -ERANGE);
	assert_int_equal(hcs_num_u64("21", 10, 20, &v), -ERANGE);
	assert_int_equal(hcs_num_u64("x", 10, 20, &v), -EINVAL);
	assert_true(v == 77); /* untouched on failure */
	assert_int_equal(hcs_num_u64("10", 10, 20, &v), 0);
	assert_int_equal(hcs_num_u64("20", 10, 20, &v), 0);
	assert_int_equal(hcs_num_bytes("1K", 1, 1023, &v), -ERANGE);
	assert_int_equal(hcs_num_ns("1s", 1, 999999999, &v), -ERANGE);
}

static void test_bytes(void **state)
{
	static const struct accept good[] = {
		{"0", 0},
		{"4096", 4096},
		{"1K", 1024},
		{"1KiB", 1024},
		{"1KB", 1000},
		{"512M", 512ull << 20},
		{"512MiB", 512ull << 20},
		{"512MB", 512000000},
		{"180GB", 180000000000ull},
		{"2G", 2ull << 30},
		{"3T", 3ull << 40},
		{"3TB", 3000000000000ull},
		{"16777215T", 16777215ull << 40},
	};
	static const char *const bad[] = {"K",	  "1k", "1Kb",	 "1 K", "1KK",
					  "1.5G", "1B", "1GiBs", "1Gi", "-1K"};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(hcs_num_bytes(good[i].text, 0, UINT64_MAX, &v), 0);
		assert_true(v == good[i].value);
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(hcs_num_bytes(never[i], 0, UINT64_MAX, &v), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(hcs_num_bytes(bad[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(hcs_num_bytes("16777216T", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(hcs_num_bytes("18446744073709551616K", 0, UINT64_MAX, &v), -ERANGE);
}

static void test_ns(void **state)
{
	static const struct accept good[] = {
		{"0", 0},
		{"2", 2000000000ull},
		{"1.5s", 1500000000ull},
		{"0.25", 250000000ull},
		{"1460ns", 1460},
		{"1.9ns", 1},
		{"100us", 100000},
		{"10ms", 10000000},
		{"0.000000001s", 1},
		{"1.5m", 90000000000ull},
		{"1.000000001h", 3600000003600ull},
		{"18446744073.709551615s", UINT64_MAX},
	};
	static const char *const bad[] = {"s", "1S", "1 s", "1.5.s", "1.0000000001", "1d", "1msec"};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(hcs_num_ns(good[i].text, 0, UINT64_MAX, &v), 0);
		assert_true(v == good[i].value);
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(hcs_num_ns(never[i], 0, UINT64_MAX, &v), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(hcs_num_ns(bad[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(hcs_num_ns("18446744073.709551616s", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(hcs_num_ns("5124096h", 0, UINT64_MAX, &v), -ERANGE);
}

static void test_decimal(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(hcs_num_decimal("0.5", 1000000000, 0, UINT64_MAX, &v), 0);
	assert_true(v == 500000000);
	assert_int_equal(hcs_num_decimal("180", 1000000000, 0, UINT64_MAX, &v), 0);
	assert_true(v == 180000000000ull);
	assert_int_equal(hcs_num_decimal("0.123456789", 1000000000, 0, UINT64_MAX, &v), 0);
	assert_true(v == 123456789);
	assert_int_equal(hcs_num_decimal("0.999999999", 10, 0, UINT64_MAX, &v), 0);
	assert_true(v == 9); /* rounds down */
	/* The largest scale: no intermediate product overflows. floor(0.999999999 * (2^64 - 1)). */
	assert_int_equal(hcs_num_decimal("0.999999999", UINT64_MAX, 0, UINT64_MAX, &v), 0);
	assert_true(v == 18446744055262807541ull);
	assert_int_equal(hcs_num_decimal("1", UINT64_MAX, 0, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(hcs_num_decimal("1.000000001", UINT64_MAX, 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(hcs_num_decimal("0.1234567891", 10, 0, UINT64_MAX, &v), -EINVAL);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(hcs_num_decimal(never[i], 10, 0, UINT64_MAX, &v), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),	cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bytes),	cmocka_unit_test(test_ns),
		cmocka_unit_test(test_decimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
