/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a pool's memory is, asked of the kernel and not believed of the runtime: the environment
 * variable alone proves nothing (it is read once, at a time nobody knows, and later runtimes may
 * put SVM before GTT).
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "../../user/sys/maps.h"
#include "internal.h"

#define MAX_MAPS    16
#define RENDER_NODE "/dev/dri/renderD"
#define SHARED_ANON "/dev/zero (deleted)" /* MAP_SHARED | MAP_ANONYMOUS */
/* smaps of a process with terabytes of populated memory takes this long (13 ms per GiB) */
#define DEADLINE_MS 60000

struct range {
	uint64_t lo, hi;
};

static struct range range_of(const struct pool *pool)
{
	uint64_t lo = (uintptr_t)pool->host;

	return (struct range){lo, lo + pool->reserved};
}

static int not_readable(const char *what, int err)
{
	return error_set(-ENOTSUP, "cannot tell what the pool is made of: %s: %s", what,
			 strerror(-err));
}

/* 1 when both ends are special, 0 when neither is, -ENOTSUP (error set) otherwise. */
static int ends_special(struct range r)
{
	uint64_t page = round_to_pages(1);
	int first = hcs_map_is_special((void *)(uintptr_t)r.lo);
	int last = hcs_map_is_special((void *)(uintptr_t)(r.hi - page));

	if (first < 0 || last < 0)
		return not_readable("madvise", first < 0 ? first : last);
	if (first != last)
		return error_set(-ENOTSUP, "the pool's first page is %s memory, its last is not",
				 first ? "driver" : "ordinary");
	return first;
}

/* The mappings below the pool; the number of them, or a negative errno with the error set. */
static int read_maps(const struct hcpool_ctx *ctx, struct range r, struct hcs_map *maps, bool flags)
{
	const char *file = flags ? "/proc/self/smaps" : "/proc/self/maps";
	uint64_t deadline = hcs_deadline_ms(DEADLINE_MS);
	int n;

	if (flags)
		n = hcs_smaps_range(ctx->root, 0, r.lo, r.hi, maps, MAX_MAPS, deadline);
	else
		n = hcs_maps_range(ctx->root, 0, r.lo, r.hi, maps, MAX_MAPS, deadline);
	if (n < 0)
		return not_readable(file, n);
	if (!hcs_maps_cover(maps, (size_t)n, r.lo, r.hi))
		return error_set(-ENOTSUP, "%s: the pool is not mapped as a whole", file);
	return n;
}

static int not_gtt(const char *reason, const char *detail)
{
	int ret = error_set(-ENOTSUP, "hipHostMalloc gave memory that is not the driver's: %s%s",
			    reason, detail);

	error_hint("HSA_USERPTR_FOR_PAGED_MEM=0 came after HIP had started, or this runtime "
		   "ignores it\nset it before the process starts; the memory was freed");
	return ret;
}

static int check_render_node(const struct hcpool_ctx *ctx, struct range r)
{
	struct hcs_map maps[MAX_MAPS];
	int i, n = read_maps(ctx, r, maps, false);

	for (i = 0; i < n; i++)
		if (strncmp(maps[i].path, RENDER_NODE, strlen(RENDER_NODE)) != 0)
			return not_gtt("its mapping is ",
				       maps[i].path[0] ? maps[i].path : "anonymous");
	return n < 0 ? n : 0;
}

static int check_vmflags(const struct hcpool_ctx *ctx, struct range r)
{
	struct hcs_map maps[MAX_MAPS];
	int i, n = read_maps(ctx, r, maps, true);

	for (i = 0; i < n; i++)
		if ((maps[i].vmflags & HCS_VM_UNREADABLE) ||
		    !(maps[i].vmflags & (HCS_VM_IO | HCS_VM_PFNMAP)))
			return not_gtt("VmFlags has neither io nor pf: ", maps[i].path);
	return n < 0 ? n : 0;
}

