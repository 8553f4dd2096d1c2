/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "../../bpf/hcwatch_abi.h"
#include "stats.h"

void stall_times_add(struct stall_times *t, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;

	if (t->kept < t->size)
		t->ns[t->kept++] = ns;
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

struct stall_pages stall_count(const int *status, unsigned int n, int target_node)
{
	struct stall_pages pages = {.attempted = n};
	unsigned int by_class[HCW_PAGE_CLASSES] = {0};
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (status[i] == target_node)
			pages.moved++;
		else
			by_class[hcw_page_classify(status[i])]++;
	}
	pages.efault = by_class[HCW_PAGE_EFAULT];
	pages.enoent = by_class[HCW_PAGE_ENOENT];
	pages.ebusy = by_class[HCW_PAGE_EBUSY];
	pages.eacces = by_class[HCW_PAGE_EACCES];
	pages.other = by_class[HCW_PAGE_OTHER] + by_class[HCW_PAGE_NODE];
	return pages;
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

/* Every page moved or every page refused, by a call that succeeded: the question has an answer. */
static bool conclusive(const struct stall_trial *t)
{
	return t->rc == 0 &&
	       (t->pages.moved == t->pages.attempted || t->pages.efault == t->pages.attempted);
}

int stall_exit_code(const struct stall_result *result)
{
	int code = result->trials < result->trials_wanted ? HCW_EXIT_INCOMPLETE : HCW_EXIT_OK;
	unsigned int i;

	for (i = 0; i < result->trials; i++) {
		if (!result->trial[i].copy_ok)
			return HCW_EXIT_FINDING;
		if (!conclusive(&result->trial[i]))
			code = HCW_EXIT_INCOMPLETE;
	}
	return code;
}
