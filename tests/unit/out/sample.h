/* SPDX-License-Identifier: BSD-2-Clause */
/* A small analysed trace for the tests of the renderers. */
#ifndef TEST_SAMPLE_H
#define TEST_SAMPLE_H

#include <string.h>
#include "../../../user/out/report.h"

#define MS 1000000ull

void sample_put(struct hcw_chain *c, __u16 type, __u64 ts, __u32 tid, const void *body, size_t len);

#define PUT(c, type, ts, tid, ...)                                   \
	do {                                                         \
		typeof(__VA_ARGS__) body_ = __VA_ARGS__;             \
		sample_put(c, type, ts, tid, &body_, sizeof(body_)); \
	} while (0)

/* A header; with `complete` false the quiesce probe is missing. */
void sample_info(struct hcw_trace_info *info, bool complete);

/* A stall of 391.8 ms by a thread whose name tries to take over the terminal. */
struct hcw_chain *sample_stalled(void);

/* The queues of a process are stopped when the trace starts, at 100 ms; a thrown-away pass
 * of 5.8 s tells so. */
struct hcw_chain *sample_before(void);

/* `n` stalls of 1, 2, 3 ... ms of process 42, by nobody in particular. */
struct hcw_chain *sample_many(unsigned int n);

#endif
