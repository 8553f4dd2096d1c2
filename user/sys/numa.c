/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include "io.h"
#include "num.h"
#include "numa.h"

#define NODE	  "sys/devices/system/node"
#define MAX_NODES 1024 /* MAX_NUMNODES of the largest kernel configuration */

/* Decimal number at *p, which moves behind it. */
static int list_number(const char **p, int *value)
{
	const char *start = *p;
	long v = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++) {
		v = v * 10 + (**p - '0');
		if (v > INT_MAX)
			return -EBADMSG;
	}
	if (*p == start)
		return -EBADMSG;
	*value = (int)v;
	return 0;
}

/* One "a" or "a-b". Numbers must be above *last, as the kernel writes them. */
static int list_range(const char **p, int *first, int *last)
{
	int low, high, ret;

	ret = list_number(p, &low);
	if (ret)
		return ret;
	high = low;
	if (**p == '-') {
		(*p)++;
		ret = list_number(p, &high);
		if (ret)
			return ret;
	}
	if (low <= *last || high < low)
		return -EBADMSG;
	*first = low;
	*last = high;
	return 0;
}

/* Walks the list; out NULL = only check and count. */
static int walk_list(const char *text, int *out, size_t max)
{
	int first, last = -1;
	size_t n = 0;

	if (!*text || !strcmp(text, "\n"))
		return 0;
	for (;; text++) {
		int ret = list_range(&text, &first, &last);

		if (ret)
			return ret;
		if ((size_t)(last - first) >= max - n)
			return -E2BIG;
		for (int i = 0; out && i <= last - first; i++)
			out[n + (size_t)i] = first + i;
		n += (size_t)(last - first) + 1;
		if (*text != ',')
			break;
	}
	return !*text || !strcmp(text, "\n") ? (int)n : -EBADMSG;
}

int hcs_parse_list(const char *text, int *out, size_t max)
{
	int n = walk_list(text, NULL, max > INT_MAX ? INT_MAX : max);

	return n < 0 ? n : walk_list(text, out, (size_t)n);
}

struct meminfo {
	bool found, has_memory;
};

/* "Node 0 MemTotal:       16384256 kB" */
static int find_memtotal(char *text, void *ctx)
{
	struct meminfo *m = ctx;
	char *end, *p = strstr(text, " MemTotal:");
	uint64_t kib;

	if (!p || strncmp(text, "Node ", 5))
		return 0;
	p += strlen(" MemTotal:");
	p += strspn(p, " ");
	end = strstr(p, " kB");
	if (!end)
		return -EBADMSG;
	*end = '\0';
	if (hcs_num_u64(p, 0, UINT64_MAX, &kib))
		return -EBADMSG;
	m->found = true;
	m->has_memory = kib > 0;
	return 1;
}

static int node_has_memory(int root, int node, bool *has, uint64_t deadline)
{
	struct meminfo m = {0};
	char path[HCS_PATH];
	int ret = hcs_path(path, sizeof(path), NODE "/node%d/meminfo", node);

	if (!ret)
		ret = hcs_each_line(root, path, find_memtotal, &m, deadline);
	if (ret < 0)
		return ret;
	if (!m.found)
		return -EBADMSG;
	*has = m.has_memory;
	return 0;
}

/* Those of `n` nodes that have memory, to out. */
static int keep_with_memory(int root, const int *candidate, size_t n, int *out, size_t max,
			    uint64_t deadline)
{
	int node[HCS_NUMA_MAX] = {0};
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool has;
		int ret = node_has_memory(root, candidate[i], &has, deadline);

		if (ret)
			return ret;
		if (!has)
			continue;
		if (kept == HCS_NUMA_MAX || kept == max)
			return -E2BIG;
		node[kept++] = candidate[i];
	}
	memcpy(out, node, kept * sizeof(node[0]));
	return (int)kept;
}

static int online_nodes(int root, int *node, uint64_t deadline)
{
	char text[4096];
	ssize_t n = hcs_read_file(root, NODE "/online", text, sizeof(text), deadline);

	if (n < 0)
		return (int)n;
	if (strlen(text) != (size_t)n)
		return -EBADMSG;
	return hcs_parse_list(text, node, MAX_NODES);
}

int hcs_numa_nodes(int root, int *node, size_t max, uint64_t deadline)
{
	int online[MAX_NODES];
	int n = online_nodes(root, online, deadline);

	return n < 0 ? n : keep_with_memory(root, online, (size_t)n, node, max, deadline);
}

struct allowed {
	int node[MAX_NODES];
	int n; /* -1 before the line was seen */
};

static int find_allowed(char *text, void *ctx)
{
	static const char key[] = "Mems_allowed_list:";
	struct allowed *a = ctx;

	if (strncmp(text, key, strlen(key)))
		return 0;
	text += strlen(key);
	text += strspn(text, "\t ");
	a->n = hcs_parse_list(text, a->node, MAX_NODES);
	return a->n < 0 ? a->n : 1;
}

static size_t intersect(int *node, size_t n, const struct allowed *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		for (int j = 0; j < a->n; j++) {
			if (a->node[j] == node[i]) {
				node[kept++] = node[i];
				break;
			}
		}
	}
	return kept;
}

int hcs_numa_allowed(int root, pid_t pid, int *node, size_t max, uint64_t deadline)
{
	struct allowed a = {.n = -1};
	int online[MAX_NODES];
	char path[HCS_PATH];
	int n, ret = hcs_proc_path(path, sizeof(path), pid, "status");

	if (!ret)
		ret = hcs_each_line(root, path, find_allowed, &a, deadline);
	if (ret < 0)
		return ret;
	if (a.n < 0)
		return -EBADMSG;
	n = online_nodes(root, online, deadline);
	if (n < 0)
		return n;
	n = (int)intersect(online, (size_t)n, &a);
	return keep_with_memory(root, online, (size_t)n, node, max, deadline);
}
