/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of `hcwatch live`: one event, one line or few (text) or one JSON object (NDJSON). */
#ifndef HCW_OUT_LIVE_H
#define HCW_OUT_LIVE_H

#include "report.h"

enum live_kind {
	LIVE_WATCHING, /* everything is attached, or the watched process has a successor */
	LIVE_EVICTED,  /* an episode began: index */
	LIVE_SO_FAR,   /* it is still open, once a second: index */
	LIVE_RESTORED, /* it ended, or its victim died: index */
	LIVE_STALL,  /* iterations stalled without an episode of their process: count, index of the
			longest */
	LIVE_LOST,   /* records were lost since the last line: count */
	LIVE_TOTALS, /* the end */
};

struct live_event {
	enum live_kind kind;
	__u64 now;    /* CLOCK_BOOTTIME */
	size_t index; /* into the model's episodes or stalls */
	__u64 count;
};

/* Renders one event and flushes, so that a pipe sees it at once. 0, or -EIO when it cannot be
 * written. */
int live_text(FILE *f, const struct hcw_trace_info *info, const struct hcw_chain *chain,
	      const struct live_event *e);
int live_json(FILE *f, const struct hcw_trace_info *info, const struct hcw_chain *chain,
	      const struct live_event *e);

#endif
