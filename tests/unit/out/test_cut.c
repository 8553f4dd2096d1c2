/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace cut at every single byte (a killed recorder, a full disk): the report never fails over
 * it, tells all whole frames, says that the file ends early, and ends with the documented code.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>
#include "../../../bpf/hcwatch_abi.h"
#include "../../../user/cmd/load.h"
#include "capture.h"
#include "golden.h"

#define TRACE	   "fixtures/traces/registered.hcw"
#define MAX_FRAMES 64

struct bytes {
	char *data;
	size_t size;
	size_t frame_end[MAX_FRAMES];
	size_t frame_records[MAX_FRAMES];
	size_t n_frames;
};

static __u32 word(const char *p)
{
	__u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* hcw(5): before each frame stands an index of 32 bytes that begins with this mark. */
static void find_frames(struct bytes *b)
{
	static const char mark[] = "\x50\x2a\x4d\x18\x18\x00\x00\x00hcwf";
	size_t i;

	for (i = 0; i + 32 <= b->size; i++) {
		if (memcmp(b->data + i, mark, 12))
			continue;
		if (b->n_frames)
			b->frame_end[b->n_frames - 1] = i;
		b->frame_records[b->n_frames++] = word(b->data + i + 28);
		assert_true(b->n_frames < MAX_FRAMES);
	}
	b->frame_end[b->n_frames - 1] = b->size;
}

static void read_trace(struct bytes *b)
{
	FILE *f = fopen(TRACE, "r");

	assert_non_null(f);
	memset(b, 0, sizeof(*b));
	b->data = malloc(1 << 20);
	assert_non_null(b->data);
	b->size = fread(b->data, 1, 1 << 20, f);
	fclose(f);
	find_frames(b);
	assert_true(b->n_frames > 1);
}

/* Records of the frames that are whole in the first `size` bytes. */
static size_t whole_records(const struct bytes *b, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < b->n_frames && b->frame_end[i] <= size; i++)
		n += b->frame_records[i];
	return n;
}

static void write_cut(const char *path, const struct bytes *b, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* Records told, without the hole that stands for what is missing. */
static size_t told_records(const char *path)
{
	const struct hcw_model *m;
	struct hcw_loaded l;
	size_t n;

	assert_int_equal(load_trace(path, &l, NULL), 0);
	m = hcw_chain_model(l.chain);
	n = m->records - m->n_holes;
	hcw_chain_free(l.chain);
	return n;
}

static void check_cut(const char *path, const struct bytes *b, size_t size)
{
	int code = -1;
	char *text = golden_report(path, 0, &code), *json;
	char at[64];

	if (!whole_records(b, size)) {
		assert_null(text);
		assert_int_equal(code, HCW_EXIT_TRACE);
		return;
	}
	assert_non_null(text);
	assert_int_equal(code, HCW_EXIT_INCOMPLETE);
	snprintf(at, sizeof(at), "ends early at byte %zu, not closed", size);
	assert_non_null(strstr(text, "INCOMPLETE"));
	assert_non_null(strstr(text, at));
	assert_null(strstr(text, "the file is damaged"));
	assert_true(widest(text) <= 80);
	free(text);
	assert_int_equal(told_records(path), whole_records(b, size));
	json = golden_report(path, 1, NULL);
	assert_non_null(strstr(json, "\"closed\": false"));
	free(json);
}

static void a_cut_at_every_byte(void **state)
{
	char path[] = "/tmp/hcwatch-cut-XXXXXX";
	struct bytes b;
	size_t size;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	read_trace(&b);
	for (size = 0; size < b.size; size++) {
		write_cut(path, &b, size);
		check_cut(path, &b, size);
	}
	write_cut(path, &b, b.size);
	assert_int_equal(told_records(path), whole_records(&b, b.size));
	unlink(path);
	free(b.data);
}

/* A refusal says what is wrong and what to do. */
static void a_cut_header_is_refused_clearly(void **state)
{
	char path[] = "/tmp/hcwatch-cut-XXXXXX";
	struct hcw_err err = {0};
	struct hcw_loaded l;
	struct bytes b;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	read_trace(&b);
	write_cut(path, &b, b.frame_end[0] - 1);
	assert_true(load_trace(path, &l, &err) < 0);
	assert_int_equal(err.code, HCW_EXIT_TRACE);
	assert_non_null(strstr(err.what, "ends early"));
	assert_non_null(strstr(err.what, path));
	assert_non_null(strstr(err.hint, "record again"));
	write_cut(path, &b, 0);
	assert_true(load_trace(path, &l, &err) < 0);
	assert_int_equal(err.code, HCW_EXIT_TRACE);
	assert_non_null(strstr(err.what, "empty"));
	unlink(path);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_at_every_byte),
		cmocka_unit_test(a_cut_header_is_refused_clearly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
