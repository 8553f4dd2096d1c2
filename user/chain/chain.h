/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chain: records in, model out. Pure: no I/O, no clock, no libbpf; the same code serves live
 * and report.
 *
 * Tables grow by doubling up to fixed limits, never per record; what no longer fits is counted in
 * model->dropped. Apart from them stand one block for each named stack and one for each process
 * that was ever stopped. Not thread safe.
 */
#ifndef HCW_CHAIN_H
#define HCW_CHAIN_H

#include "model.h"

struct hcw_chain;

/* NULL when memory is short. */
struct hcw_chain *hcw_chain_new(void);
void hcw_chain_free(struct hcw_chain *c); /* c may be NULL */

/*
 * Which sources were attached: bit 1 << record type (enum hcw_record_type < HCW_R_BPF_COUNT). Call
 * it before the first record; without it nothing counts as attached and no pool is cleared.
 */
void hcw_chain_sources(struct hcw_chain *c, unsigned int mask);

/* Takes one record, best in the order of their times (order.h); `rec` is followed by rec->len bytes
 * of body. Returns 0 or -ENOMEM. Unknown types are skipped. */
int hcw_chain_add(struct hcw_chain *c, const struct hcw_rec *rec);

/* How many records, in all, came too late to be put in order before they were added. */
void hcw_chain_late(struct hcw_chain *c, __u64 n);

/* Fixes verdicts, open ends and totals of causes. Records may be added afterwards; then call it
 * again. */
void hcw_chain_finish(struct hcw_chain *c);

/*
 * Brings open episodes, and nothing else, up to model.last_ts: their started_ns, prolonged_by,
 * prolonged_ns, prolonged_others and prolonged_rest. Its cost does not grow with the length of the
 * recording: for callers that look on while it runs.
 */
void hcw_chain_update(struct hcw_chain *c);

const struct hcw_model *hcw_chain_model(const struct hcw_chain *c);

/*
 * Whether every process of the trace belongs to one group (ranks that wait for each other): true
 * when a command or a process and its children are watched, false (the default) when everybody is.
 * Call it before the first record.
 */
void hcw_chain_one_group(struct hcw_chain *c, bool yes);

/* Value below which `percent` of the iterations of a process lie (bucket precision, hist.h); 0 when
 * it has none. */
__u64 hcw_chain_percentile(const struct hcw_chain *c, __u32 tgid, double percent);

/* The same without the iterations that overlap an episode of the process, or, where they have none
 * of its own, of another member of its group; *max (may be NULL) is the
 * longest of those left. */
__u64 hcw_chain_percentile_calm(const struct hcw_chain *c, __u32 tgid, double percent, __u64 *max);

/* Names of a stack, innermost first, each NUL terminated, `*depth` of them; NULL when the id was
 * not named. Valid until the next record. */
const char *hcw_chain_stack(const struct hcw_chain *c, __s32 id, __u32 *depth);

#endif
