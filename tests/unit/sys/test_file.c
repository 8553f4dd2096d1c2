/* SPDX-License-Identifier: BSD-2-Clause */
/* sys.h: whole files, numbers, lines, deadlines; odd files included. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/sys.h"

struct lines {
	int n, stop_at;
	size_t longest;
	char last[64];
};

static int on_line(char *text, void *ctx)
{
	struct lines *l = ctx;

	if (strlen(text) > l->longest)
		l->longest = strlen(text);
	snprintf(l->last, sizeof(l->last), "%s", text);
	return ++l->n == l->stop_at ? 99 : 0;
}

static void test_read_file(void **state)
{
	int root = tree_new();
	char buf[8];

	(void)state;
	tree_text(root, "a/seven", "1234567");
	tree_text(root, "a/eight", "12345678");
	tree_text(root, "a/empty", "");
	assert_int_equal(hcs_read_file(root, "a/seven", buf, sizeof(buf), 0), 7);
	assert_string_equal(buf, "1234567");
	assert_int_equal(hcs_read_file(root, "a/eight", buf, sizeof(buf), 0), -E2BIG);
	assert_int_equal(hcs_read_file(root, "a/empty", buf, sizeof(buf), 0), 0);
	assert_string_equal(buf, "");
	assert_int_equal(hcs_read_file(root, "a/none", buf, sizeof(buf), 0), -ENOENT);
	assert_int_equal(hcs_read_file(root, "a", buf, sizeof(buf), 0), -EISDIR);
	assert_int_equal(hcs_read_file(root, "a/seven/x", buf, sizeof(buf), 0), -ENOTDIR);
	assert_int_equal(hcs_read_file(root, "a/seven", buf, 0, 0), -EINVAL);
	tree_link(root, "a/loop", "loop");
	assert_int_equal(hcs_read_file(root, "a/loop", buf, sizeof(buf), 0), -ELOOP);
	tree_remove(root);
}

static void test_fifo_does_not_hang(void **state)
{
	int root = tree_new();
	char buf[8];

	(void)state;
	assert_int_equal(mkfifoat(root, "fifo", 0600), 0);
	assert_int_equal(hcs_read_file(root, "fifo", buf, sizeof(buf), 0), 0);
	tree_remove(root);
}

#define NOBODY 65534

/* Root may read everything: only as somebody else does the mode count. */
static void test_no_permission(void **state)
{
	uid_t me = geteuid();
	int root = tree_new();
	uint64_t v;

	(void)state;
	tree_text(root, "secret", "1\n");
	assert_int_equal(fchmod(root, 0755), 0);
	assert_int_equal(fchmodat(root, "secret", 0, 0), 0);
	if (!me)
		assert_int_equal(seteuid(NOBODY), 0);
	assert_int_equal(hcs_read_u64(root, "secret", &v, 0), -EACCES);
	assert_int_equal(seteuid(me), 0);
	tree_remove(root);
}

static void test_read_u64(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		int ret;
	} cases[] = {
		{"5\n", 2, 0},
		{"5", 1, 0},
		{"5\n\n", 3, -EBADMSG},
		{"", 0, -EBADMSG},
		{"\n", 1, -EBADMSG},
		{"-5\n", 3, -EBADMSG},
		{" 5\n", 3, -EBADMSG},
		{"5\0", 2, -EBADMSG},
		{"5\0\n", 3, -EBADMSG},
		{"0x5\n", 4, -EBADMSG},
		{"5 6\n", 4, -EBADMSG},
		{"\xff\xfe", 2, -EBADMSG},
		{"18446744073709551616\n", 21, -EBADMSG},
		{"00000000000000000000000000000000000005\n", 39, -E2BIG},
	};
	int root = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 77;

		tree_put(root, "n", cases[i].text, cases[i].size);
		assert_int_equal(hcs_read_u64(root, "n", &v, 0), cases[i].ret);
		assert_true(v == (cases[i].ret ? 77 : 5));
	}
	tree_remove(root);
}

static void test_lines(void **state)
{
	int root = tree_new();
	struct lines l = {0};

	(void)state;
	tree_text(root, "f", "one\n\nthree\nno newline");
	assert_int_equal(hcs_each_line(root, "f", on_line, &l, 0), 0);
	assert_int_equal(l.n, 4);
	assert_string_equal(l.last, "no newline");
	l = (struct lines){.stop_at = 2};
	assert_int_equal(hcs_each_line(root, "f", on_line, &l, 0), 99);
	assert_int_equal(l.n, 2);
	tree_text(root, "f", "");
	l = (struct lines){0};
	assert_int_equal(hcs_each_line(root, "f", on_line, &l, 0), 0);
	assert_int_equal(l.n, 0);
	tree_put(root, "f", "ok\nb\0d\n", 7);
	assert_int_equal(hcs_each_line(root, "f", on_line, &l, 0), -EBADMSG);
	tree_remove(root);
}

/* Lines around the buffer's size, and one of 10 MiB. */
static void test_long_lines(void **state)
{
	static const size_t sizes[] = {4094, 4095, 4096, 8191, 8192, 8193, 10 << 20};
	int root = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct lines l = {0};
		char *text = malloc(sizes[i] + 6);

		assert_non_null(text);
		memset(text, 'x', sizes[i]);
		memcpy(text + sizes[i], "\nnext\n", 6);
		tree_put(root, "f", text, sizes[i] + 6);
		free(text);
		assert_int_equal(hcs_each_line(root, "f", on_line, &l, 0), 0);
		assert_int_equal(l.n, 2);
		assert_int_equal(l.longest, sizes[i] < 4095 ? sizes[i] : 4095);
		assert_string_equal(l.last, "next");
	}
	tree_remove(root);
}

static void test_deadline(void **state)
{
	int root = tree_new();
	struct lines l = {0};
	uint64_t v;
	char buf[8];

	(void)state;
	tree_text(root, "f", "1\n");
	assert_int_equal(hcs_read_u64(root, "f", &v, 1), -ETIMEDOUT);
	assert_int_equal(hcs_read_file(root, "f", buf, sizeof(buf), 1), -ETIMEDOUT);
	assert_int_equal(hcs_each_line(root, "f", on_line, &l, 1), -ETIMEDOUT);
	assert_int_equal(l.n, 0);
	assert_int_equal(hcs_read_u64(root, "f", &v, hcs_deadline_ms(60000)), 0);
	tree_remove(root);
}

/* An endless file ends with the deadline. */
static void test_deadline_ends_loop(void **state)
{
	struct lines l = {0};
	int root = hcs_root();

	(void)state;
	assert_true(root >= 0);
	assert_int_equal(hcs_each_line(root, "dev/full", on_line, &l, hcs_deadline_ms(20)),
			 -ETIMEDOUT);
	close(root);
}

static void test_clocks(void **state)
{
	uint64_t a = hcs_boot_ns(), b = hcs_boot_ns();

	(void)state;
	assert_true(a > 0 && b >= a);
	assert_true(hcs_deadline_ms(1000) > hcs_deadline_ms(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_file),     cmocka_unit_test(test_fifo_does_not_hang),
		cmocka_unit_test(test_no_permission), cmocka_unit_test(test_read_u64),
		cmocka_unit_test(test_lines),	      cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_deadline),      cmocka_unit_test(test_deadline_ends_loop),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
