/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "format.h"
#include "output.h"

struct hcw_writer {
	struct hcw_output out;
	ZSTD_CCtx *zstd;
	char *path;
	char *raw; /* records of the current frame, HCW_FRAME_BYTES */
	size_t raw_len;
	char *block; /* frame head and compressed frame */
	size_t block_room;
	__u32 sequence;
	__u32 frame_records;
	__u64 first_ts, last_ts; /* smallest and largest of the current frame */
	__u64 records;
	int failed; /* negative errno of the first failure: nothing is written after it */
};

static void writer_free(struct hcw_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	free(w->path);
	free(w->raw);
	free(w->block);
	free(w);
}

static struct hcw_writer *writer_new(const char *path)
{
	struct hcw_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->block_room = sizeof(struct hcw_frame_head) + ZSTD_compressBound(HCW_FRAME_BYTES);
	w->path = strdup(strcmp(path, "-") ? path : "standard output");
	w->raw = malloc(HCW_FRAME_BYTES);
	w->block = malloc(w->block_room);
	w->zstd = ZSTD_createCCtx();
	if (!w->path || !w->raw || !w->block || !w->zstd) {
		writer_free(w);
		return NULL;
	}
	/* against 1: a record costs the recorder a tenth less, and the file is a twentieth larger
	 */
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, -1);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	return w;
}

static int open_failed(const char *path, int ret, struct hcw_err *err)
{
	hcw_err_set(err, ret, hcw_err_exit_of(ret), "cannot create the trace %s: %s", path,
		    strerror(-ret));
	if (ret == -EEXIST)
		hcw_err_hint(err, "An existing file is never overwritten: choose another name or "
				  "remove it first.");
	else
		hcw_err_hint(err, "Choose a folder that exists and that you may write to.");
	return ret;
}

int hcw_writer_open(struct hcw_writer **out, const char *path, struct hcw_err *err)
{
	struct hcw_writer *w;
	int ret;

	if (!strcmp(path, "-") && isatty(STDOUT_FILENO)) {
		hcw_err_set(err, -EINVAL, HCW_EXIT_USAGE,
			    "a trace is binary and cannot be written to a terminal");
		hcw_err_hint(err, "Redirect standard output to a file or a pipe.");
		return -EINVAL;
	}
	w = writer_new(path);
	if (!w)
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_INCOMPLETE,
				   "no memory for the buffers of the trace");
	ret = hcw_output_open(&w->out, path);
	if (ret) {
		writer_free(w);
		return open_failed(path, ret, err);
	}
	*out = w;
	return 0;
}

static const char *write_hint(int ret)
{
	switch (ret) {
	case -ENOSPC:
	case -EDQUOT:
		return "Free space on that file system or record to another one.";
	case -EFBIG:
		return "Raise the limit on the size of files (ulimit -f) and record again.";
	case -EPIPE:
		return "The program that reads the trace has ended.";
	default:
		return "Check the file system and record again.";
	}
}

static int write_failed(struct hcw_writer *w, int ret, struct hcw_err *err)
{
	w->failed = ret;
	hcw_err_set(err, ret, HCW_EXIT_INCOMPLETE, "cannot write the trace to %s: %s", w->path,
		    strerror(-ret));
	hcw_err_hint(err, "%s\nWhat was written before is a readable trace.", write_hint(ret));
	return ret;
}

static __u32 span_us(const struct hcw_writer *w)
{
	__u64 us = (w->last_ts - w->first_ts) / 1000;

	return us > 0xffffffffu ? 0xffffffffu : (__u32)us;
}

static void put_head(struct hcw_writer *w)
{
	const struct hcw_frame_head head = {
		.skippable = HCW_FRAME_SKIPPABLE,
		.size = sizeof(head.index),
		.index =
			{
				.magic = HCW_FRAME_MAGIC,
				.sequence = w->sequence,
				.first_ts = w->first_ts,
				.span_us = span_us(w),
				.records = w->frame_records,
			},
	};

	memcpy(w->block, &head, sizeof(head));
}

int hcw_writer_flush(struct hcw_writer *w, struct hcw_err *err)
{
	const size_t head = sizeof(struct hcw_frame_head);
	size_t n;
	int ret;

	if (w->failed)
		return write_failed(w, w->failed, err);
	if (!w->frame_records)
		return 0;
	put_head(w);
	n = ZSTD_compress2(w->zstd, w->block + head, w->block_room - head, w->raw, w->raw_len);
	if (ZSTD_isError(n))
		return write_failed(w, -ENOMEM, err);
	ret = hcw_output_block(&w->out, w->block, head + n);
	if (ret)
		return write_failed(w, ret, err);
	w->sequence++;
	w->frame_records = 0;
	w->raw_len = 0;
	return 0;
}

static void append(struct hcw_writer *w, const struct hcw_rec *rec, const void *body)
{
	memcpy(w->raw + w->raw_len, rec, sizeof(*rec));
	if (rec->len)
		memcpy(w->raw + w->raw_len + sizeof(*rec), body, rec->len);
	w->raw_len += sizeof(*rec) + rec->len;
	if (!w->frame_records || rec->ts < w->first_ts)
		w->first_ts = rec->ts;
	if (!w->frame_records || rec->ts > w->last_ts)
		w->last_ts = rec->ts;
	w->frame_records++;
	w->records++;
}

int hcw_writer_put(struct hcw_writer *w, const struct hcw_rec *rec, const void *body,
		   struct hcw_err *err)
{
	if (w->failed)
		return write_failed(w, w->failed, err);
	if (rec->len % 8)
		return hcw_err_set(err, -EINVAL, HCW_EXIT_INCOMPLETE,
				   "record of type %u has a body of %u bytes, no multiple of 8",
				   rec->type, rec->len);
	if (w->raw_len + sizeof(*rec) + rec->len > HCW_FRAME_BYTES) {
		int ret = hcw_writer_flush(w, err);

		if (ret)
			return ret;
	}
	append(w, rec, body);
	return w->frame_records == HCW_FRAME_RECORDS ? hcw_writer_flush(w, err) : 0;
}

__u64 hcw_writer_records(const struct hcw_writer *w)
{
	return w->records;
}

int hcw_writer_close(struct hcw_writer *w, struct hcw_err *err)
{
	int ret, closed;

	if (!w)
		return 0;
	ret = hcw_writer_flush(w, err);
	closed = hcw_output_close(&w->out);
	if (!ret && closed)
		ret = write_failed(w, closed, err);
	writer_free(w);
	return ret;
}
