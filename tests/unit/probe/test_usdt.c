/* SPDX-License-Identifier: BSD-2-Clause */
/* This program carries the marks that it looks for in its own file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../allocator/include/hcpool/iteration.h"
#include "../../../allocator/src/usdt.h"
#include "../../../user/probe/usdt.h"

#define MAX 16

/* The same mark twice, so that one name stands in two notes. */
static void run_marks(void)
{
	hcwatch_iteration_begin(1);
	hcwatch_iteration_begin(2);
	hcwatch_iteration_end(2);
	usdt_alloc(0x1000, 4096, 2);
	usdt_free(0x1000);
}

static bool found(const struct hcw_mark *marks, int n, const char *name)
{
	int i, hits = 0;

	for (i = 0; i < n; i++)
		hits += !strcmp(marks[i].name, name);
	return hits == 1;
}

static void own_marks(void **state)
{
	struct hcw_mark marks[MAX];
	int n;

	(void)state;
	run_marks();
	n = hcw_usdt_scan("/proc/self/exe", marks, MAX);
	assert_int_equal(n, 4);
	assert_true(found(marks, n, "hcwatch:iteration_begin"));
	assert_true(found(marks, n, "hcwatch:iteration_end"));
	assert_true(found(marks, n, "hcpool:alloc"));
	assert_true(found(marks, n, "hcpool:free"));
}

static void too_many_marks(void **state)
{
	struct hcw_mark marks[3];

	(void)state;
	assert_int_equal(hcw_usdt_scan("/proc/self/exe", marks, 3), -E2BIG);
}

static void files_that_have_none(void **state)
{
	struct hcw_mark marks[MAX];

	(void)state;
	assert_int_equal(hcw_usdt_scan("CMakeLists.txt", marks, MAX), -ENOENT);
	assert_int_equal(hcw_usdt_scan("unit/CMakeLists.txt", marks, MAX), 0);
	assert_int_equal(hcw_usdt_scan("/dev/null", marks, MAX), 0);
}

static size_t read_self(unsigned char **bytes)
{
	struct stat st;
	size_t at = 0;
	ssize_t got;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*bytes = malloc((size_t)st.st_size);
	assert_non_null(*bytes);
	while ((got = read(fd, *bytes + at, (size_t)st.st_size - at)) > 0)
		at += (size_t)got;
	close(fd);
	assert_int_equal(at, st.st_size);
	return at;
}

static void write_at(int fd, const void *bytes, size_t size, size_t at)
{
	assert_int_equal(pwrite(fd, bytes, size, (off_t)at), (ssize_t)size);
}

/* Where the notes are: the only part of the file whose damage the scanner itself must bear. */
static size_t find_notes(const unsigned char *bytes, size_t size)
{
	const unsigned char *at = memmem(bytes, size, "stapsdt\0", 8);

	assert_non_null(at);
	return (size_t)(at - bytes);
}

/* Every byte of the notes turned over once: no crash, and never more names than notes. */
static void damaged_notes(void **state)
{
	char path[32];
	struct hcw_mark marks[MAX];
	unsigned char *bytes, flipped;
	size_t size = read_self(&bytes), from = find_notes(bytes, size), i;
	int fd = memfd_create("damaged", MFD_CLOEXEC), n;

	(void)state;
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	write_at(fd, bytes, size, 0);
	for (i = from - 12; i < from + 256 && i < size; i++) {
		flipped = bytes[i] ^ 0xff;
		write_at(fd, &flipped, 1, i);
		n = hcw_usdt_scan(path, marks, MAX);
		assert_in_range(n, 0, 5);
		write_at(fd, &bytes[i], 1, i);
	}
	assert_int_equal(hcw_usdt_scan(path, marks, MAX), 4);
	/* cut in the middle of the notes */
	assert_int_equal(ftruncate(fd, (off_t)from + 20), 0);
	n = hcw_usdt_scan(path, marks, MAX);
	assert_in_range(n, 0, 4);
	close(fd);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_marks),
		cmocka_unit_test(too_many_marks),
		cmocka_unit_test(files_that_have_none),
		cmocka_unit_test(damaged_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