int verify_gtt(const struct hcpool_ctx *ctx, struct pool *pool)
{
	struct range r = range_of(pool);
	int ret = ends_special(r);

	if (ret < 0)
		return ret;
	/* The path is asked first also for ordinary memory: its name says more than "ordinary". */
	if (!ret) {
		ret = check_render_node(ctx, r);
		return ret ? ret : not_gtt("it is ordinary memory", "");
	}
	ret = check_render_node(ctx, r);
	if (!ret)
		ret = check_vmflags(ctx, r);
	if (!ret)
		pool->evidence = HCPOOL_BY_PAGES | HCPOOL_BY_MAPS | HCPOOL_BY_VMFLAGS;
	return ret;
}

/* The same first step for every backing that is ordinary memory: the number of maps, or an error.
 */
static int ordinary_maps(const struct hcpool_ctx *ctx, struct range r, const char *what,
			 struct hcs_map *maps, bool flags)
{
	int special = ends_special(r);

	if (special < 0)
		return special;
	if (special)
		return error_set(-ENOTSUP, "%s looks like driver memory here", what);
	return read_maps(ctx, r, maps, flags);
}

static int verify_hugetlb(const struct hcpool_ctx *ctx, struct pool *pool)
{
	struct hcs_map maps[MAX_MAPS];
	int i, n = read_maps(ctx, range_of(pool), maps, true);

	for (i = 0; i < n; i++)
		if ((maps[i].vmflags & HCS_VM_UNREADABLE) || !(maps[i].vmflags & HCS_VM_HUGETLB))
			return error_set(-ENOTSUP, "the pool is not made of hugetlb pages: %s",
					 maps[i].path);
	if (n < 0)
		return n;
	pool->huge_bytes = pool->reserved;
	pool->evidence |= HCPOOL_BY_VMFLAGS;
	return 0;
}

/* Shared memory has huge pages only where the administrator allows it, and the kernel never says so
 * at the call. */
static int verify_thp(const struct hcpool_ctx *ctx, struct pool *pool)
{
	struct range r = range_of(pool);
	int ret = thp_bytes(ctx->root, r.lo, r.hi, &pool->huge_bytes);

	if (ret)
		return not_readable("/proc/self/smaps", ret);
	if (pool->huge_bytes)
		return 0;
	ret = error_set(-ENOTSUP, "the kernel gave no transparent huge page for shared memory");
	error_hint(
		"/sys/kernel/mm/transparent_hugepage/shmem_enabled must be advise, within_size or "
		"always\n(this host, all users); Debian's is never");
	return ret;
}

int verify_registered(const struct hcpool_ctx *ctx, struct pool *pool)
{
	struct hcs_map maps[MAX_MAPS];
	int i, n;

	n = ordinary_maps(ctx, range_of(pool), "shared anonymous memory", maps, false);
	for (i = 0; i < n; i++)
		if (maps[i].perms[3] != 's')
			return error_set(-ENOTSUP, "the pool is not shared memory: %s %s",
					 maps[i].perms, maps[i].path);
	if (n < 0)
		return n;
	pool->evidence = HCPOOL_BY_PAGES | HCPOOL_BY_MAPS;
	if (pool->flags & HCPOOL_HUGE_2M)
		return verify_hugetlb(ctx, pool);
	return pool->flags & HCPOOL_THP ? verify_thp(ctx, pool) : 0;
}

/* Private in older runtimes, shared in newer ones; neither is the driver's. */
int verify_userptr(const struct hcpool_ctx *ctx, struct pool *pool)
{
	struct hcs_map maps[MAX_MAPS];
	int i, n = ordinary_maps(ctx, range_of(pool), "what hipHostMalloc gave", maps, false);

	for (i = 0; i < n; i++)
		if (!strncmp(maps[i].path, "/dev/", 5) && strcmp(maps[i].path, SHARED_ANON) != 0)
			return error_set(-ENOTSUP, "hipHostMalloc gave memory of a device: %s",
					 maps[i].path);
	if (n < 0)
		return n;
	pool->evidence = HCPOOL_BY_PAGES | HCPOOL_BY_MAPS;
	return 0;
}
