/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools of ordinary shared memory, registered with the GPU: what SGLang's HiCache does today. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "internal.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static void *map_shared(uint64_t bytes, int flags)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | flags, -1, 0);
}

/*
 * Populated before registering: HIP must pin the pages that stay, not the zero page. Shared memory
 * for the same reason: a private page would be replaced by the first write after a fork.
 */
static int map_populated(struct pool *pool)
{
	void *ptr = map_shared(pool->reserved, 0);

	if (ptr == MAP_FAILED)
		return error_set(-errno, "mmap of %llu bytes failed: %s",
				 (unsigned long long)pool->reserved, strerror(errno));
	if (madvise(ptr, pool->reserved, MADV_POPULATE_WRITE)) {
		int err = errno;

		munmap(ptr, pool->reserved);
		if (err != EINVAL)
			return error_set(-err, "populating %llu bytes failed: %s",
					 (unsigned long long)pool->reserved, strerror(err));
		ptr = map_shared(pool->reserved, MAP_POPULATE);
		if (ptr == MAP_FAILED)
			return error_set(-errno, "mmap of %llu populated bytes failed: %s",
					 (unsigned long long)pool->reserved, strerror(errno));
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
	int ret = map_populated(pool);

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
