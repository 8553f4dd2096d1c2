/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io.h"
#include "num.h"
#include "pidns.h"

static int parse_number(const char *text, pid_t *pid)
{
	uint64_t v;

	if (hcs_num_u64(text, 1, INT_MAX, &v))
		return -EBADMSG;
	*pid = (pid_t)v;
	return 0;
}

static int parse_numbers(char *text, struct hcs_pid_names *names)
{
	char *save, *tok = strtok_r(text, " \t", &save);

	for (names->levels = 0; tok; tok = strtok_r(NULL, " \t", &save)) {
		if (names->levels == HCS_PIDNS_LEVELS ||
		    parse_number(tok, &names->number[names->levels++]))
			return -EBADMSG;
	}
	return names->levels ? 0 : -EBADMSG;
}

static int names_line(char *text, void *ctx)
{
	struct hcs_pid_names *names = ctx;

	if (!strncmp(text, "Tgid:\t", 6))
		return parse_number(text + 6, &names->tgid);
	if (!strncmp(text, "Pid:\t", 5)) {
		names->levels = 1;
		return parse_number(text + 5, &names->number[0]);
	}
	if (!strncmp(text, "NSpid:", 6))
		return parse_numbers(text + 6, names);
	return 0;
}

int hcs_pid_names(int root, pid_t pid, struct hcs_pid_names *out, uint64_t deadline)
{
	struct hcs_pid_names names = {0};
	char path[HCS_PATH];
	int ret = hcs_proc_path(path, sizeof(path), pid, "status");

	if (!ret)
		ret = hcs_each_line(root, path, names_line, &names, deadline);
	if (!ret && (!names.tgid || !names.levels))
		ret = -EBADMSG;
	if (!ret)
		*out = names;
	return ret;
}

/* A symbolic link to "pid:[4026531836]". */
int hcs_pid_ns(int root, pid_t pid, uint64_t *inode, uint64_t deadline)
{
	char path[HCS_PATH], text[64];
	ssize_t n;
	int ret = hcs_proc_path(path, sizeof(path), pid, "ns/pid");

	if (!ret)
		ret = hcs_late(deadline);
	if (ret)
		return ret;
	n = readlinkat(root, path, text, sizeof(text));
	if (n < 0)
		return hcs_errno();
	if (n < 7 || n == sizeof(text) || memcmp(text, "pid:[", 5) || text[n - 1] != ']')
		return -EBADMSG;
	text[n - 1] = '\0';
	return hcs_num_u64(text + 5, 1, UINT32_MAX, inode) ? -EBADMSG : 0;
}

/* The kernel shows a namespace's parent only to those who are above it, too. */
static void climb(int fd, uint64_t *inode, size_t level, uint64_t deadline)
{
	struct stat st;

	while (level > 0 && !hcs_late(deadline)) {
		int up = ioctl(fd, NS_GET_PARENT);

		close(fd);
		fd = up;
		if (fd < 0)
			return;
		if (!fstat(fd, &st))
			inode[--level] = st.st_ino;
	}
	close(fd);
}

int hcs_pid_ns_levels(int root, pid_t pid, uint64_t *inode, size_t levels, uint64_t deadline)
{
	char path[HCS_PATH];
	uint64_t own;
	int fd, ret = levels ? hcs_pid_ns(root, pid, &own, deadline) : -EINVAL;

	if (ret)
		return ret;
	memset(inode, 0, levels * sizeof(*inode));
	inode[levels - 1] = own;
	ret = hcs_proc_path(path, sizeof(path), pid, "ns/pid");
	fd = ret || levels == 1 ? -1 : openat(root, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		climb(fd, inode, levels - 1, deadline);
	return ret;
}

int hcs_pid_self(int root, pid_t *pid, uint64_t deadline)
{
	char text[16];
	ssize_t n;
	int ret = hcs_late(deadline);

	if (ret)
		return ret;
	n = readlinkat(root, "proc/self", text, sizeof(text));
	if (n < 0)
		return hcs_errno();
	if (n == sizeof(text))
		return -EBADMSG;
	text[n] = '\0';
	return parse_number(text, pid);
}
