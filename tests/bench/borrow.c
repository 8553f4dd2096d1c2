/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "borrow.h"

/* 0 when the file is no map. */
static __u32 map_id(pid_t pid, const char *fd)
{
	char path[320], line[128];
	__u32 id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!id && fgets(line, sizeof(line), f))
		if (sscanf(line, "map_id: %u", &id) != 1)
			id = 0;
	fclose(f);
	return id;
}

static int open_map(__u32 id, struct bench_shared *out)
{
	struct bpf_map_info info = {0};
	__u32 size = sizeof(info);

	out->fd = bpf_map_get_fd_by_id(id);
	if (out->fd < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(out->fd, &info, &size)) {
		close(out->fd);
		return -errno;
	}
	snprintf(out->name, sizeof(out->name), "%s", info.name);
	return 0;
}

int bench_borrow(pid_t pid, struct bench_shared *out, size_t max)
{
	char path[64];
	struct dirent *entry;
	size_t n = 0;
	__u32 id;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (n < max && (entry = readdir(dir))) {
		id = map_id(pid, entry->d_name);
		if (id && !open_map(id, &out[n]))
			n++;
	}
	closedir(dir);
	return (int)n;
}

int bench_borrowed(const struct bench_shared *maps, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(maps[i].name, name))
			return maps[i].fd;
	return -ENOENT;
}
