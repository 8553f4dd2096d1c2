/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of programs that the kernel skipped: what was lost by them. */
#include "internal.h"

/* The two marks of a pair are records of their own. */
static __u32 mark_record(__u32 point_record, bool end)
{
	if (point_record == HCW_R_ITER_END)
		return end ? HCW_R_ITER_END : HCW_R_ITER_BEGIN;
	return end ? HCW_R_POOL_FREE : HCW_R_POOL_ALLOC;
}

/* Where a pair stands, its first hook is the end: see points.h. */
void hcw_skipped_add(struct hcw_skipped *s, const struct hcw_attached *a, enum hcw_point p,
		     size_t i)
{
	const struct hcw_point_info *info = hcw_point_info(p);
	const struct hcw_candidate *c = &info->candidate[i];
	__u64 n;
	int h;

	for (h = 0; h < HCW_HOOKS && c->hook[h].program; h++) {
		bool end = !h && c->hook[1].program;

		n = hcw_hook_skipped(a, &c->hook[h]);
		if (c->tier == HCW_TIER_USDT)
			s->starts[mark_record(info->record, end)] += n;
		else if (end)
			s->ends[info->record] += n;
		else
			s->starts[info->record] += n;
	}
}

/*
 * A start that was skipped is a record lost, and so is one whose end was not seen. An end that was
 * skipped leaves such a start behind, which is found when the thread comes by again: until then it
 * is known from the skipped run alone.
 */
__u64 hcw_skipped_records(const struct hcw_skipped *s, __u32 type, __u64 unended)
{
	return s->starts[type] + (unended > s->ends[type] ? unended : s->ends[type]);
}
