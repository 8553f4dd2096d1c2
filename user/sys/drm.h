/* SPDX-License-Identifier: BSD-2-Clause */
/* DRM render nodes in sysfs: which driver, how much GTT. */
#ifndef HCS_DRM_H
#define HCS_DRM_H

#include "sys.h"

#define HCS_DRM_MAX 128

struct hcs_drm_node {
	unsigned int minor;	      /* 128 for renderD128 */
	char driver[32];	      /* last part of readlink device/driver: "amdgpu", "gpusim" */
	int has_gtt;		      /* mem_info_gtt_* could be read */
	uint64_t gtt_total, gtt_used; /* bytes */
};

/*
 * Every /sys/class/drm/renderD*, sorted by minor. Returns the count (0 when there is none), -E2BIG
 * above `max`. A node whose driver link cannot be read has driver "".
 */
int hcs_drm_nodes(int root, struct hcs_drm_node *out, size_t max, uint64_t deadline);

#endif
