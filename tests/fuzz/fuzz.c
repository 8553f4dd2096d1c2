/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz.h"

static char folder[] = "/tmp/hcw-fuzz-XXXXXX";

const char *fuzz_file(const void *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		FUZZ_CHECK(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	FUZZ_CHECK(!ftruncate(fd, 0));
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int new_folder(void)
{
	int root;

	FUZZ_CHECK(mkdtemp(folder));
	FUZZ_CHECK(!atexit(remove_folder));
	root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	FUZZ_CHECK(root >= 0);
	return root;
}

static void link_file(int root, const char *path, const char *target)
{
	char part[256];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = strchr(part, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		FUZZ_CHECK(!mkdirat(root, part, 0700) || errno == EEXIST);
		*p = '/';
	}
	FUZZ_CHECK(!symlinkat(target, root, path) || errno == EEXIST);
}

int fuzz_root(const char *path, const void *data, size_t size)
{
	static int root = -1;

	if (root < 0)
		root = new_folder();
	link_file(root, path, fuzz_file(data, size));
	return root;
}
