/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include "internal.h"

#define RUNTIME_NAME "libamdhip64.so"

struct loaded {
	int count;
	char path[2][PATH_MAX];
};

/* libamdhip64.so, libamdhip64.so.7, …; wheels bundle it under the plain name. */
static int is_runtime(const char *path)
{
	const char *base = strrchr(path, '/');
	size_t len = strlen(RUNTIME_NAME);

	base = base ? base + 1 : path;
	return !strncmp(base, RUNTIME_NAME, len) && (base[len] == '\0' || base[len] == '.');
}

/* Runs under the loader's lock: copies names, nothing else. */
static int collect(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct loaded *found = ctx;

	(void)size;
	if (!info->dlpi_name || !is_runtime(info->dlpi_name))
		return 0;
	if (found->count < 2)
		snprintf(found->path[found->count], PATH_MAX, "%s", info->dlpi_name);
	found->count++;
	return 0;
}

static int bind_symbols(struct hip_runtime *hip)
{
#define BIND(ret, name, args)                               \
	hip->name = (ret(*) args)dlsym(hip->handle, #name); \
	if (!hip->name)                                     \
		return error_set(-ENOSYS, "%s has no function " #name, hip->path);
	HIP_POOL_CALLS(BIND)
#undef BIND
	return 0;
}

int bind_loaded_runtime(struct hip_runtime *hip)
{
	struct loaded found = {0};
	int ret;

	dl_iterate_phdr(collect, &found);
	if (!found.count) {
		ret = error_set(-ENOENT, "no HIP runtime (%s) is loaded in this process",
				RUNTIME_NAME);
		error_hint("load the framework that brings it, for example torch, first");
		return ret;
	}
	if (found.count > 1) {
		ret = error_set(-EEXIST, "%d HIP runtimes are loaded: %.200s and %.200s",
				found.count, found.path[0], found.path[1]);
		error_hint("a pool of one is unknown to the other; remove one of them, often "
			   "/opt/rocm/lib in LD_LIBRARY_PATH");
		return ret;
	}
	snprintf(hip->path, sizeof(hip->path), "%s", found.path[0]);
	hip->handle = dlopen(hip->path, RTLD_NOW | RTLD_NOLOAD);
	if (!hip->handle)
		return error_set(-ENOENT, "the loaded HIP runtime %.300s cannot be opened again",
				 hip->path);
	ret = bind_symbols(hip);
	if (ret)
		unbind_runtime(hip);
	return ret;
}

void unbind_runtime(struct hip_runtime *hip)
{
	if (hip->handle)
		dlclose(hip->handle);
	hip->handle = NULL;
}

const char *hip_name(const struct hip_runtime *hip, hipError_t error)
{
	const char *name = hip->hipGetErrorName(error);

	return name ? name : "unknown HIP error";
}
