/* SPDX-License-Identifier: BSD-2-Clause */
/* hipHostMalloc and hipHostFree, whatever memory they give. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

bool env_says_gtt(void)
{
	const char *value = getenv(USERPTR_ENV);

	return value && !strcmp(value, "0");
}

/* HIP keeps its error for whoever asks next; that must not be the application. */
static int hip_failed(const struct hcpool_ctx *ctx, int code, const char *call, uint64_t bytes,
		      hipError_t hip)
{
	ctx->hip.hipGetLastError();
	code = error_set(code, "%s of %llu bytes failed (%s, %d)", call, (unsigned long long)bytes,
			 hip_name(&ctx->hip, hip), (int)hip);
	error_hip(hip);
	return code;
}

static int malloc_failed(const struct hcpool_ctx *ctx, uint64_t bytes, hipError_t hip,
			 void (*no_memory)(const struct hcpool_ctx *ctx))
{
	int code = hip == hipErrorOutOfMemory ? -ENOMEM : -EIO;
	int ret = hip_failed(ctx, code, "hipHostMalloc", bytes, hip);

	if (code == -ENOMEM)
		no_memory(ctx);
	return ret;
}

int host_malloc(struct hcpool_ctx *ctx, struct pool *pool,
		int (*verify)(const struct hcpool_ctx *ctx, struct pool *pool),
		void (*no_memory)(const struct hcpool_ctx *ctx))
{
	hipError_t hip;
	int ret;

	hip = ctx->hip.hipHostMalloc(&pool->host, pool->bytes, hipHostMallocDefault);
	if (hip != hipSuccess)
		return malloc_failed(ctx, pool->bytes, hip, no_memory);
	if (!pool->host)
		return error_set(-EIO, "hipHostMalloc succeeded but gave no memory");
	ret = verify(ctx, pool);
	if (!ret) {
		hip = ctx->hip.hipHostGetDevicePointer(&pool->device, pool->host, 0);
		if (hip != hipSuccess)
			ret = hip_failed(ctx, -EIO, "hipHostGetDevicePointer", pool->bytes, hip);
	}
	/* The reason for giving up is the error to report, whatever the free says. */
	if (ret && ctx->hip.hipHostFree(pool->host) != hipSuccess)
		ctx->hip.hipGetLastError();
	return ret;
}

int host_free(struct hcpool_ctx *ctx, const struct pool *pool)
{
	hipError_t hip = ctx->hip.hipHostFree(pool->host);
	int ret;

	if (hip == hipSuccess)
		return 0;
	ctx->hip.hipGetLastError();
	ret = error_set(-EIO, "hipHostFree of pool #%llu failed (%s, %d)",
			(unsigned long long)pool->id, hip_name(&ctx->hip, hip), (int)hip);
	error_hip(hip);
	return ret;
}
