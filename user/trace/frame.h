/* SPDX-License-Identifier: BSD-2-Clause */
/* One frame of a trace: head and records. Internal to hctrace. */
#ifndef HCW_TRACE_FRAME_H
#define HCW_TRACE_FRAME_H

#include <zstd.h>
#include "format.h"
#include "input.h"

struct hcw_frame {
	struct hcw_frame_index index;
	char *raw; /* records, uncompressed */
	size_t raw_room;
	size_t size;	/* bytes of raw that are well-formed records */
	__u64 first_ts; /* smallest time in them */
	__u32 records;	/* in size */
	bool bad_tail;	/* raw went on, but not as a record */
};

enum hcw_frame_state {
	HCW_FRAME_GOOD,	   /* f is filled, the input stands behind it */
	HCW_FRAME_END,	   /* nothing is left */
	HCW_FRAME_NO_HEAD, /* the input stands at something else, nothing was skipped */
	HCW_FRAME_DAMAGED, /* f->index is filled, the input still stands at the head */
	HCW_FRAME_CUT, /* the same, because the file ended; f->index.magic is 0 if that was in the
			  head */
};

/* Reads the frame at the front of the input. enum hcw_frame_state, or a negative errno (read error,
 * no memory). */
int hcw_frame_read(struct hcw_frame *f, ZSTD_DCtx *zstd, struct hcw_input *in);

#endif
