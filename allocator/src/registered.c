/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools of ordinary shared memory, registered with the GPU: what SGLang's HiCache does today. */
#include <errno.h>
#include <linux/mman.h>
#include <string.h>
#include <sys/mman.h>
#include "../../user/sys/sys.h"
#include "internal.h"

#define DEADLINE_MS 1000

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/*
 * Huge pages of either kind need an aligned start; shared memory begins anywhere. Room for the
 * alignment is taken first and given back around the pool. NULL with errno on failure.
 */
static void *map_aligned(uint64_t bytes, int flags)
{
	char *room = mmap(NULL, bytes + HUGE_2M, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *end, *at, *ptr;

	if (room == MAP_FAILED)
		return NULL;
	end = room + bytes + HUGE_2M;
	at = room + (-(uintptr_t)room & (HUGE_2M - 1));
	ptr = mmap(at, bytes, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0);
	if (ptr == MAP_FAILED) {
		int err = errno;

		munmap(room, bytes + HUGE_2M);
		errno = err;
		return NULL;
	}
	if (at > room)
		munmap(room, (size_t)(at - room));
	if (end > at + bytes)
		munmap(at + bytes, (size_t)(end - (at + bytes)));
	return ptr;
}

static void *map_shared(const struct pool *pool, int flags)
{
	void *ptr;

	if (pool->flags & HCPOOL_HUGE_2M)
		return map_aligned(pool->reserved, flags | MAP_HUGETLB | MAP_HUGE_2MB);
	if (pool->flags & HCPOOL_THP)
		return map_aligned(pool->reserved, flags);
	ptr = mmap(NULL, pool->reserved, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | flags,
		   -1, 0);
	return ptr == MAP_FAILED ? NULL : ptr;
}

static int no_memory(const struct hcpool_ctx *ctx, const struct pool *pool, const char *call,
		     int err)
{
	uint64_t available = 0;
	int ret;

	ret = error_set(-err, "%s of %llu bytes failed: %s", call,
			(unsigned long long)pool->reserved, strerror(err));
	if (!(pool->flags & HCPOOL_HUGE_2M) || err != ENOMEM)
		return ret;
	hcs_read_u64(ctx->root, "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
		     &available, hcs_deadline_ms(DEADLINE_MS));
	ret = error_set(-err, "%llu huge pages of 2 MiB are needed, %llu are free",
			(unsigned long long)(pool->reserved / HUGE_2M),
			(unsigned long long)available);
	error_hint("reserve them (this host, all users): sysctl vm.nr_hugepages=N, and give them "
		   "back afterwards");
	return ret;
}

/*
 * Populated before registering: HIP must pin the pages that stay, not the zero page. Shared memory
 * for the same reason: a private page would be replaced by the first write after a fork.
 */
static int map_populated(const struct hcpool_ctx *ctx, struct pool *pool)
{
	void *ptr = map_shared(pool, 0);

	if (!ptr)
		return no_memory(ctx, pool, "mmap", errno);
	/* A refusal shows in what was given, which is verified. */
	if (pool->flags & HCPOOL_THP)
		madvise(ptr, pool->reserved, MADV_HUGEPAGE);
	if (madvise(ptr, pool->reserved, MADV_POPULATE_WRITE)) {
		int err = errno;

		munmap(ptr, pool->reserved);
		if (err != EINVAL)
			return no_memory(ctx, pool, "populating", err);
		ptr = map_shared(pool, MAP_POPULATE);
		if (!ptr)
			return no_memory(ctx, pool, "mmap, populated,", errno);
	}
	pool->host = ptr;
	return 0;
}

static int hip_failed(const struct hcpool_ctx *ctx, const struct pool *pool, const char *call,
		      hipError_t hip)
{
	int ret;

	/* HIP keeps the error for whoever asks next; that must not be the application. */
	ctx->hip.hipGetLastError();
	ret = error_set(hip == hipErrorOutOfMemory ? -ENOMEM : -EIO,
			"%s of %llu bytes at %p failed (%s, %d)", call,
			(unsigned long long)pool->bytes, pool->host, hip_name(&ctx->hip, hip),
			(int)hip);
	error_hip(hip);
	return ret;
}

static int register_pool(struct hcpool_ctx *ctx, struct pool *pool)
{
	hipError_t hip;
	int ret;

	hip = ctx->hip.hipHostRegister(pool->host, pool->bytes, hipHostRegisterDefault);
	if (hip != hipSuccess)
		return hip_failed(ctx, pool, "hipHostRegister", hip);
	hip = ctx->hip.hipHostGetDevicePointer(&pool->device, pool->host, 0);
	if (hip == hipSuccess)
		return 0;
	ret = hip_failed(ctx, pool, "hipHostGetDevicePointer", hip);
	if (ctx->hip.hipHostUnregister(pool->host) != hipSuccess)
		ctx->hip.hipGetLastError();
	return ret;
}

int registered_alloc(struct hcpool_ctx *ctx, struct pool *pool)
{
	int ret;

	if (pool->flags & HCPOOL_HUGE_2M)
		pool->reserved = (pool->reserved + HUGE_2M - 1) & ~(HUGE_2M - 1);
	ret = map_populated(ctx, pool);
	if (ret)
		return ret;
	/* Verified first: what cannot be verified is not registered. */
	ret = verify_registered(ctx, pool);
	if (!ret)
		ret = register_pool(ctx, pool);
	if (ret)
		munmap(pool->host, pool->reserved);
	return ret;
}

int registered_release(struct hcpool_ctx *ctx, const struct pool *pool)
{
	hipError_t hip = ctx->hip.hipHostUnregister(pool->host);

	if (hip != hipSuccess)
		return hip_failed(ctx, pool, "hipHostUnregister", hip);
	if (munmap(pool->host, pool->reserved))
		return error_set(-errno, "munmap of pool #%llu failed: %s",
				 (unsigned long long)pool->id, strerror(errno));
	return 0;
}
