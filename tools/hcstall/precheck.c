/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "precheck.h"
#include "window.h"

#define USERPTR_ENV "HSA_USERPTR_FOR_PAGED_MEM"
#define DEADLINE_MS 5000
/* what the run needs beside the pool: matrices, copies, libraries */
#define OTHER_BYTES (192ull << 20)

/* For both allocators, so that HIP's own buffers are the same in both arms. */
static int check_environment(struct stall_err *err)
{
	const char *value = getenv(USERPTR_ENV);

	if (value && !strcmp(value, "0"))
		return 0;
	stall_fail(err, HCW_EXIT_USAGE,
		   USERPTR_ENV " must be 0 for either allocator, it is %s%.100s",
		   value ? "" : "not set", value ? value : "");
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

int stall_move_refused(int error, int target_node, struct stall_err *err)
{
	switch (error) {
	case EPERM:
	case ENOSYS:
		stall_fail(err, error == EPERM ? HCW_EXIT_PERMISSION : HCW_EXIT_UNSUPPORTED,
			   "move_pages is blocked here (%s): this says nothing about the pool",
			   error == EPERM ? "EPERM" : "ENOSYS");
		stall_hint(err, "a container's seccomp profile often refuses it: run on the host, "
				"or allow move_pages in the profile");
		break;
	case EACCES:
		stall_fail(err, HCW_EXIT_PERMISSION, "node %d is outside this task's cpuset",
			   target_node);
		stall_hint(err, "see Mems_allowed_list in /proc/self/status");
		break;
	default:
		stall_fail(err, HCW_EXIT_UNSUPPORTED, "move_pages to node %d failed: %s",
			   target_node, strerror(error));
	}
	return -1;
}

static int check_move_pages(struct stall_err *err)
{
	struct stall_window probe;
	int here = 0;

	stall_window_set(&probe, &here, 1);
	if (stall_window_query(&probe) < 0)
		return stall_move_refused(errno, 0, err);
	return 0;
}

static int find_available(char *line, void *ctx)
{
	unsigned long long kib;

	if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		return 0;
	*(uint64_t *)ctx = kib << 10;
	return 1;
}

/* Populating more than there is would bring the OOM killer, upon whomever. */
static int check_memory(int root, uint64_t pool_bytes, struct stall_err *err)
{
	uint64_t available = 0;
	int ret = hcs_each_line(root, "proc/meminfo", find_available, &available,
				hcs_deadline_ms(DEADLINE_MS));

	if (ret != 1)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot read MemAvailable: %s",
				  ret < 0 ? strerror(-ret) : "not in /proc/meminfo");
	if (pool_bytes + OTHER_BYTES <= available)
		return 0;
	stall_fail(
		err, HCW_EXIT_UNSUPPORTED,
		"a pool of %llu MiB and %llu MiB beside it do not fit into the %llu MiB available",
		(unsigned long long)(pool_bytes >> 20), OTHER_BYTES >> 20,
		(unsigned long long)(available >> 20));
	stall_hint(err, "choose less by --pool-gb or --pool-mib");
	return -1;
}

int stall_precheck(int root, const struct stall_options *opts, struct stall_result *result,
		   struct stall_err *err)
{
	if (check_environment(err) || check_nodes(root, result, err) || check_move_pages(err))
		return -1;
	return check_memory(root, opts->pool_bytes, err);
}
