/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools the driver owns: hipHostMalloc with USERPTR switched off. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define USERPTR_ENV "HSA_USERPTR_FOR_PAGED_MEM"

/*
 * The thunk takes GTT only when the variable is exactly "0" (fmm.c
 * hsakmt_fmm_init_process_apertures): unset, "" and "00" all mean USERPTR.
 */
static int check_environment(void)
{
	const char *value = getenv(USERPTR_ENV);
	int ret;

	if (value && !strcmp(value, "0"))
		return 0;
	if (value)
		ret = error_set(-EPERM, "gtt needs " USERPTR_ENV "=0, it is \"%.100s\"", value);
	else
		ret = error_set(-EPERM, "gtt needs " USERPTR_ENV "=0, it is not set");
	error_hint("export " USERPTR_ENV "=0 before the process starts; HIP reads it once");
	return ret;
}

static int out_of_memory(const struct hcpool_ctx *ctx, uint64_t bytes, hipError_t hip)
{
	char capacity[320];
	int ret;

	capacity_describe(ctx->root, capacity, sizeof(capacity));
	ret = error_set(-ENOMEM, "hipHostMalloc of %llu bytes failed (%s, %d)",
			(unsigned long long)bytes, hip_name(&ctx->hip, hip), (int)hip);
	error_hint("host memory (GTT), not VRAM: %s\nreduce --hicache-size, or unset " USERPTR_ENV,
		   capacity);
	error_hip(hip);
	return ret;
}

static int malloc_failed(const struct hcpool_ctx *ctx, uint64_t bytes, hipError_t hip)
{
	int ret;

	/* HIP keeps the error for whoever asks next; that must not be the application. */
	ctx->hip.hipGetLastError();
	if (hip == hipErrorOutOfMemory)
		return out_of_memory(ctx, bytes, hip);
	ret = error_set(-EIO, "hipHostMalloc of %llu bytes failed (%s, %d)",
			(unsigned long long)bytes, hip_name(&ctx->hip, hip), (int)hip);
	error_hip(hip);
	return ret;
}

static int device_pointer(const struct hcpool_ctx *ctx, struct pool *pool)
{
	hipError_t hip = ctx->hip.hipHostGetDevicePointer(&pool->device, pool->host, 0);
	int ret;

	if (hip == hipSuccess)
		return 0;
	ctx->hip.hipGetLastError();
	ret = error_set(-EIO, "hipHostGetDevicePointer of a gtt pool failed (%s, %d)",
			hip_name(&ctx->hip, hip), (int)hip);
	error_hip(hip);
	return ret;
}

int gtt_alloc(struct hcpool_ctx *ctx, struct pool *pool)
{
	hipError_t hip;
	int ret = check_environment();

	if (ret)
		return ret;
	if (pool->bytes >= HCPOOL_GTT_MAX_BYTES) {
		ret = error_set(-EFBIG,
				"a gtt pool of %llu bytes: one allocation must be below 512 GiB",
				(unsigned long long)pool->bytes);
		error_hint("amdgpu cannot describe more pages in one buffer; use several pools");
		return ret;
	}
	hip = ctx->hip.hipHostMalloc(&pool->host, pool->bytes, hipHostMallocDefault);
	if (hip != hipSuccess)
		return malloc_failed(ctx, pool->bytes, hip);
	if (!pool->host)
		return error_set(-EIO, "hipHostMalloc succeeded but gave no memory");
	ret = verify_gtt(ctx, pool);
	if (!ret)
		ret = device_pointer(ctx, pool);
	/* The reason for giving up is the error to report, whatever the free says. */
	if (ret && ctx->hip.hipHostFree(pool->host) != hipSuccess)
		ctx->hip.hipGetLastError();
	return ret;
}

int gtt_release(struct hcpool_ctx *ctx, const struct pool *pool)
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
