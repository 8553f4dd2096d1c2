/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>
#include "../../../user/base/escape.h"

struct pair {
	const char *in, *out;
};

static void test_escape(void **state)
{
	static const struct pair cases[] = {
		{"", ""},
		{"plain text 123 ~", "plain text 123 ~"},
		{"back\\slash", "back\\slash"},
		{"größe 日本 😀", "größe 日本 😀"},
		{"\033[31mred", "\\x1b[31mred"},
		{"\a\b\t\n\r\177", "\\x07\\x08\\x09\\x0a\\x0d\\x7f"},
		{"\xc2\x9b", "\\xc2\\x9b"}, /* U+009B, a C1 control: CSI */
		{"a\xe2\x80\xae"
		 "b",
		 "a\\xe2\\x80\\xaeb"},		     /* U+202E right-to-left override */
		{"\xe2\x81\xa6", "\\xe2\\x81\\xa6"}, /* U+2066 isolate */
		{"\xe2\x80\x8b", "\\xe2\\x80\\x8b"}, /* U+200B zero width */
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xc0\xaf", "\\xc0\\xaf"}, /* overlong */
		{"\xe0\x80\x80", "\\xe0\\x80\\x80"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},	      /* surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
		{"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
		{"\xc3", "\\xc3"}, /* cut */
		{"\xe2\x82", "\\xe2\\x82"},
		{"\xe2\x28\xa1", "\\xe2(\\xa1"},
	};
	char out[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(hcw_escape(out, sizeof(out), cases[i].in, SIZE_MAX),
				    cases[i].out);
}

static void test_utf8(void **state)
{
	static const struct pair cases[] = {
		{"größe", "größe"},
		{"\033[1m\n", "\033[1m\n"}, /* jansson escapes these itself */
		{"a\xff"
		 "b",
		 "a\xef\xbf\xbd"
		 "b"},
		{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	};
	char out[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(hcw_utf8(out, sizeof(out), cases[i].in, SIZE_MAX),
				    cases[i].out);
}

static void test_length(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(hcw_escape(out, sizeof(out), "abcdef", 3), "abc");
	assert_string_equal(hcw_escape(out, sizeof(out), "abc\0def", 7), "abc");
	assert_string_equal(hcw_escape(out, sizeof(out), "é", 1), "\\xc3"); /* not read beyond */
	assert_string_equal(hcw_escape(out, sizeof(out), "x", 0), "");
}

static void test_cut(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(hcw_escape(out, 7, "abcdef", SIZE_MAX), "abcdef");
	assert_string_equal(hcw_escape(out, 6, "abcdef", SIZE_MAX), "ab...");
	assert_string_equal(hcw_escape(out, 4, "abcdef", SIZE_MAX), "...");
	assert_string_equal(hcw_escape(out, 2, "abcdef", SIZE_MAX), ".");
	assert_string_equal(hcw_escape(out, 1, "abcdef", SIZE_MAX), "");
	assert_string_equal(hcw_escape(out, 0, "abcdef", SIZE_MAX), "");
	/* an escape or a character is never cut in the middle */
	assert_string_equal(hcw_escape(out, 9, "ab\033\033", SIZE_MAX), "ab...");
	assert_string_equal(hcw_escape(out, 6, "aéb日", SIZE_MAX), "a...");
	assert_string_equal(hcw_escape(out, 8, "aéb日", SIZE_MAX), "aéb日");
}

/* Every input byte pair, every output size: always terminated, never beyond size. */
static void test_all_pairs(void **state)
{
	(void)state;
	for (int pair = 0; pair < 65536; pair++) {
		const char in[] = {(char)(pair >> 8), (char)pair, 'z', '\0'};

		for (size_t size = 1; size < 12; size++) {
			char out[12];

			memset(out, '!', sizeof(out));
			hcw_escape(out, size, in, SIZE_MAX);
			assert_true(memchr(out, '\0', size) != NULL);
			assert_true(out[size] == '!' || size == sizeof(out));
			for (const char *p = out; *p; p++)
				assert_true((unsigned char)*p >= ' ' && *p != 127);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),	  cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_length),	  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_all_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
