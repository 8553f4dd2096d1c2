/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "stats.h"

void stall_times_reset(struct stall_times *t)
{
	t->kept = 0;
	t->count = t->max_ns = t->max_begin_ns = 0;
	memset(t->bucket, 0, sizeof(t->bucket));
}

void stall_times_add(struct stall_times *t, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;

	if (t->kept < t->size)
		t->ns[t->kept++] = ns;
	t->bucket[hcs_hist_bucket(ns)]++;
	t->count++;
	if (ns > t->max_ns) {
		t->max_ns = ns;
		t->max_begin_ns = begin_ns;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t stall_times_median(struct stall_times *t)
{
	if (!t->kept)
		return 0;
	qsort(t->ns, t->kept, sizeof(*t->ns), compare);
	return t->ns[(t->kept - 1) / 2];
}

/* The last bucket has no end. */
static uint64_t bucket_middle(uint32_t b)
{
	uint64_t low = hcs_hist_low(b);

	return b + 1 < HCS_HIST_BUCKETS ? low + (hcs_hist_low(b + 1) - low) / 2 : low;
}

uint64_t stall_times_percentile(const struct stall_times *t, double percent)
{
	uint64_t want = (uint64_t)((double)t->count * percent / 100.0), seen = 0;
	uint32_t b;

	if (want >= t->count && t->count)
		want = t->count - 1;
	for (b = 0; b < HCS_HIST_BUCKETS; b++) {
		seen += t->bucket[b];
		/* The middle of the last one may lie beyond what it holds. */
		if (seen > want)
			return bucket_middle(b) < t->max_ns ? bucket_middle(b) : t->max_ns;
	}
	return 0;
}

void stall_times_sum(struct stall_times *t, struct stall_phase *phase)
{
	phase->dist = (struct stall_dist){
		.count = t->count,
		.p50 = stall_times_percentile(t, 50),
		.p90 = stall_times_percentile(t, 90),
		.p99 = stall_times_percentile(t, 99),
		.p99_9 = stall_times_percentile(t, 99.9),
		.max = t->max_ns,
	};
	phase->median_ns = stall_times_median(t);
	phase->max_begin_ns = t->max_begin_ns;
}

struct stall_pages stall_count(const int *before, const int *answer, const int *now, unsigned int n,
			       int target_node)
{
	unsigned int by_class[HCW_PAGE_CLASSES] = {0}, i;
	struct stall_pages pages = {.attempted = n};

	for (i = 0; i < n; i++) {
		if (before[i] == target_node) {
			pages.already++;
		} else if (answer[i] == target_node) {
			pages.moved++;
		} else if (now[i] == target_node) {
			pages.moved++;
			pages.requeried++;
		} else if (answer[i] == STALL_NO_ANSWER) {
			pages.unanswered++;
		} else {
			by_class[hcw_page_classify(answer[i])]++;
		}
	}
	pages.efault = by_class[HCW_PAGE_EFAULT];
	pages.enoent = by_class[HCW_PAGE_ENOENT];
	pages.ebusy = by_class[HCW_PAGE_EBUSY];
	pages.eacces = by_class[HCW_PAGE_EACCES];
	pages.other = by_class[HCW_PAGE_OTHER] + by_class[HCW_PAGE_NODE];
	return pages;
}

/*
 * -EFAULT and -ENOENT mean a refusal only in driver memory, where which of the two it is depends on
 * the kernel; in ordinary memory they mean that there is no page.
 */
static enum stall_outcome page_outcome(const struct stall_pages *p, enum hcpool_backing backing)
{
	if (p->moved == p->attempted)
		return STALL_MOVED;
	if (p->efault + p->enoent == p->attempted)
		return backing == HCPOOL_GTT ? STALL_REFUSED : STALL_NO_PAGE;
	return STALL_PART;
}

enum stall_outcome stall_outcome(const struct stall_trial *t, const struct stall_trigger *trigger,
				 enum hcpool_backing backing)
{
	if (t->rc < 0)
		return trigger->refusal && t->error == trigger->refusal && backing == HCPOOL_GTT
			       ? STALL_REFUSED
			       : STALL_PART;
	if (trigger->counted == STALL_NOT)
		return STALL_DONE;
	/* A positive return of move_pages() is pages it gave up on; of migrate_pages(), pages of
	 * anywhere in the process. */
	if (trigger->counted == STALL_BY_STATUS && t->rc > 0)
		return STALL_PART;
	return page_outcome(&t->pages, backing);
}

const char *stall_outcome_name(enum stall_outcome outcome)
{
	static const char *const name[] = {"moved", "refused", "done", "no page", "part"};

	return name[outcome];
}

static uint64_t evicted_of(const struct stall_evicted *e, uint32_t gpuid)
{
	int i;

	for (i = 0; i < e->count; i++)
		if (e->gpu[i].gpuid == gpuid)
			return e->gpu[i].evicted_ms;
	return 0;
}

void stall_evicted_delta(const struct stall_evicted *before, const struct stall_evicted *after,
			 struct stall_evicted *delta)
{
	int i;

	delta->count = before->count < 0 || after->count < 0 ? -1 : after->count;
	for (i = 0; i < delta->count; i++) {
		delta->gpu[i] = after->gpu[i];
		delta->gpu[i].evicted_ms -= evicted_of(before, after->gpu[i].gpuid);
	}
}

/* Whether every rank read back what it should have. */
static bool copies_ok(const struct stall_result *result, unsigned int trial)
{
	unsigned int rank;

	for (rank = 1; rank < result->ranks; rank++)
		if (!result->rank[rank].trial[trial].copy_ok)
			return false;
	return result->trial[trial].phase.copy_ok;
}

int stall_exit_code(const struct stall_result *result)
{
	int code = result->trials < result->trials_wanted ? HCW_EXIT_INCOMPLETE : HCW_EXIT_OK;
	unsigned int i;

	for (i = 0; i < result->trials; i++) {
		if (!copies_ok(result, i))
			return HCW_EXIT_FINDING;
		if (result->trial[i].outcome > STALL_DONE)
			code = HCW_EXIT_INCOMPLETE;
	}
	return code;
}
