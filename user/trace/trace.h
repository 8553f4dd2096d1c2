/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .hcw trace files, hcw(5): zstd frames of records, before each a 32-byte skippable frame as index.
 *
 * Writer and reader are not thread safe; one thread each. Functions return 0 or a negative errno
 * and fill err.
 */
#ifndef HCW_TRACE_H
#define HCW_TRACE_H

#include "../base/err.h"

struct hcw_writer;
struct hcw_reader;

/* Payload of the 32-byte skippable frame (8 bytes of zstd magic and size, then this). */
struct hcw_frame_index {
	__u32 magic;	/* HCW_FRAME_MAGIC, little-endian "hcwf" */
	__u32 sequence; /* 0, 1, 2 …; a gap is a lost frame */
	__u64 first_ts; /* the smallest ts in the frame */
	__u32 span_us;	/* largest ts - first_ts, microseconds, rounded down, saturated */
	__u32 records;
};
#define HCW_FRAME_MAGIC	    0x66776368u
#define HCW_FRAME_SKIPPABLE 0x184D2A50u

/*
 * Creates the file, O_EXCL and 0600: an existing file is an error, never overwritten. "-" is
 * stdout, which may not be a terminal. The writer holds about 10 MB.
 */
int hcw_writer_open(struct hcw_writer **out, const char *path, struct hcw_err *err);

/*
 * Appends one record with its body. rec->len must be a multiple of 8. Buffers; a frame ends at
 * 16,384 records or before it would pass 4 MiB. After a failed write every later call fails in the
 * same way; the file holds the frames written before it and stays readable. SIGPIPE and SIGXFSZ do
 * not reach the caller: they come back as -EPIPE and -EFBIG.
 */
int hcw_writer_put(struct hcw_writer *w, const struct hcw_rec *rec, const void *body,
		   struct hcw_err *err);

/*
 * Ends the current frame and hands it to the kernel. Call it once a second: a killed recorder loses
 * what is since.
 */
int hcw_writer_flush(struct hcw_writer *w, struct hcw_err *err);

/* Records put so far. */
__u64 hcw_writer_records(const struct hcw_writer *w);

/* Flushes and closes. Frees w also on failure; w may be NULL. */
int hcw_writer_close(struct hcw_writer *w, struct hcw_err *err);

/*
 * Opens a file or pipe; it is read once, front to back, with at most 128 MiB of memory whatever is
 * in it. -EBADMSG (exit code HCW_EXIT_TRACE) when it is no trace.
 */
int hcw_reader_open(struct hcw_reader **out, const char *path, struct hcw_err *err);

/*
 * The next record, in file order. Returns 1 with *rec set (valid until the next call; the body
 * follows it in memory), 0 at the end, a negative errno when nothing more can be read. A damaged
 * frame is skipped and shows up as a HCW_R_HOLE record (cause HCW_HOLE_DAMAGED_FRAME) between its
 * neighbours: from = the largest ts before it, to = the first ts after it, count = what the index
 * said or 0. The same stands for frames missing by their sequence and for a frame cut at the end.
 *
 * What is promised of *rec: len is a multiple of 8 and the body lies in memory. Type and content
 * are unchecked, a body can be shorter than its struct.
 */
int hcw_reader_next(struct hcw_reader *r, const struct hcw_rec **rec, struct hcw_err *err);

/*
 * 1 when the last frame was cut in the middle (killed recorder, full disk). Known after
 * hcw_reader_next() gave 0.
 */
int hcw_reader_cut(const struct hcw_reader *r);

void hcw_reader_close(struct hcw_reader *r); /* r may be NULL */

#endif
