/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's per-page answers to a move_pages(2) call, counted from the caller's arrays. */
#ifndef HCW_STATUS_BPF_H
#define HCW_STATUS_BPF_H

#include "compat.bpf.h"
#include "maps.bpf.h"
#include <bpf/bpf_helpers.h>

/* Above it, an array takes the caller too long: about 3 ms. */
#define HCW_MAX_STATUSES 262144

/* The two arrays of a call; on the stack because bpf_loop() hands it to the callbacks. */
struct arrays {
	__u64 status;
	__u64 pages;
	__u64 nr;
};

static __always_inline struct hcw_tally *tally(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&tallies, &zero);
}

static long count_status(__u32 i, void *ctx)
{
	struct hcw_tally *t = tally();
	__u32 class;

	if (!t)
		return 1;
	class = hcw_page_classify(t->status[i & (HCW_CHUNK - 1)]);
	if (class < HCW_PAGE_CLASSES)
		t->count[class]++;
	return 0;
}

static long widen_range(__u32 i, void *ctx)
{
	struct hcw_tally *t = tally();
	__u64 page;

	if (!t)
		return 1;
	page = t->page[i & (HCW_CHUNK - 1)];
	if (page < t->lo)
		t->lo = page;
	if (page > t->hi)
		t->hi = page;
	return 0;
}

/* The inner loop is a bpf_loop() too: unrolled or bounded, it exceeds the verifier's limit on 6.18.
 */
static long count_chunk(__u32 i, struct arrays *a)
{
	__u64 from = (__u64)i * HCW_CHUNK;
	struct hcw_tally *t = tally();
	__u32 n = HCW_CHUNK;

	if (!t || from >= a->nr)
		return 1;
	if (a->nr - from < n)
		n = a->nr - from;
	if (n > HCW_CHUNK)
		n = HCW_CHUNK;
	if (!bpf_probe_read_user(t->status, n * sizeof(t->status[0]),
				 (void *)(a->status + from * sizeof(t->status[0])))) {
		bpf_loop(n, count_status, NULL, 0);
		t->read += n;
	}
	if (bpf_probe_read_user(t->page, n * sizeof(t->page[0]),
				(void *)(a->pages + from * sizeof(t->page[0]))))
		t->pages_unreadable = 1;
	else
		bpf_loop(n, widen_range, NULL, 0);
	return 0;
}

/*
 * Fills in what the arrays at the user addresses `status` (int) and `pages` (pointers), `nr`
 * entries each, tell about a call: read, the counts by answer, lo and hi. Entries from
 * HCW_MAX_STATUSES on are left out, and so is what cannot be read (an array may be NULL, or end in
 * a hole): `read` is then less than `nr`. The caller's memory is the current task's.
 */
static __always_inline void count_arrays(__u64 status, __u64 pages, __u64 nr,
					 struct hcw_move_pages *body)
{
	struct arrays a = {.status = status, .pages = pages, .nr = nr};
	struct hcw_tally *t = tally();

	if (!t || !compat_has_loop())
		return;
	__builtin_memset(t->count, 0, sizeof(t->count));
	t->read = 0;
	t->pages_unreadable = 0;
	t->lo = ~0ULL;
	t->hi = 0;
	if (a.nr > HCW_MAX_STATUSES)
		a.nr = HCW_MAX_STATUSES;
	bpf_loop((a.nr + HCW_CHUNK - 1) / HCW_CHUNK, count_chunk, &a, 0);
	body->read = t->read;
	body->moved = t->count[HCW_PAGE_NODE];
	body->efault = t->count[HCW_PAGE_EFAULT];
	body->enoent = t->count[HCW_PAGE_ENOENT];
	body->ebusy = t->count[HCW_PAGE_EBUSY];
	body->eacces = t->count[HCW_PAGE_EACCES];
	body->other = t->count[HCW_PAGE_OTHER];
	if (a.nr && !t->pages_unreadable) {
		body->lo = t->lo;
		body->hi = t->hi;
	}
}

#endif
