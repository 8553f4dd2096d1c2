/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>
#include "../../../user/base/err.h"

static void check_print(const struct hcw_err *err, const char *want)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(hcw_err_print(f, "hcwatch", err), err->code);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void test_set(void **state)
{
	struct hcw_err err;

	(void)state;
	memset(&err, 'x', sizeof(err));
	assert_int_equal(hcw_err_set(&err, -EPERM, HCW_EXIT_PERMISSION, "no %s for %d", "BPF", 7),
			 -EPERM);
	assert_int_equal(err.code, HCW_EXIT_PERMISSION);
	check_print(&err, "hcwatch: no BPF for 7\n");
	hcw_err_hint(&err, "Run it as %s.", "root");
	check_print(&err, "hcwatch: no BPF for 7\n  Run it as root.\n");
	hcw_err_set(&err, -1, HCW_EXIT_USAGE, "next");
	check_print(&err, "hcwatch: next\n"); /* the old hint is gone */
}

static void test_null(void **state)
{
	(void)state;
	assert_int_equal(hcw_err_set(NULL, -EIO, HCW_EXIT_USAGE, "x"), -EIO);
	hcw_err_hint(NULL, "x");
}

static void test_hint_lines(void **state)
{
	struct hcw_err err;

	(void)state;
	hcw_err_set(&err, -1, HCW_EXIT_USAGE, "w");
	hcw_err_hint(&err, "one\n\ntwo\n");
	check_print(&err, "hcwatch: w\n  one\n  \n  two\n");
}

static void test_untrusted(void **state)
{
	struct hcw_err err;

	(void)state;
	hcw_err_set(&err, -1, HCW_EXIT_TRACE, "%s", "a\033[2Jb\nc");
	hcw_err_hint(&err, "%s", "d\re");
	check_print(&err, "hcwatch: a\\x1b[2Jb\\x0ac\n  d\\x0de\n");
}

/* Longer than the buffers: cut, never overrun, never lost in printing. */
static void test_long(void **state)
{
	struct hcw_err err;
	char text[4000], *out;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	(void)state;
	memset(text, 1, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	hcw_err_set(&err, -1, HCW_EXIT_TRACE, "%s", text);
	hcw_err_hint(&err, "%s", text);
	assert_int_equal(strlen(err.what), sizeof(err.what) - 1);
	hcw_err_print(f, "p", &err);
	fclose(f);
	assert_int_equal(size, strlen("p: \n  \n") + 4 * 2 * (sizeof(err.what) - 1));
	free(out);
}

static void test_exit_of(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		assert_int_equal(hcw_err_exit_of(sign * EPERM), HCW_EXIT_PERMISSION);
		assert_int_equal(hcw_err_exit_of(sign * EACCES), HCW_EXIT_PERMISSION);
		assert_int_equal(hcw_err_exit_of(sign * ENOSYS), HCW_EXIT_UNSUPPORTED);
		assert_int_equal(hcw_err_exit_of(sign * EOPNOTSUPP), HCW_EXIT_UNSUPPORTED);
		assert_int_equal(hcw_err_exit_of(sign * ENODEV), HCW_EXIT_UNSUPPORTED);
		assert_int_equal(hcw_err_exit_of(sign * EINVAL), HCW_EXIT_USAGE);
		assert_int_equal(hcw_err_exit_of(sign * ENOENT), HCW_EXIT_USAGE);
		assert_int_equal(hcw_err_exit_of(sign * EEXIST), HCW_EXIT_USAGE);
		assert_int_equal(hcw_err_exit_of(sign * EIO), HCW_EXIT_UNSUPPORTED);
		assert_int_equal(hcw_err_exit_of(sign * ENOSPC), HCW_EXIT_UNSUPPORTED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),	   cmocka_unit_test(test_null),
		cmocka_unit_test(test_hint_lines), cmocka_unit_test(test_untrusted),
		cmocka_unit_test(test_long),	   cmocka_unit_test(test_exit_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
