/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools as hipHostMalloc makes them by default: user memory that the runtime registers itself. */
#include <errno.h>
#include "internal.h"

static void no_memory(const struct hcpool_ctx *ctx)
{
	(void)ctx;
	error_hint(
		"ordinary host memory, not GTT: see MemAvailable in /proc/meminfo, and KFD's own "
		"limit\n(System mem used in /sys/kernel/debug/kfd/mem_limit); ask for less");
}

int userptr_alloc(struct hcpool_ctx *ctx, struct pool *pool)
{
	int ret;

	if (!env_says_gtt())
		return host_malloc(ctx, pool, verify_userptr, no_memory);
	ret = error_set(-EPERM, "userptr needs " USERPTR_ENV " unset, it is \"0\"");
	error_hint("with 0, hipHostMalloc gives driver memory: unset it before the process starts");
	return ret;
}
