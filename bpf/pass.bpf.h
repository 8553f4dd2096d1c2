/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When restore passes start and end, so that no aggregate of invalidations spans such an edge.
 *
 * At its start nobody can tell yet whose pass it is, so an edge of any process counts for all: that
 * costs two records more a pass. The time of an edge is taken between two counts; an invalidation
 * whose time was taken while an edge was between them may be on either side, and has no epoch.
 */
#ifndef HCW_PASS_BPF_H
#define HCW_PASS_BPF_H

#include "maps.bpf.h"

static __always_inline struct hcw_pass_edges *edges(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&pass_edges, &zero);
}

/* A pass starts or ends; returns when. */
static __always_inline __u64 pass_edge(void)
{
	struct hcw_pass_edges *e = edges();
	__u64 now;

	if (e)
		__sync_fetch_and_add(&e->begun, 1);
	now = bpf_ktime_get_boot_ns();
	if (e)
		__sync_fetch_and_add(&e->done, 1);
	return now;
}

/* The time, and between which edges it is: times of one epoch have no edge between them. 0 = not
 * known. */
static __always_inline __u64 pass_epoch(__u64 *now)
{
	struct hcw_pass_edges *e = edges();
	__u64 done, begun;

	if (!e) {
		*now = bpf_ktime_get_boot_ns();
		return 0;
	}
	done = *(volatile __u64 *)&e->done;
	begun = *(volatile __u64 *)&e->begun;
	*now = bpf_ktime_get_boot_ns();
	return done == begun && begun == *(volatile __u64 *)&e->begun ? begun + 1 : 0;
}

#endif
