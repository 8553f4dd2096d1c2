/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes a tracing is about, and whether they may be touched: smaps and uprobe registration
 * take a process's mmap_lock, which the restore worker holds for read while it faults a pool in, so
 * neither may be done to a process that is evicted or was a moment ago. One that was running before
 * we came counts as evicted until it has been quiet.
 *
 * Pure: no clock, no I/O.
 */
#ifndef HCW_WATCHED_H
#define HCW_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include "../../bpf/hcwatch_abi.h"

#define WATCHED_MAX	 256
#define WATCHED_QUIET_NS 1000000000ull /* without a sign of an eviction */

struct watched {
	__u32 tgid;
	__u64 mm;
	bool evicted;
	__u64 last; /* last sign of an eviction, or when we began to watch; 0 = seen from its birth
		     */
};

struct watched_table {
	struct watched process[WATCHED_MAX];
	size_t n;
};

/* NULL when it is not in the table. tgid 0: by mm. */
struct watched *watched_find(struct watched_table *t, __u32 tgid, __u64 mm);

/* The entry, made when new; NULL when the table is full. `since`: as `last` of a new entry. */
struct watched *watched_add(struct watched_table *t, __u32 tgid, __u64 since);

/* Takes what a record says: evictions, restores, passes, a changed mm, an exit. */
void watched_record(struct watched_table *t, const struct hcw_rec *rec);

/* Whether this process, or every process, may be touched at `now`. */
bool watched_settled(const struct watched *w, __u64 now);
bool watched_all_settled(const struct watched_table *t, __u64 now);

#endif
