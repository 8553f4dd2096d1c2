/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "frame.h"

const unsigned char hcw_head_mark[HCW_HEAD_MARK_SIZE] = {
	0x50, 0x2a, 0x4d, 0x18, /* HCW_FRAME_SKIPPABLE */
	24,   0,    0,	  0,	/* sizeof(struct hcw_frame_index) */
	'h',  'c',  'w',  'f',	/* HCW_FRAME_MAGIC */
};

static int grow_raw(struct hcw_frame *f)
{
	size_t room = f->raw_room ? 2 * f->raw_room : 256u << 10;
	char *raw = realloc(f->raw, room);

	if (!raw)
		return -ENOMEM;
	f->raw = raw;
	f->raw_room = room;
	return 0;
}

/* Turns "more output room or more input" into an errno, a state, or HCW_FRAME_GOOD = go on. */
static int feed(struct hcw_frame *f, const ZSTD_outBuffer *out, const ZSTD_inBuffer *zin,
		struct hcw_input *in)
{
	int ret;

	if (out->pos == out->size) {
		if (f->raw_room >= HCW_FRAME_BYTES_MAX)
			return HCW_FRAME_DAMAGED;
		return grow_raw(f);
	}
	if (zin->pos < zin->size)
		return HCW_FRAME_GOOD;
	if (zin->size >= HCW_FRAME_BYTES_MAX)
		return HCW_FRAME_DAMAGED;
	ret = hcw_input_more(in);
	if (ret < 0)
		return ret;
	return ret ? HCW_FRAME_GOOD : HCW_FRAME_CUT;
}

/* Decompresses what follows the head; *used = where it ends in the window. */
static int decompress(struct hcw_frame *f, ZSTD_DCtx *zstd, struct hcw_input *in, size_t *raw_len,
		      size_t *used)
{
	ZSTD_outBuffer out = {.size = f->raw_room};
	ZSTD_inBuffer zin = {
		.size = hcw_input_size(in),
		.pos = sizeof(struct hcw_frame_head),
	};
	size_t left = 1;

	ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
	while (left) {
		int ret = feed(f, &out, &zin, in);

		if (ret != HCW_FRAME_GOOD)
			return ret;
		/* Both buffers may have moved. */
		out.dst = f->raw;
		out.size = f->raw_room;
		zin.src = hcw_input_data(in);
		zin.size = hcw_input_size(in);
		left = ZSTD_decompressStream(zstd, &out, &zin);
		if (ZSTD_isError(left))
			return HCW_FRAME_DAMAGED;
	}
	*raw_len = out.pos;
	*used = zin.pos;
	return HCW_FRAME_GOOD;
}

/* Counts the records up to the first that is not one. */
static void check_records(struct hcw_frame *f, size_t raw_len)
{
	struct hcw_rec rec;

	f->size = 0;
	f->records = 0;
	f->first_ts = 0;
	while (raw_len - f->size >= sizeof(rec)) {
		memcpy(&rec, f->raw + f->size, sizeof(rec));
		if (rec.len % 8 || rec.len > raw_len - f->size - sizeof(rec))
			break;
		if (!f->records || rec.ts < f->first_ts)
			f->first_ts = rec.ts;
		f->size += sizeof(rec) + rec.len;
		f->records++;
	}
	f->bad_tail = f->size != raw_len;
}

/* HCW_FRAME_GOOD when a head with a zstd frame behind it is in the window. */
static int read_head(struct hcw_frame *f, struct hcw_input *in)
{
	struct hcw_frame_head head;
	__u32 magic;
	int ret = hcw_input_need(in, sizeof(head) + sizeof(magic));
	size_t have = hcw_input_size(in);

	f->index.magic = 0;
	if (ret < 0)
		return ret;
	if (!have)
		return HCW_FRAME_END;
	if (memcmp(hcw_input_data(in), hcw_head_mark,
		   have < HCW_HEAD_MARK_SIZE ? have : HCW_HEAD_MARK_SIZE))
		return HCW_FRAME_NO_HEAD;
	if (have < sizeof(head))
		return HCW_FRAME_CUT;
	memcpy(&head, hcw_input_data(in), sizeof(head));
	f->index = head.index;
	if (!ret)
		return HCW_FRAME_CUT;
	memcpy(&magic, hcw_input_data(in) + sizeof(head), sizeof(magic));
	return magic == HCW_ZSTD_MAGIC ? HCW_FRAME_GOOD : HCW_FRAME_DAMAGED;
}

int hcw_frame_read(struct hcw_frame *f, ZSTD_DCtx *zstd, struct hcw_input *in)
{
	size_t raw_len, used;
	int ret = read_head(f, in);

	f->size = 0;
	if (ret == HCW_FRAME_GOOD)
		ret = decompress(f, zstd, in, &raw_len, &used);
	if (ret != HCW_FRAME_GOOD)
		return ret;
	hcw_input_skip(in, used);
	check_records(f, raw_len);
	return HCW_FRAME_GOOD;
}
