/* SPDX-License-Identifier: BSD-2-Clause */
/* A log-linear histogram (sys/hist.h) with its running median at hand. */
#ifndef HCW_STATS_H
#define HCW_STATS_H

#include "../sys/hist.h"

struct hcw_hist {
	__u64 n;
	__u64 bucket[HCS_HIST_BUCKETS];
	__u32 middle; /* bucket of the median */
	__u64 below;  /* values in buckets before it */
};

void hcw_hist_add(struct hcw_hist *h, __u64 value);

/* Middle of the median's bucket, 0 when empty. Constant time. */
__u64 hcw_hist_median(const struct hcw_hist *h);

/* Middle of the bucket that holds the given percentile (0..100), 0 when empty. */
__u64 hcw_hist_percentile(const struct hcw_hist *h, double percent);

#endif
