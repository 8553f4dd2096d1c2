/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "precheck.h"
#include "refusal.h"
#include "window.h"

#define USERPTR_ENV "HSA_USERPTR_FOR_PAGED_MEM"
#define DEADLINE_MS 5000
#define OTHER_BYTES (64ull << 20) /* libraries, HIP's own buffers */

/*
 * For registered and gtt alike, so that HIP's own buffers are the same in both; for userptr it is
 * what makes the difference.
 */
static int check_environment(enum hcpool_backing backing, struct stall_err *err)
{
	const char *value = getenv(USERPTR_ENV);
	bool gtt = value && !strcmp(value, "0");

	if (gtt == (backing != HCPOOL_USERPTR))
		return 0;
	if (gtt) {
		stall_fail(err, HCW_EXIT_USAGE,
			   USERPTR_ENV
			   " must not be 0 for userptr: hipHostMalloc would give driver "
			   "memory (gtt)");
		stall_hint(err, "run it as: env -u " USERPTR_ENV " hcstall ...");
		return -1;
	}
	stall_fail(err, HCW_EXIT_USAGE, USERPTR_ENV " must be 0 for %s, it is %s%.100s",
		   hcpool_backing_name(backing), value ? "" : "not set", value ? value : "");
	stall_hint(err, "run it as: " USERPTR_ENV "=0 hcstall ...");
	return -1;
}

static int check_nodes(int root, struct stall_result *result, struct stall_err *err)
{
	int n = hcs_numa_allowed(root, 0, result->node, HCS_NUMA_MAX, hcs_deadline_ms(DEADLINE_MS));

	if (n < 0)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot read the NUMA nodes: %s",
				  strerror(-n));
	result->nodes = n;
	if (n >= 2)
		return 0;
	stall_fail(err, HCW_EXIT_UNSUPPORTED,
		   "needs two NUMA nodes that have memory and may be used, there %s %d",
		   n == 1 ? "is" : "are", n);
	stall_hint(err,
		   "see Mems_allowed_list in /proc/self/status; a guest with two nodes will do");
	return -1;
}

/* Every trigger needs it, to say where the pages are. */
static int check_move_pages(int root, struct stall_err *err)
{
	struct stall_refused refused = {.trigger = "move_pages"};
	struct stall_window probe;
	int here = 0;

	if (stall_window_open(&probe, &here, 1))
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "no memory");
	if (stall_window_query(&probe, 0, probe.status) < 0)
		refused.error = errno;
	stall_window_close(&probe);
	return refused.error ? stall_refused(root, &refused, err) : 0;
}

static int find_available(char *line, void *ctx)
{
	unsigned long long kib;

	if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		return 0;
	*(uint64_t *)ctx = kib << 10;
	return 1;
}

/* Three matrices, the copy on both sides, and libraries: what a rank needs beside its pool. */
static uint64_t beside(const struct stall_options *opts)
{
	return 6ull * opts->gemm_n * opts->gemm_n + 2 * opts->copy_bytes + OTHER_BYTES;
}

/* Populating more than there is would bring the OOM killer, upon whomever. */
static int check_memory(int root, const struct stall_options *opts, struct stall_err *err)
{
	uint64_t available = 0, pool = opts->pool_flags & HCPOOL_HUGE_2M ? 0 : opts->pool_bytes;
	int ret = hcs_each_line(root, "proc/meminfo", find_available, &available,
				hcs_deadline_ms(DEADLINE_MS));

	if (ret != 1)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot read MemAvailable: %s",
				  ret < 0 ? strerror(-ret) : "not in /proc/meminfo");
	/* Reserved huge pages are not in MemAvailable; whether they suffice, their mmap says. */
	if ((pool + beside(opts)) <= available / opts->ranks)
		return 0;
	stall_fail(err, HCW_EXIT_UNSUPPORTED,
		   "%u x (a pool of %llu MiB and %llu MiB beside it) do not fit into the %llu MiB "
		   "available",
		   opts->ranks, (unsigned long long)(opts->pool_bytes >> 20),
		   (unsigned long long)(beside(opts) >> 20), (unsigned long long)(available >> 20));
	stall_hint(err, "choose less by --pool-gb or --pool-mib");
	return -1;
}

int stall_precheck(int root, const struct stall_options *opts, struct stall_result *result,
		   struct stall_err *err)
{
	if (check_environment(opts->backing, err) || check_nodes(root, result, err) ||
	    check_move_pages(root, err))
		return -1;
	return check_memory(root, opts, err);
}
