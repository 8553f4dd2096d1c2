/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools the driver owns: hipHostMalloc with USERPTR switched off. */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"

static int check_environment(void)
{
	const char *value = getenv(USERPTR_ENV);
	int ret;

	if (env_says_gtt())
		return 0;
	if (value)
		ret = error_set(-EPERM, "gtt needs " USERPTR_ENV "=0, it is \"%.100s\"", value);
	else
		ret = error_set(-EPERM, "gtt needs " USERPTR_ENV "=0, it is not set");
	error_hint("export " USERPTR_ENV "=0 before the process starts; HIP reads it once");
	return ret;
}

static void no_memory(const struct hcpool_ctx *ctx)
{
	char capacity[320];

	capacity_describe(ctx->root, capacity, sizeof(capacity));
	error_hint("host memory (GTT), not VRAM: %s\nreduce --hicache-size, or unset " USERPTR_ENV,
		   capacity);
}

int gtt_alloc(struct hcpool_ctx *ctx, struct pool *pool)
{
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
	return host_malloc(ctx, pool, verify_gtt, no_memory);
}
