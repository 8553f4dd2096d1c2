/* SPDX-License-Identifier: BSD-2-Clause */
/* Files made to hurt: frames with valid checksums and wrong content, and things that are no trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>
#include "trace_file.h"

struct blob {
	unsigned char *data;
	size_t size;
};

static void add_bytes(struct blob *b, const void *data, size_t size)
{
	b->data = realloc(b->data, b->size + size);
	assert_non_null(b->data);
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static void add_head(struct blob *b, uint32_t sequence, uint32_t records)
{
	const struct hcw_frame_head head = {
		.skippable = HCW_FRAME_SKIPPABLE,
		.size = sizeof(head.index),
		.index = {HCW_FRAME_MAGIC, sequence, 1000, 1, records},
	};

	add_bytes(b, &head, sizeof(head));
}

static void add_compressed(struct blob *b, const void *raw, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	void *z = malloc(room);
	size_t n;

	assert_non_null(z);
	n = ZSTD_compress(z, room, raw, size, 1);
	assert_false(ZSTD_isError(n));
	add_bytes(b, z, n);
	free(z);
}

static void add_frame(struct blob *b, uint32_t sequence, uint32_t records, const void *raw,
		      size_t size)
{
	add_head(b, sequence, records);
	add_compressed(b, raw, size);
}

/* A good frame of one record, to see that reading goes on. */
static void add_good(struct blob *b, uint32_t sequence)
{
	const struct {
		struct hcw_rec rec;
		struct hcw_iter iter;
	} r = {{1000, 7, HCW_R_ITER_BEGIN, sizeof(struct hcw_iter)}, {.id = 0}};

	add_frame(b, sequence, 1, &r, sizeof(r));
}

static void read_blob(struct blob *b, struct outcome *o)
{
	read_bytes(b->data, b->size, o);
	free(b->data);
	*b = (struct blob){0};
}

/* Bad frame in the middle: `kept` of its records are returned, then a hole with `missing`. */
static void check_bad_frame(const void *raw, size_t size, uint32_t records, uint64_t kept,
			    uint64_t missing)
{
	struct blob b = {0};
	struct outcome o;

	add_good(&b, 0);
	add_frame(&b, 1, records, raw, size);
	add_good(&b, 2);
	read_blob(&b, &o);
	assert_int_equal(o.open_ret | o.end_ret | o.cut, 0);
	assert_int_equal(o.records, 2 + kept);
	assert_int_equal(o.holes, 1);
	assert_int_equal(o.missing, missing);
}

static void test_record_lengths(void **state)
{
	struct {
		struct hcw_rec first, second;
	} r = {{1000, 0, 1, 0}, {1001, 0, 1, 8}};

	(void)state;
	check_bad_frame(&r, sizeof(r), 2, 1, 1); /* beyond the frame */
	r.second.len = 65528;
	check_bad_frame(&r, sizeof(r), 2, 1, 1);
	r.second.len = 65535;
	check_bad_frame(&r, sizeof(r), 2, 1, 1); /* no multiple of 8 */
	r.second.len = 0;
	check_bad_frame(&r, sizeof(r) - 1, 2, 1, 1); /* head of the record cut */
	check_bad_frame(&r, 1, 5, 0, 5);
	r.first.len = 12;
	check_bad_frame(&r, sizeof(r), 2, 0, 2);
	r.first.len = 16; /* swallows the second: fine, but then 0 bytes are left */
	check_bad_frame(&r, sizeof(r) - 8, 1, 0, 1);
}

static void test_wrong_index_is_no_loss(void **state)
{
	const struct hcw_rec r[2] = {{1000, 0, 1, 0}, {1001, 0, 1, 0}};
	struct blob b = {0};
	struct outcome o;

	(void)state;
	add_frame(&b, 0, 4000000000u, r, sizeof(r));
	add_frame(&b, 1, 0, r, sizeof(r));
	read_blob(&b, &o);
	assert_int_equal(o.records, 4);
	assert_int_equal(o.holes, 0);
}

static void test_empty_frame(void **state)
{
	struct blob b = {0};
	struct outcome o;

	(void)state;
	add_frame(&b, 0, 0, "", 0);
	add_good(&b, 1);
	read_blob(&b, &o);
	assert_int_equal(o.records, 1);
	assert_int_equal(o.holes, 0);
}

