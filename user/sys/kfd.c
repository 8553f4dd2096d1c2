/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "io.h"
#include "kfd.h"

#define KFD	  "sys/class/kfd/kfd"
#define MAX_NODES 1024 /* topology nodes: CPUs and GPUs */

struct evicted_walk {
	int root;
	pid_t pid;
	uint64_t deadline;
	struct hcs_evicted gpu[HCS_KFD_MAX_GPUS];
	size_t n;
};

static int add_evicted(const char *name, void *ctx)
{
	struct evicted_walk *w = ctx;
	char path[HCS_PATH];
	uint64_t gpuid, ms;
	int ret;

	if (!hcs_name_number(name, "stats_", UINT32_MAX, &gpuid))
		return 0;
	if (w->n == HCS_KFD_MAX_GPUS)
		return -E2BIG;
	ret = hcs_path(path, sizeof(path), KFD "/proc/%d/%s/evicted_ms", (int)w->pid, name);
	if (!ret)
		ret = hcs_read_u64(w->root, path, &ms, w->deadline);
	if (ret)
		return ret;
	w->gpu[w->n].gpuid = (uint32_t)gpuid;
	w->gpu[w->n++].evicted_ms = ms;
	return 0;
}

static int compare_gpuid(const void *a, const void *b)
{
	uint32_t x = ((const struct hcs_evicted *)a)->gpuid;
	uint32_t y = ((const struct hcs_evicted *)b)->gpuid;

	return (x > y) - (x < y);
}

int hcs_kfd_evicted(int root, pid_t pid, struct hcs_evicted *out, size_t max, uint64_t deadline)
{
	struct evicted_walk w = {.root = root, .pid = pid, .deadline = deadline};
	char path[HCS_PATH];
	int ret;

	if (pid <= 0)
		return -EINVAL;
	ret = hcs_path(path, sizeof(path), KFD "/proc/%d", (int)pid);
	if (!ret)
		ret = hcs_each_name(root, path, add_evicted, &w, deadline);
	if (ret)
		return ret;
	if (w.n > max)
		return -E2BIG;
	qsort(w.gpu, w.n, sizeof(w.gpu[0]), compare_gpuid);
	memcpy(out, w.gpu, w.n * sizeof(w.gpu[0]));
	return (int)w.n;
}

int hcs_kfd_each(int root, int (*fn)(pid_t pid, void *ctx), void *ctx, uint64_t deadline)
{
	return hcs_each_process(root, KFD "/proc", fn, ctx, deadline);
}

struct node_walk {
	int node[MAX_NODES];
	size_t n;
};

static int add_node(const char *name, void *ctx)
{
	struct node_walk *w = ctx;
	uint64_t number;

	if (!hcs_name_number(name, "", INT32_MAX, &number))
		return 0;
	if (w->n == MAX_NODES)
		return -E2BIG;
	w->node[w->n++] = (int)number;
	return 0;
}

/*
 * gpu_id of one node; 0 for a CPU and for a GPU which the device cgroup of this process hides: its
 * gpu_id reads -EPERM (kfd_topology.c node_show(), 6.1).
 */
static int read_gpu_id(int root, int node, uint32_t *gpuid, uint64_t deadline)
{
	char path[HCS_PATH];
	uint64_t id = 0;
	int ret = hcs_path(path, sizeof(path), KFD "/topology/nodes/%d/gpu_id", node);

	if (!ret)
		ret = hcs_read_u64(root, path, &id, deadline);
	if (ret == -EPERM)
		id = 0;
	else if (ret)
		return ret;
	if (id > UINT32_MAX)
		return -EBADMSG;
	*gpuid = (uint32_t)id;
	return 0;
}

int hcs_kfd_gpus(int root, uint32_t *gpuid, size_t max, uint64_t deadline)
{
	struct node_walk w = {.n = 0};
	uint32_t gpu[MAX_NODES];
	size_t gpus = 0;
	int ret = hcs_each_name(root, KFD "/topology/nodes", add_node, &w, deadline);

	if (ret)
		return ret;
	qsort(w.node, w.n, sizeof(w.node[0]), hcs_compare_int);
	for (size_t i = 0; i < w.n; i++) {
		ret = read_gpu_id(root, w.node[i], &gpu[gpus], deadline);
		if (ret)
			return ret;
		if (gpu[gpus])
			gpus++;
	}
	if (gpus > max)
		return -E2BIG;
	memcpy(gpuid, gpu, gpus * sizeof(gpu[0]));
	return (int)gpus;
}
