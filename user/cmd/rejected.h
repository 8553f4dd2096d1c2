/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that were on trial and not taken: what is still in the ring about them is dropped. A
 * number is another process's as soon as its process has ended, and a process that was not taken
 * can be later.
 *
 * Pure: no clock, no I/O.
 */
#ifndef HCW_REJECTED_H
#define HCW_REJECTED_H

#include <stdbool.h>
#include <stddef.h>
#include "../../bpf/hcwatch_abi.h"

#define REJECTED_MAX 256 /* remembered; the oldest is forgotten for one more */

struct rejected {
	__u32 tgid[REJECTED_MAX]; /* 0 = free */
	size_t next;
};

void rejected_add(struct rejected *t, __u32 tgid);
void rejected_clear(struct rejected *t, __u32 tgid);

/* Never for tgid 0. */
bool rejected_has(const struct rejected *t, __u32 tgid);

/*
 * Takes what a record says: an exit, and a thread of a process. `watched`: enum hcw_watched of that
 * process, 0 = not in the list; only asked of a HCW_R_TASK.
 */
void rejected_record(struct rejected *t, const struct hcw_rec *rec, int watched);

#endif
