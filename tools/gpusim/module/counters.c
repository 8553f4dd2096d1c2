// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/kernel.h>
#include <linux/sysfs.h>

#include "gpusim.h"

static const char *const names[GPUSIM_COUNTERS] = {
	[GPUSIM_EVICTIONS] = "evictions",
	[GPUSIM_INVALIDATIONS] = "invalidations",
	[GPUSIM_PASSES] = "passes",
	[GPUSIM_PASSES_THROWN] = "passes_thrown",
	[GPUSIM_ABANDONED] = "abandoned",
	[GPUSIM_EVICTED_NS] = "evicted_ns",
	[GPUSIM_RESTORE_PAGES] = "restore_pages",
	[GPUSIM_QUIESCE_ERRORS] = "quiesce_errors",
	[GPUSIM_RESUME_ERRORS] = "resume_errors",
};

static atomic64_t counters[GPUSIM_COUNTERS];

void gpusim_count(enum gpusim_counter counter, u64 n)
{
	atomic64_add(n, &counters[counter]);
}

ssize_t gpusim_counters_show(char *buf)
{
	ssize_t len = 0;
	int i;

	for (i = 0; i < GPUSIM_COUNTERS; i++)
		len += sysfs_emit_at(buf, len, "%s %lld\n", names[i], atomic64_read(&counters[i]));
	return len;
}
