/* SPDX-License-Identifier: BSD-2-Clause */
/* Layout and limits of a .hcw file, shared by writer and reader. Internal to hctrace. */
#ifndef HCW_TRACE_FORMAT_H
#define HCW_TRACE_FORMAT_H

#include "trace.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "records and frame indexes are little-endian and used in place"
#endif

#define HCW_ZSTD_MAGIC	     0xFD2FB528u /* RFC 8878 3.1.1 */
#define HCW_FRAME_RECORDS    16384	 /* a frame ends at whichever comes first */
#define HCW_FRAME_BYTES	     (4u << 20)	 /* uncompressed */
#define HCW_FRAME_BYTES_MAX  (64u << 20) /* a reader takes no larger frame, compressed or not */
#define HCW_FRAME_WINDOW_LOG 26		 /* log2 of HCW_FRAME_BYTES_MAX */

/* The skippable frame before each zstd frame (RFC 8878 3.1.2). */
struct hcw_frame_head {
	__u32 skippable; /* HCW_FRAME_SKIPPABLE */
	__u32 size;	 /* of what follows */
	struct hcw_frame_index index;
};

_Static_assert(sizeof(struct hcw_frame_index) == 24, "hcw_frame_index");
_Static_assert(sizeof(struct hcw_frame_head) == 32, "hcw_frame_head");

/* The 12 bytes every frame head starts with. */
#define HCW_HEAD_MARK_SIZE 12
extern const unsigned char hcw_head_mark[HCW_HEAD_MARK_SIZE];

#endif
