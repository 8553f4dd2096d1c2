/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../user/sys/maps.h"
#include "harness.h"

#define REAL_DRIVER_PATH "/dev/dri/renderD128"

struct played_kernel played;

static struct fake_hip *current;

/* Resolved by the linker's --wrap. */
int __real_hcs_map_is_special(const void *addr);
int __wrap_hcs_map_is_special(const void *addr);
int __real_hcs_maps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out,
			  size_t max, uint64_t deadline);
int __wrap_hcs_maps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out,
			  size_t max, uint64_t deadline);
int __real_hcs_smaps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out,
			   size_t max, uint64_t deadline);
int __wrap_hcs_smaps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out,
			   size_t max, uint64_t deadline);

static int is_driver(uint64_t addr)
{
	return current && addr >= current->driver_lo && addr < current->driver_hi;
}

static int play(struct hcs_map *out, uint32_t vmflags)
{
	memset(out, 0, sizeof(*out));
	out->lo = current->driver_lo;
	out->hi = current->driver_hi - played.hole;
	strcpy(out->perms, "rw-s");
	out->vmflags = vmflags;
	snprintf(out->path, sizeof(out->path), "%s", played.path);
	return 1;
}

int __wrap_hcs_map_is_special(const void *addr)
{
	return is_driver((uintptr_t)addr) ? 1 : __real_hcs_map_is_special(addr);
}

int __wrap_hcs_maps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out,
			  size_t max, uint64_t deadline)
{
	if (is_driver(lo))
		return play(out, 0);
	return __real_hcs_maps_range(root, pid, lo, hi, out, max, deadline);
}

int __wrap_hcs_smaps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out,
			   size_t max, uint64_t deadline)
{
	if (is_driver(lo))
		return play(out, played.vmflags);
	return __real_hcs_smaps_range(root, pid, lo, hi, out, max, deadline);
}

void *load_fake(const char *path, struct fake_hip **hip)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	fake_hip_fn get;

	if (!lib)
		fail_msg("%s", dlerror());
	get = (fake_hip_fn)dlsym(lib, "fake_hip");
	assert_non_null(get);
	*hip = get();
	memset(*hip, 0, sizeof(**hip));
	return lib;
}

int harness_setup(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	setenv("HSA_USERPTR_FOR_PAGED_MEM", "0", 1);
	played = (struct played_kernel){HCS_VM_IO | HCS_VM_PFNMAP | HCS_VM_SHARED, REAL_DRIVER_PATH,
					0};
	h->lib = load_fake(FAKE_A, &h->hip);
	current = h->hip;
	assert_int_equal(hcpool_open(&h->ctx), 0);
	*state = h;
	return 0;
}

int harness_teardown(void **state)
{
	struct harness *h = *state;

	assert_int_equal(hcpool_close(h->ctx), 0);
	current = NULL;
	dlclose(h->lib);
	free(h);
	return 0;
}

int alloc_pool(struct hcpool_ctx *ctx, enum hcpool_backing backing, uint64_t bytes, hcpool_id *id)
{
	struct hcpool_options opts = {sizeof(opts), backing, bytes};

	return hcpool_alloc(ctx, &opts, id);
}
