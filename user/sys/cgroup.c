/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "cgroup.h"
#include "io.h"

struct cgroup_search {
	const char *path;
	size_t len; /* without slashes at its end; 0 = the root: everybody is below it */
};

/* A path can hold colons; the fields before it cannot. */
static int cgroup_line(char *text, void *ctx)
{
	const struct cgroup_search *s = ctx;
	const char *path = strchr(text, ':');

	if (path)
		path = strchr(path + 1, ':');
	if (!path || path[1] != '/')
		return -EBADMSG;
	path++;
	return !strncmp(path, s->path, s->len) && (path[s->len] == '/' || !path[s->len]);
}

int hcs_cgroup_in(int root, pid_t pid, const char *path, uint64_t deadline)
{
	struct cgroup_search s = {.path = path, .len = strlen(path)};
	char file[HCS_PATH];
	int ret = path[0] == '/' ? hcs_proc_path(file, sizeof(file), pid, "cgroup") : -EINVAL;

	if (ret)
		return ret;
	while (s.len && path[s.len - 1] == '/')
		s.len--;
	return hcs_each_line(root, file, cgroup_line, &s, deadline);
}
