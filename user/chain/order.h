/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records in the order of their times. They come nearly so: each CPU has its own pace, what is
 * aggregated is told late, and a hole is known after what stands behind it. Those of a window of
 * time are kept back and handed on smallest time first; of equal times first come, first served.
 *
 * Memory is fixed: when it is used up, the first go before their time is over. One that comes when
 * a later one has been handed on already is handed on next, and counted. A hole stands where it
 * begins, so that nothing is concluded from the silence in it; one whose begin has been passed
 * stands where the stream is. Pure: no I/O, no clock, no allocation after the start.
 */
#ifndef HCW_ORDER_H
#define HCW_ORDER_H

#include <stddef.h>
#include "../../bpf/hcwatch_abi.h"

struct hcw_order;

#define HCW_ORDER_MIN_BYTES (512u << 10) /* a record of any length fits */

/* Takes one record, followed by rec->len bytes of body; valid during the call. A negative return is
 * that of the function that led to the call, which has stopped then. */
typedef int (*hcw_order_fn)(void *ctx, const struct hcw_rec *rec);

/*
 * `bytes` of memory in all, at least HCW_ORDER_MIN_BYTES are taken: room for a record each 128 to
 * 256 bytes. `window`: ns for which a record is kept back. NULL when memory is short.
 */
struct hcw_order *hcw_order_new(size_t bytes, __u64 window, hcw_order_fn fn, void *ctx);
void hcw_order_free(struct hcw_order *o); /* o may be NULL; what it holds is not handed on */

/* Takes one record; `body` has rec->len bytes. Hands on what is older than the window before the
 * latest time seen. 0, or what fn returned. */
int hcw_order_put(struct hcw_order *o, const struct hcw_rec *rec, const void *body);

/* Time has come to `now` (CLOCK_BOOTTIME), whether or not there were records. */
int hcw_order_advance(struct hcw_order *o, __u64 now);

/* Hands on all it holds. */
int hcw_order_flush(struct hcw_order *o);

/* Records that came after a later one had been handed on. */
__u64 hcw_order_late(const struct hcw_order *o);

#endif
