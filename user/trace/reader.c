/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "frame.h"

/* What is missing between the records already returned and the next good frame. */
struct loss {
	bool any;
	bool uncounted; /* some of it has no trustworthy count */
	__u64 count;
	__u64 first_ts, last_ts; /* from the index of the first and last frame lost; 0 = none was
				    readable */
};

struct hole_record {
	struct hcw_rec rec;
	struct hcw_hole hole;
};

struct hcw_reader {
	struct hcw_input in;
	ZSTD_DCtx *zstd;
	struct hcw_frame frame;
	size_t pos;	/* in frame.raw */
	__u32 sequence; /* the next frame should have */
	struct loss loss;
	struct hole_record hole;
	bool hole_due; /* hole comes before the frame */
	bool seen;     /* last_ts is set */
	__u64 last_ts; /* largest time returned */
	bool at_end, cut;
	char *path;
};

static int not_a_trace(const char *path, const char *why, struct hcw_err *err)
{
	hcw_err_set(err, -EBADMSG, HCW_EXIT_TRACE, "%s is not a hcwatch trace: %s", path, why);
	hcw_err_hint(err, "Give a file that hcwatch record has written.");
	return -EBADMSG;
}

static int read_failed(const struct hcw_reader *r, int ret, struct hcw_err *err)
{
	hcw_err_set(err, ret, HCW_EXIT_TRACE, "cannot read the trace %s: %s", r->path,
		    strerror(-ret));
	hcw_err_hint(err, "Check the file and its file system, or copy it and try again.");
	return ret;
}

/* A trace whose very first head is damaged is still one: the mark is looked for in as much as one
 * frame may take. */
static int check_start(struct hcw_reader *r, struct hcw_err *err)
{
	int ret = hcw_input_need(&r->in, HCW_HEAD_MARK_SIZE);

	if (ret < 0)
		return read_failed(r, ret, err);
	if (!hcw_input_size(&r->in))
		return not_a_trace(r->path, "it is empty", err);
	if (!ret)
		return not_a_trace(r->path, "it is too short", err);
	if (!memcmp(hcw_input_data(&r->in), hcw_head_mark, HCW_HEAD_MARK_SIZE))
		return 0;
	ret = hcw_input_seek(&r->in, 1, hcw_head_mark, HCW_HEAD_MARK_SIZE, 2 * HCW_FRAME_BYTES);
	if (ret < 0)
		return read_failed(r, ret, err);
	if (!ret)
		return not_a_trace(r->path, "it does not begin with the mark of one", err);
	r->loss.any = r->loss.uncounted = true;
	return 0;
}

static int open_failed(const char *path, int ret, struct hcw_err *err)
{
	hcw_err_set(err, ret, ret == -EACCES ? HCW_EXIT_PERMISSION : HCW_EXIT_TRACE,
		    "cannot open the trace %s: %s", path, strerror(-ret));
	hcw_err_hint(err, ret == -EACCES ? "Traces belong to who recorded them: read it as that "
					   "user, or change its owner."
					 : "Check the name.");
	return ret;
}

