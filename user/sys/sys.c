/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "io.h"
#include "num.h"

#define LINE_MAX_BYTES 4096
#define CHUNK_BYTES    8192
#define NS_PER_S       1000000000ull

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int hcs_root(void)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

uint64_t hcs_deadline_ms(unsigned int ms)
{
	return clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000;
}

uint64_t hcs_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

int hcs_late(uint64_t deadline)
{
	return deadline && clock_ns(CLOCK_MONOTONIC) >= deadline ? -ETIMEDOUT : 0;
}

int hcs_errno(void)
{
	return errno == ESRCH || errno == ENODEV ? -ENOENT : -errno;
}

int hcs_path(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int hcs_proc_path(char *buf, size_t size, pid_t pid, const char *file)
{
	if (pid < 0)
		return -EINVAL;
	if (!pid)
		return hcs_path(buf, size, "proc/self/%s", file);
	return hcs_path(buf, size, "proc/%d/%s", (int)pid, file);
}

/* O_NONBLOCK: a FIFO put in the place of a file must not hang the open. */
static int open_file(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? hcs_errno() : fd;
}

static ssize_t read_some(int fd, char *buf, size_t size, uint64_t deadline)
{
	ssize_t n;

	do {
		int late = hcs_late(deadline);

		if (late)
			return late;
		n = read(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? hcs_errno() : n;
}

static ssize_t read_full(int fd, char *buf, size_t size, uint64_t deadline)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = read_some(fd, buf + have, size - have, deadline);

		if (n < 0)
			return n;
		if (!n)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

ssize_t hcs_read_file(int root, const char *path, char *buf, size_t size, uint64_t deadline)
{
	ssize_t n, more = 0;
	char extra;
	int fd;

	if (!size)
		return -EINVAL;
	fd = open_file(root, path);
	if (fd < 0)
		return fd;
	n = read_full(fd, buf, size - 1, deadline);
	if (n == (ssize_t)(size - 1))
		more = read_some(fd, &extra, 1, deadline);
	close(fd);
	buf[n < 0 ? 0 : n] = '\0';
	if (n < 0)
		return n;
	if (more)
		return more < 0 ? more : -E2BIG;
	return n;
}

ssize_t hcs_read_head(int root, const char *path, char *buf, size_t size, uint64_t deadline)
{
	ssize_t n;
	int fd;

	if (!size)
		return -EINVAL;
	fd = open_file(root, path);
	if (fd < 0)
		return fd;
	n = read_full(fd, buf, size - 1, deadline);
	close(fd);
	buf[n < 0 ? 0 : n] = '\0';
	return n;
}

int hcs_read_u64(int root, const char *path, uint64_t *value, uint64_t deadline)
{
	char text[32];
	ssize_t n = hcs_read_file(root, path, text, sizeof(text), deadline);

	if (n < 0)
		return (int)n;
	if (n && text[n - 1] == '\n')
		text[--n] = '\0';
	if (strlen(text) != (size_t)n || hcs_num_u64(text, 0, UINT64_MAX, value))
		return -EBADMSG;
	return 0;
}

struct line_buf {
	char text[LINE_MAX_BYTES];
	size_t len; /* bytes in text; what is beyond the end of text is dropped */
	int (*line)(char *text, void *ctx);
	void *ctx;
};

static int end_line(struct line_buf *b)
{
	int ret;

	b->text[b->len] = '\0';
	if (strlen(b->text) != b->len)
		return -EBADMSG;
	ret = b->line(b->text, b->ctx);
	b->len = 0;
	return ret;
}

static int add_chunk(struct line_buf *b, const char *chunk, size_t size)
{
	while (size) {
		const char *newline = memchr(chunk, '\n', size);
		size_t part = newline ? (size_t)(newline - chunk) : size;
		size_t room = sizeof(b->text) - 1 - b->len;
		size_t copy = part < room ? part : room;

		memcpy(b->text + b->len, chunk, copy);
		b->len += copy;
		if (newline) {
			int ret = end_line(b);

			if (ret)
				return ret;
			part++;
		}
		chunk += part;
		size -= part;
	}
	return 0;
}

int hcs_each_line(int root, const char *path, int (*line)(char *text, void *ctx), void *ctx,
		  uint64_t deadline)
{
	struct line_buf b = {.line = line, .ctx = ctx};
	char chunk[CHUNK_BYTES];
	int fd = open_file(root, path);
	int ret = 0;

	if (fd < 0)
		return fd;
	while (!ret) {
		ssize_t n = read_some(fd, chunk, sizeof(chunk), deadline);

		if (n < 0)
			ret = (int)n;
		if (n <= 0)
			break;
		ret = add_chunk(&b, chunk, (size_t)n);
	}
	close(fd);
	if (!ret && b.len)
		ret = end_line(&b);
	return ret;
}

static int walk_names(DIR *dir, int (*entry)(const char *name, void *ctx), void *ctx,
		      uint64_t deadline)
{
	for (;;) {
		struct dirent *d;
		int ret = hcs_late(deadline);

		if (ret)
			return ret;
		errno = 0;
		d = readdir(dir);
		if (!d)
			return errno ? hcs_errno() : 0;
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		ret = entry(d->d_name, ctx);
		if (ret)
			return ret;
	}
}

int hcs_each_name(int root, const char *path, int (*entry)(const char *name, void *ctx), void *ctx,
		  uint64_t deadline)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;
	int ret;

	if (fd < 0)
		return hcs_errno();
	dir = fdopendir(fd);
	if (!dir) {
		ret = hcs_errno();
		close(fd);
		return ret;
	}
	ret = walk_names(dir, entry, ctx, deadline);
	closedir(dir);
	return ret;
}

int hcs_name_number(const char *name, const char *prefix, uint64_t max, uint64_t *number)
{
	size_t n = strlen(prefix);

	return !strncmp(name, prefix, n) && !hcs_num_u64(name + n, 0, max, number);
}

int hcs_compare_int(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}
