/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "trace_file.h"

static char folder[] = "/tmp/hcw-test-XXXXXX";
static int made;

const char *test_path(void)
{
	static char path[64];
	static int n;

	if (!made) {
		assert_non_null(mkdtemp(folder));
		made = 1;
	}
	snprintf(path, sizeof(path), "%s/%d.hcw", folder, n++);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int test_path_teardown(void **state)
{
	(void)state;
	return made ? nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) : 0;
}

void put_record(struct hcw_writer *w, uint64_t i)
{
	const struct hcw_rec rec = {
		.ts = 1000 * (i + 1),
		.tid = 7,
		.type = HCW_R_ITER_BEGIN,
		.len = sizeof(struct hcw_iter),
	};
	const struct hcw_iter body = {.id = i, .tgid = 7};

	assert_int_equal(hcw_writer_put(w, &rec, &body, NULL), 0);
}

unsigned char *make_trace(unsigned int frames, unsigned int per_frame, size_t *size)
{
	const char *path = test_path();
	struct hcw_writer *w;
	unsigned char *data;

	assert_int_equal(hcw_writer_open(&w, path, NULL), 0);
	for (unsigned int i = 0; i < frames * per_frame; i++) {
		put_record(w, i);
		if (i % per_frame == per_frame - 1)
			assert_int_equal(hcw_writer_flush(w, NULL), 0);
	}
	assert_int_equal(hcw_writer_close(w, NULL), 0);
	data = read_file(path, size);
	unlink(path);
	return data;
}

void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

unsigned char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	unsigned char *data;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*size = (size_t)ftell(f);
	rewind(f);
	data = malloc(*size + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

static void judge(struct outcome *o, const struct hcw_rec *rec)
{
	struct hcw_iter iter;

	if (rec->type == HCW_R_HOLE) {
		assert_int_equal(rec->len, sizeof(o->hole));
		memcpy(&o->hole, rec + 1, sizeof(o->hole));
		assert_int_equal(o->hole.cause, HCW_HOLE_DAMAGED_FRAME);
		assert_int_equal(o->hole.source, 0);
		assert_true(o->hole.from <= o->hole.to && rec->ts == o->hole.to);
		o->holes++;
		o->missing += o->hole.count;
		return;
	}
	o->records++;
	if (rec->type != HCW_R_ITER_BEGIN || rec->len < sizeof(iter))
		return;
	memcpy(&iter, rec + 1, sizeof(iter));
	o->disorder |= iter.id < o->next_id || rec->ts != 1000 * (iter.id + 1);
	o->next_id = iter.id + 1;
}

void read_trace(const char *path, struct outcome *o)
{
	const struct hcw_rec *rec;
	struct hcw_reader *r;

	memset(o, 0, sizeof(*o));
	o->open_ret = hcw_reader_open(&r, path, &o->err);
	if (o->open_ret) {
		assert_true(o->err.what[0] && o->err.hint[0]);
		return;
	}
	while ((o->end_ret = hcw_reader_next(r, &rec, &o->err)) == 1)
		judge(o, rec);
	assert_int_equal(hcw_reader_next(r, &rec, &o->err), 0);
	o->cut = hcw_reader_cut(r);
	hcw_reader_close(r);
}

void read_bytes(const void *data, size_t size, struct outcome *o)
{
	const char *path = test_path();

	write_file(path, data, size);
	read_trace(path, o);
	unlink(path);
}

size_t frame_offset(const unsigned char *data, size_t size, unsigned int n)
{
	const unsigned char *p = data;

	for (;; p++) {
		p = memmem(p, size - (size_t)(p - data), hcw_head_mark, HCW_HEAD_MARK_SIZE);
		assert_non_null(p);
		if (!n--)
			return (size_t)(p - data);
	}
}
