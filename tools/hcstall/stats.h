/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting and summing up: no I/O. */
#ifndef HCSTALL_STATS_H
#define HCSTALL_STATS_H

#include <stddef.h>
#include "result.h"

/* Status of a page before move_pages(): no kernel answers this. */
#define STALL_NO_ANSWER (-0x7fffffff - 1)

/* Iterations of one phase. */
struct stall_times {
	uint64_t *ns; /* the first `kept` durations, for the median */
	size_t size, kept;
	uint64_t max_ns, max_begin_ns;
};

/* Adds one iteration; those beyond `size` count for the maximum only. */
void stall_times_add(struct stall_times *t, uint64_t begin_ns, uint64_t end_ns);

/* Median of the kept ones (the lower of the two middle ones), 0 without any. Sorts them. */
uint64_t stall_times_median(struct stall_times *t);

/* Counts one page a status. */
struct stall_pages stall_count(const int *status, unsigned int n, int target_node);

/* after - before by GPU; not readable when either is not. A GPU new in `after` counts from 0. */
void stall_evicted_delta(const struct stall_evicted *before, const struct stall_evicted *after,
			 struct stall_evicted *delta);

/* enum hcw_exit of a run: wrong copies before incomplete measurements. */
int stall_exit_code(const struct stall_result *result);

#endif
