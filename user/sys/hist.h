/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bucket maths of the log-linear histogram, the same in BPF and user space: 16 linear sub-buckets
 * per power of two, so a bucket's width is at most 1/16 of its value (relative error of a
 * percentile <= 6.25 %). Values are unitless u64 (ns in practice). No loops, no division: safe for
 * the BPF verifier.
 */
#ifndef HCS_HIST_H
#define HCS_HIST_H

#include <linux/types.h>

#define HCS_HIST_SUB_BITS 4
#define HCS_HIST_SUB	  (1u << HCS_HIST_SUB_BITS)
#define HCS_HIST_BUCKETS  ((64 - HCS_HIST_SUB_BITS + 1) * HCS_HIST_SUB) /* 976 */

/* Index of the highest set bit; v != 0. */
static inline __u32 hcs_hist_log2(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (__u32)(v >> 1);
}

/* Bucket of a value, 0 .. HCS_HIST_BUCKETS - 1. Values below 16 have a bucket each. */
static inline __u32 hcs_hist_bucket(__u64 v)
{
	__u32 e;

	if (v < HCS_HIST_SUB)
		return (__u32)v;
	e = hcs_hist_log2(v) - HCS_HIST_SUB_BITS;
	return (e + 1) * HCS_HIST_SUB + (__u32)((v >> e) & (HCS_HIST_SUB - 1));
}

/* Smallest value of a bucket; the bucket ends below hcs_hist_low(b + 1). */
static inline __u64 hcs_hist_low(__u32 bucket)
{
	__u32 e;

	if (bucket < HCS_HIST_SUB)
		return bucket;
	e = bucket / HCS_HIST_SUB - 1;
	return (__u64)(HCS_HIST_SUB + bucket % HCS_HIST_SUB) << e;
}

#endif