int hcw_reader_open(struct hcw_reader **out, const char *path, struct hcw_err *err)
{
	struct hcw_reader *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_TRACE, "no memory to read the trace");
	ret = hcw_input_open(&r->in, path);
	if (ret) {
		free(r);
		return open_failed(path, ret, err);
	}
	r->path = strdup(path);
	r->zstd = ZSTD_createDCtx();
	if (!r->path || !r->zstd) {
		hcw_reader_close(r);
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_TRACE, "no memory to read the trace");
	}
	ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, HCW_FRAME_WINDOW_LOG);
	ret = check_start(r, err);
	if (ret) {
		hcw_reader_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

/* Notes that the frame with this index is lost; NULL = something without a readable index. */
static void lose(struct hcw_reader *r, const struct hcw_frame_index *index)
{
	struct loss *l = &r->loss;

	if (!index || index->sequence != r->sequence) {
		l->uncounted = true;
	} else {
		l->count += index->records;
		r->sequence = index->sequence + 1;
	}
	if (index && !l->first_ts)
		l->first_ts = index->first_ts;
	if (index)
		l->last_ts = index->first_ts + 1000ull * index->span_us;
	l->any = true;
}

/* Makes the loss so far a hole that ends at `to`. */
static void make_hole(struct hcw_reader *r, __u64 to)
{
	__u64 from = r->seen ? r->last_ts : r->loss.first_ts ? r->loss.first_ts : to;

	if (to < from)
		to = from;
	r->hole.rec = (struct hcw_rec){
		.ts = to,
		.type = HCW_R_HOLE,
		.len = sizeof(r->hole.hole),
	};
	r->hole.hole = (struct hcw_hole){
		.from = from,
		.to = to,
		.count = r->loss.uncounted ? 0 : r->loss.count,
		.cause = HCW_HOLE_DAMAGED_FRAME,
	};
	r->hole_due = true;
	r->loss = (struct loss){0};
}

static void accept_frame(struct hcw_reader *r)
{
	const struct hcw_frame *f = &r->frame;

	/* A number below the expected one is no gap: a damaged index, or two traces in one file. */
	if (f->index.sequence > r->sequence)
		r->loss.any = r->loss.uncounted = true;
	r->sequence = f->index.sequence + 1;
	if (r->loss.any)
		make_hole(r, f->records ? f->first_ts : f->index.first_ts);
	r->pos = 0;
	if (!f->bad_tail)
		return;
	r->loss.any = true;
	if (f->index.records > f->records)
		r->loss.count = f->index.records - f->records;
	else
		r->loss.uncounted = true;
}

/* Moves on to the next head. A file that ended inside a frame was cut only if no head follows. */
static int resync(struct hcw_reader *r, int state)
{
	size_t from = state == HCW_FRAME_DAMAGED ? sizeof(struct hcw_frame_head) : 1;
	bool in_head = state == HCW_FRAME_CUT && !r->frame.index.magic;
	int ret;

	if (!in_head)
		lose(r, state == HCW_FRAME_NO_HEAD ? NULL : &r->frame.index);
	ret = hcw_input_seek(&r->in, from, hcw_head_mark, HCW_HEAD_MARK_SIZE, SIZE_MAX);
	if (!ret && state == HCW_FRAME_CUT)
		r->cut = true;
	return ret < 0 ? ret : 0;
}

/* Loads the next good frame, or sets at_end. A hole may be due afterwards in both cases. */
static int load_frame(struct hcw_reader *r)
{
	for (;;) {
		int ret = hcw_frame_read(&r->frame, r->zstd, &r->in);

		if (ret < 0)
			return ret;
		if (ret == HCW_FRAME_GOOD) {
			accept_frame(r);
			return 0;
		}
		if (ret == HCW_FRAME_END) {
			r->at_end = true;
			if (r->loss.any)
				make_hole(r, r->loss.last_ts);
			return 0;
		}
		ret = resync(r, ret);
		if (ret)
			return ret;
	}
}

static const struct hcw_rec *take_record(struct hcw_reader *r)
{
	const struct hcw_rec *rec = (const void *)(r->frame.raw + r->pos);

	r->pos += sizeof(*rec) + rec->len;
	if (!r->seen || rec->ts > r->last_ts)
		r->last_ts = rec->ts;
	r->seen = true;
	return rec;
}

int hcw_reader_next(struct hcw_reader *r, const struct hcw_rec **rec, struct hcw_err *err)
{
	for (;;) {
		int ret;

		if (r->hole_due) {
			r->hole_due = false;
			*rec = &r->hole.rec;
			return 1;
		}
		if (r->pos < r->frame.size) {
			*rec = take_record(r);
			return 1;
		}
		if (r->at_end)
			return 0;
		ret = load_frame(r);
		if (ret) {
			r->at_end = true;
			return read_failed(r, ret, err);
		}
	}
}

int hcw_reader_cut(const struct hcw_reader *r)
{
	return r->cut;
}

void hcw_reader_close(struct hcw_reader *r)
{
	if (!r)
		return;
	hcw_input_close(&r->in);
	ZSTD_freeDCtx(r->zstd);
	free(r->frame.raw);
	free(r->path);
	free(r);
}
