/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trace_file.h"

static void test_many(void **state)
{
	const uint64_t n = 100003;
	const char *path = test_path();
	struct hcw_writer *w;
	struct outcome o;

	(void)state;
	assert_int_equal(hcw_writer_open(&w, path, NULL), 0);
	for (uint64_t i = 0; i < n; i++)
		put_record(w, i);
	assert_int_equal(hcw_writer_records(w), n);
	assert_int_equal(hcw_writer_close(w, NULL), 0);
	read_trace(path, &o);
	assert_int_equal(o.open_ret | o.end_ret | o.cut | o.disorder, 0);
	assert_int_equal(o.records, n);
	assert_int_equal(o.next_id, n);
	assert_int_equal(o.holes, 0);
}

/* Body of record i: its length runs over all sizes, its bytes depend on i and the position. */
static size_t odd_body(unsigned int i, unsigned char *body)
{
	static const size_t sizes[] = {0, 8, 64, 1024, 65528, 16};
	size_t len = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];

	for (size_t k = 0; k < len; k++)
		body[k] = (unsigned char)(i * 31 + k * (k >> 8 | 1));
	return len;
}

/* Every type, known or not, and every length come back byte for byte; 16 MB, so frames end by size.
 */
static void test_every_shape(void **state)
{
	enum { N = 1500 };
	const char *path = test_path();
	static unsigned char body[65536];
	const struct hcw_rec *rec;
	struct hcw_writer *w;
	struct hcw_reader *r;

	(void)state;
	assert_int_equal(hcw_writer_open(&w, path, NULL), 0);
	for (unsigned int i = 0; i < N; i++) {
		struct hcw_rec head = {
			.ts = UINT64_MAX - 7919ull * i, /* backwards */
			.tid = i,
			.type = (__u16)(i * 43),
			.len = (__u16)odd_body(i, body),
		};

		head.type = head.type == HCW_R_HOLE ? 1 : head.type;
		assert_int_equal(hcw_writer_put(w, &head, body, NULL), 0);
	}
	assert_int_equal(hcw_writer_close(w, NULL), 0);
	assert_int_equal(hcw_reader_open(&r, path, NULL), 0);
	for (unsigned int i = 0; i < N; i++) {
		size_t len = odd_body(i, body);

		assert_int_equal(hcw_reader_next(r, &rec, NULL), 1);
		assert_true(rec->ts == UINT64_MAX - 7919ull * i);
		assert_int_equal(rec->tid, i);
		assert_int_equal(rec->len, len);
		assert_memory_equal(rec + 1, body, len);
	}
	assert_int_equal(hcw_reader_next(r, &rec, NULL), 0);
	hcw_reader_close(r);
}

static void test_index(void **state)
{
	struct hcw_frame_head head;
	size_t size;
	unsigned char *data = make_trace(3, 10, &size);

	(void)state;
	memcpy(&head, data + frame_offset(data, size, 2), sizeof(head));
	assert_int_equal(head.skippable, HCW_FRAME_SKIPPABLE);
	assert_int_equal(head.size, 24);
	assert_int_equal(head.index.magic, HCW_FRAME_MAGIC);
	assert_memory_equal(&head.index.magic, "hcwf", 4);
	assert_int_equal(head.index.sequence, 2);
	assert_int_equal(head.index.first_ts, 21000);
	assert_int_equal(head.index.span_us, 9);
	assert_int_equal(head.index.records, 10);
	free(data);
}

static void test_empty_recording(void **state)
{
	const char *path = test_path();
	struct hcw_writer *w;
	struct outcome o;

	(void)state;
	assert_int_equal(hcw_writer_open(&w, path, NULL), 0);
	assert_int_equal(hcw_writer_flush(w, NULL), 0);
	assert_int_equal(hcw_writer_close(w, NULL), 0);
	read_trace(path, &o);
	assert_int_equal(o.open_ret, -EBADMSG);
	assert_int_equal(o.err.code, HCW_EXIT_TRACE);
}

/* A pipe is read like a file. */
static void test_pipe(void **state)
{
	const char *path = test_path();
	size_t size;
	unsigned char *data = make_trace(2, 50, &size);
	struct outcome o;
	pid_t child;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	child = fork();
	if (!child) {
		write_file(path, data, size);
		_exit(0);
	}
	read_trace(path, &o);
	assert_int_equal(o.records, 100);
	assert_int_equal(o.holes | (uint64_t)o.cut, 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	free(data);
}

/* The standard tools read what we write: same bytes, valid checksums. */
static void test_zstd_tool(void **state)
{
	const char *path = test_path();
	size_t size, n = 0;
	unsigned char *data;
	char command[160];
	struct hcw_rec rec;
	FILE *f;

	(void)state;
	if (system("command -v zstd >/dev/null 2>&1"))
		skip();
	data = make_trace(5, 100, &size);
	write_file(path, data, size);
	free(data);
	snprintf(command, sizeof(command), "zstd -q -t '%s'", path);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "zstd -q -dc '%s'", path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fread(&rec, sizeof(rec), 1, f) == 1) {
		struct hcw_iter body;

		assert_int_equal(rec.len, sizeof(body));
		assert_int_equal(fread(&body, sizeof(body), 1, f), 1);
		assert_int_equal(body.id, n++);
	}
	assert_int_equal(pclose(f), 0);
	assert_int_equal(n, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),  cmocka_unit_test(test_every_shape),
		cmocka_unit_test(test_index), cmocka_unit_test(test_empty_recording),
		cmocka_unit_test(test_pipe),  cmocka_unit_test(test_zstd_tool),
	};

	return cmocka_run_group_tests(tests, NULL, test_path_teardown);
}
