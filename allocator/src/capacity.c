/* SPDX-License-Identifier: BSD-2-Clause */
/* How much GTT there is, for the text of an out-of-memory error. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include "../../user/sys/drm.h"
#include "internal.h"

#define DEADLINE_MS 1000
#define GIB	    (1024.0 * 1024.0 * 1024.0)

/*
 * All host GTT of a process comes from the first GPU it can open (libhsakmt fmm.c
 * fmm_allocate_host_gpu, gpu_mem_id 0). NULL when no node tells its GTT.
 */
static const struct hcs_drm_node *first_usable(int root, const struct hcs_drm_node *node, int n)
{
	const struct hcs_drm_node *any = NULL;
	char path[64];
	int i;

	for (i = 0; i < n; i++) {
		if (!node[i].has_gtt)
			continue;
		if (!any)
			any = &node[i];
		snprintf(path, sizeof(path), "dev/dri/renderD%u", node[i].minor);
		if (!faccessat(root, path, R_OK | W_OK, 0))
			return &node[i];
	}
	return any;
}

/* In-tree module, or AMD's DKMS one. Returns the module's name and its limit in pages, or NULL. */
static const char *pages_limit(int root, uint64_t *pages)
{
	static const char *const module[] = {"ttm", "amdttm"};
	char path[64];
	size_t i;

	for (i = 0; i < sizeof(module) / sizeof(module[0]); i++) {
		snprintf(path, sizeof(path), "sys/module/%s/parameters/pages_limit", module[i]);
		if (!hcs_read_u64(root, path, pages, hcs_deadline_ms(DEADLINE_MS)))
			return module[i];
	}
	return NULL;
}

static int describe_gtt(const struct hcs_drm_node *gpu, char *text, size_t size)
{
	uint64_t unused;

	if (!gpu)
		return snprintf(text, size, "GTT capacity unknown");
	unused = gpu->gtt_total > gpu->gtt_used ? gpu->gtt_total - gpu->gtt_used : 0;
	return snprintf(text, size,
			"total %.2f GiB, used %.2f, free %.2f, shared by\nall ranks of this node",
			(double)gpu->gtt_total / GIB, (double)gpu->gtt_used / GIB,
			(double)unused / GIB);
}

void capacity_describe(int root, char *text, size_t size)
{
	struct hcs_drm_node node[HCS_DRM_MAX];
	const struct hcs_drm_node *gpu;
	const char *module;
	uint64_t pages = 0;
	bool is_limit;
	int len, n = hcs_drm_nodes(root, node, HCS_DRM_MAX, hcs_deadline_ms(DEADLINE_MS));

	gpu = first_usable(root, node, n);
	len = describe_gtt(gpu, text, size);
	module = pages_limit(root, &pages);
	/* 0 is TTM's "not set"; GTT can also be limited by amdgpu.gttsize. */
	if (!module || !pages || len < 0 || (size_t)len >= size)
		return;
	is_limit = gpu && pages * (uint64_t)sysconf(_SC_PAGESIZE) == gpu->gtt_total;
	snprintf(text + len, size - (size_t)len, "; %s %s.pages_limit (%llu pages)",
		 is_limit ? "limit from" : "see also", module, (unsigned long long)pages);
}
