/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "drm.h"
#include "io.h"

#define DRM "sys/class/drm"

struct minor_walk {
	int minor[HCS_DRM_MAX];
	size_t n;
};

static int add_minor(const char *name, void *ctx)
{
	struct minor_walk *w = ctx;
	uint64_t minor;

	if (!hcs_name_number(name, "renderD", INT_MAX, &minor))
		return 0;
	if (w->n == HCS_DRM_MAX)
		return -E2BIG;
	w->minor[w->n++] = (int)minor;
	return 0;
}

static void read_driver(int root, struct hcs_drm_node *node)
{
	char path[HCS_PATH], link[PATH_MAX];
	const char *name;
	ssize_t n;

	if (hcs_path(path, sizeof(path), DRM "/renderD%u/device/driver", node->minor))
		return;
	n = readlinkat(root, path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = '\0';
	name = strrchr(link, '/');
	name = name ? name + 1 : link;
	/* A cut name would be another driver's: no name is better. */
	if (strlen(name) < sizeof(node->driver))
		strcpy(node->driver, name);
}

static int read_gtt(int root, struct hcs_drm_node *node, const char *file, uint64_t *value,
		    uint64_t deadline)
{
	char path[HCS_PATH];
	int ret;

	ret = hcs_path(path, sizeof(path), DRM "/renderD%u/device/%s", node->minor, file);
	return ret ? ret : hcs_read_u64(root, path, value, deadline);
}

static int read_node(int root, struct hcs_drm_node *node, uint64_t deadline)
{
	int ret;

	read_driver(root, node);
	ret = read_gtt(root, node, "mem_info_gtt_total", &node->gtt_total, deadline);
	if (!ret)
		ret = read_gtt(root, node, "mem_info_gtt_used", &node->gtt_used, deadline);
	node->has_gtt = !ret;
	if (ret)
		node->gtt_total = 0;
	return ret == -ETIMEDOUT ? ret : 0;
}

int hcs_drm_nodes(int root, struct hcs_drm_node *out, size_t max, uint64_t deadline)
{
	struct minor_walk w = {.n = 0};
	struct hcs_drm_node node[HCS_DRM_MAX];
	int ret = hcs_each_name(root, DRM, add_minor, &w, deadline);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	if (w.n > max)
		return -E2BIG;
	qsort(w.minor, w.n, sizeof(w.minor[0]), hcs_compare_int);
	for (size_t i = 0; i < w.n; i++) {
		node[i] = (struct hcs_drm_node){.minor = (unsigned int)w.minor[i]};
		ret = read_node(root, &node[i], deadline);
		if (ret)
			return ret;
	}
	memcpy(out, node, w.n * sizeof(node[0]));
	return (int)w.n;
}
