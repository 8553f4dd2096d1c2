/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include "../../../user/out/fmt.h"
#include "capture.h"

static void numbers_as_people_read_them(void **state)
{
	char b[FMT_LEN];

	(void)state;
	assert_string_equal(fmt_ms(b, 391800000), "391.8");
	assert_string_equal(fmt_duration(b, 391800000), "391.8 ms");
	assert_string_equal(fmt_duration(b, 64160000000), "64.16 s");
	assert_string_equal(fmt_duration(b, 2530000000000), "42 min 10 s");
	assert_string_equal(fmt_bytes(b, 180000000000), "180.0 GB");
	assert_string_equal(fmt_bytes(b, 999), "999 B");
	assert_string_equal(fmt_bytes(b, 0), "0 B");
	fmt_bytes(b, UINT64_MAX);
	fmt_duration(b, UINT64_MAX);
	assert_string_equal(fmt_clock(b, 0, 0) + 8, ".000");
	fmt_clock(b, UINT64_MAX, INT64_MIN);
}

static void wraps_at_blanks(void **state)
{
	char *text, word[200];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	fmt_wrap(f, "   do  ",
		 "one two three four five six seven eight nine ten eleven twelve "
		 "thirteen fourteen fifteen sixteen");
	fclose(f);
	assert_true(widest(text) <= 80);
	assert_string_equal(strchr(text, '\n') + 1, "       fourteen fifteen sixteen\n");
	free(text);
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	f = open_memstream(&text, &size);
	fmt_wrap(f, "", word);
	fclose(f);
	assert_int_equal(size, sizeof(word)); /* whole, with its newline */
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_as_people_read_them),
		cmocka_unit_test(wraps_at_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
