/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tree.h"

int tree_fixture(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "fixtures/%s", name);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

int tree_new(void)
{
	char path[] = "/tmp/hcw-test-XXXXXX";
	int fd;

	assert_non_null(mkdtemp(path));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void make_parents(int root, const char *path)
{
	char part[512];

	assert_true(strlen(path) < sizeof(part));
	strcpy(part, path);
	for (char *p = strchr(part, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		assert_true(!mkdirat(root, part, 0755) || errno == EEXIST);
		*p = '/';
	}
}

void tree_put(int root, const char *path, const void *data, size_t size)
{
	int fd;

	make_parents(root, path);
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

void tree_text(int root, const char *path, const char *text)
{
	tree_put(root, path, text, strlen(text));
}

void tree_link(int root, const char *path, const char *target)
{
	make_parents(root, path);
	assert_int_equal(symlinkat(target, root, path), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void tree_remove(int root)
{
	char link[64], path[256];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", root);
	n = readlink(link, path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	close(root);
}