/* More than 64 MiB in a frame of a few KiB. */
static void test_bomb(void **state)
{
	size_t size = (64u << 20) + 4096;
	void *zeros = calloc(1, size);
	struct blob b = {0};
	struct outcome o;

	(void)state;
	assert_non_null(zeros);
	add_good(&b, 0);
	add_frame(&b, 1, 9, zeros, size);
	add_good(&b, 2);
	free(zeros);
	assert_true(b.size < 100000);
	read_blob(&b, &o);
	assert_int_equal(o.records, 2);
	assert_int_equal(o.missing, 9);
}

/* Zstd headers that promise much: content sizes and windows of gigabytes to exabytes (RFC
 * 8878 3.1.1.1). */
static void test_promised_sizes(void **state)
{
	static const unsigned char headers[][14] = {
		/* single segment, 8-byte content size */
		{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		 0x01},
		{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0, 0x01},
		/* window descriptor: 3.75 TiB */
		{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x01, 0, 0, 0, 0, 0, 0, 0},
		/* reserved block type */
		{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00, 0x07, 0, 0, 0, 0, 0, 0, 0},
	};
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct blob b = {0};

		add_good(&b, 0);
		add_head(&b, 1, 5);
		add_bytes(&b, headers[i], sizeof(headers[i]));
		add_good(&b, 2);
		read_blob(&b, &o);
		assert_int_equal(o.records, 2);
		assert_int_equal(o.missing, 5);
	}
}

/*
 * 400 MiB of empty blocks (3 zero bytes each, not the last): a frame that never ends and never
 * gives a byte. A sparse file, so that the memory measured is the reader's.
 */
static void test_endless_empty_blocks(void **state)
{
	static const unsigned char start[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00};
	const char *path = test_path();
	struct blob b = {0}, end = {0};
	struct rusage usage;
	struct outcome o;
	int fd;

	(void)state;
	add_good(&b, 0);
	add_head(&b, 1, 5);
	add_bytes(&b, start, sizeof(start));
	write_file(path, b.data, b.size);
	add_good(&end, 2);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, end.data, end.size, 400 << 20), end.size);
	close(fd);
	free(b.data);
	free(end.data);
	read_trace(path, &o);
	unlink(path);
	assert_int_equal(o.records, 2);
	assert_int_equal(o.missing, 5);
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_true(usage.ru_maxrss < 300 << 10); /* KiB */
}

static void test_heads_without_frames(void **state)
{
	struct blob b = {0};
	struct outcome o;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		add_head(&b, i, 1);
	add_good(&b, 1000);
	read_blob(&b, &o);
	assert_int_equal(o.records, 1);
	assert_int_equal(o.holes, 1);
	assert_int_equal(o.missing, 1000);
}

/* A trace written by the zstd tool from raw records: no index anywhere. */
static void test_no_trace(void **state)
{
	static const char *const texts[] = {"", "x", "hcwf", "#!/bin/sh\necho no trace\n"};
	struct blob b = {0};
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_bytes(texts[i], strlen(texts[i]), &o);
		assert_int_equal(o.open_ret, -EBADMSG);
		assert_int_equal(o.err.code, HCW_EXIT_TRACE);
		assert_non_null(strstr(o.err.what, "not a hcwatch trace"));
	}
	add_compressed(&b, "raw", 3);
	add_bytes(&b, "            ", 12);
	read_blob(&b, &o);
	assert_int_equal(o.open_ret, -EBADMSG);
	read_trace("/nonexistent/x.hcw", &o);
	assert_int_equal(o.open_ret, -ENOENT);
	assert_int_equal(o.err.code, HCW_EXIT_TRACE);
	read_trace("/", &o);
	assert_int_equal(o.open_ret, -EISDIR);
	read_trace("/dev/zero", &o); /* endless: gives up after the size of two frames */
	assert_int_equal(o.open_ret, -EBADMSG);
	hcw_reader_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_endless_empty_blocks), /* first: it looks at the peak of memory */
		cmocka_unit_test(test_record_lengths),
		cmocka_unit_test(test_wrong_index_is_no_loss),
		cmocka_unit_test(test_empty_frame),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_promised_sizes),
		cmocka_unit_test(test_heads_without_frames),
		cmocka_unit_test(test_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, test_path_teardown);
}
