/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces in a temporary folder, made and judged by the tests. */
#ifndef TEST_TRACE_FILE_H
#define TEST_TRACE_FILE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "../../../user/trace/format.h"

/* The path of a file that does not exist yet, in a folder of this test program; valid until the
 * next call. */
const char *test_path(void);

/* Removes the folder. A cmocka group teardown. */
int test_path_teardown(void **state);

/* Record number i of every test trace: ts 1000 * (i + 1), an iteration mark whose id is i. */
void put_record(struct hcw_writer *w, uint64_t i);

/* Writes `frames` frames of `per_frame` such records; returns the file's bytes (malloc) and its
 * size. */
unsigned char *make_trace(unsigned int frames, unsigned int per_frame, size_t *size);

void write_file(const char *path, const void *data, size_t size);
unsigned char *read_file(const char *path, size_t *size);

/* What reading a file gave. */
struct outcome {
	int open_ret, end_ret; /* of hcw_reader_open() and of the last hcw_reader_next() */
	int cut;
	uint64_t records; /* without holes */
	uint64_t holes;
	uint64_t missing;     /* sum of the holes' counts */
	struct hcw_hole hole; /* the last one */
	uint64_t next_id;     /* id after the last one read */
	int disorder;	      /* an id that did not come after the one before */
	struct hcw_err err;
};

/* Reads the whole file and checks what holds for every file: hole records well-formed, 0 stays 0 at
 * the end. */
void read_trace(const char *path, struct outcome *o);

/* The same for bytes in memory. */
void read_bytes(const void *data, size_t size, struct outcome *o);

/* Offset of frame head number n; fails the test when there is none. */
size_t frame_offset(const unsigned char *data, size_t size, unsigned int n);

#endif
