/* SPDX-License-Identifier: BSD-2-Clause */
/* The stable words of the model. */
#include "model.h"

#define NAME(table, i) ((size_t)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "unknown")

const char *hcw_cause_name(enum hcw_cause c)
{
	static const char *const names[] = {
		[HCW_CAUSE_UNKNOWN] = "unknown",
		[HCW_CAUSE_MOVE_PAGES] = "move_pages",
		[HCW_CAUSE_MIGRATE_SYSCALL] = "migrate_pages or cpuset",
		[HCW_CAUSE_COMPACTION] = "compaction",
		[HCW_CAUSE_MEMORY_FAILURE] = "memory failure",
		[HCW_CAUSE_MEMORY_HOTPLUG] = "memory hotplug",
		[HCW_CAUSE_MBIND] = "mbind",
		[HCW_CAUSE_NUMA_BALANCING] = "NUMA balancing",
		[HCW_CAUSE_CONTIG_RANGE] = "contiguous range",
		[HCW_CAUSE_LONGTERM_PIN] = "long-term pin",
		[HCW_CAUSE_DEMOTION] = "demotion",
		[HCW_CAUSE_DAMON] = "DAMON",
		[HCW_CAUSE_NUMA_SCANNING] = "NUMA scanning",
		[HCW_CAUSE_OTHER_INVALIDATION] = "other invalidation",
		[HCW_CAUSE_TTM] = "GPU memory pressure (TTM)",
		[HCW_CAUSE_SUSPEND] = "suspend",
		[HCW_CAUSE_CRIU] = "CRIU",
	};

	return NAME(names, c);
}

const char *hcw_reason_name(unsigned int bit)
{
	static const char *const names[] = {
		"moved",
		"episode",
		"ordinary-pages",
		"driver-pages",
		"refused",
		"no-attempt",
		"mapping-unread",
		"probe-missing",
		"loss",
		"status-truncated",
		"other-status",
		"range-unknown",
		"attempt-outside",
		"trace-cut",
	};
	size_t i;

	for (i = 0; i < HCW_WHY_COUNT; i++)
		if (bit == 1u << i)
			return names[i];
	return "unknown";
}

const char *hcw_verdict_name(enum hcw_verdict_word v)
{
	static const char *const names[] = {"inconclusive", "exposed", "immune"};

	return NAME(names, v);
}

const char *hcw_evidence_name(enum hcw_evidence e)
{
	static const char *const names[] = {"none", "mapping", "trial"};

	return NAME(names, e);
}

const char *hcw_backing_name(__u32 backing)
{
	static const char *const names[] = {"unknown", "gtt", "registered", "userptr", "pageable"};

	return NAME(names, backing);
}

const char *hcw_limit_name(enum hcw_limit l)
{
	static const char *const names[HCW_LIMIT_COUNT] = {
		"watched", "threads", "stacks", "statuses", "tasks", "kfd", "inner_pids",
	};

	return NAME(names, l);
}

bool hcw_limits_hide(const struct hcw_limits *l)
{
	return l->count[HCW_LIMIT_WATCHED];
}
