/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting and summing up: no I/O. */
#ifndef HCSTALL_STATS_H
#define HCSTALL_STATS_H

#include <stddef.h>
#include "../../user/sys/hist.h"
#include "result.h"

/* Status of a page before move_pages(): no kernel answers this. */
#define STALL_NO_ANSWER (-0x7fffffff - 1)

/* Iterations of one phase. */
struct stall_times {
	uint64_t *ns; /* the first `kept` durations, for the exact median; room for `size` */
	size_t size, kept;
	uint64_t bucket[HCS_HIST_BUCKETS]; /* all of them */
	uint64_t count, max_ns, max_begin_ns;
};

/* Forgets the iterations, keeps the room. */
void stall_times_reset(struct stall_times *t);

void stall_times_add(struct stall_times *t, uint64_t begin_ns, uint64_t end_ns);

/* Median of the kept ones (the lower of the two middle ones), 0 without any. Sorts them. */
uint64_t stall_times_median(struct stall_times *t);

/* Middle of the bucket that holds a percentile (0..100), 0 without iterations. */
uint64_t stall_times_percentile(const struct stall_times *t, double percent);

/* Fills all of phase but evicted and copy_ok. */
void stall_times_sum(struct stall_times *t, struct stall_phase *phase);

/*
 * Counts pages. `before` and `now` are queries before and after the call, `answer` what the call
 * said. Answers are the kernel's word except where a query finds the page on the target although
 * the call said something else: of a huge page that is moved whole, the address asked for second
 * is -EBUSY or, of hugetlb, -EACCES (mm/migrate.c add_page_for_migration() on a page that is
 * already taken; measured on 6.1).
 */
struct stall_pages stall_count(const int *before, const int *answer, const int *now, unsigned int n,
			       int target_node);

/* What a trial of a trigger on a pool of this backing came to. */
enum stall_outcome stall_outcome(const struct stall_trial *t, const struct stall_trigger *trigger,
				 enum hcpool_backing backing);

/* after - before by GPU; not readable when either is not. A GPU new in `after` counts from 0. */
void stall_evicted_delta(const struct stall_evicted *before, const struct stall_evicted *after,
			 struct stall_evicted *delta);

/* enum hcw_exit of a run: wrong copies before incomplete measurements. */
int stall_exit_code(const struct stall_result *result);

#endif
