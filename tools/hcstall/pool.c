/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "pool.h"
#include "stop.h"

_Static_assert((int)HCPOOL_GTT == (int)HCW_BACKING_GTT, "backing");
_Static_assert((int)HCPOOL_REGISTERED == (int)HCW_BACKING_REGISTERED, "backing");
_Static_assert((int)HCPOOL_USERPTR == (int)HCW_BACKING_USERPTR, "backing");

/* A bijective mix: different places have different values, and so have different seeds. */
static uint64_t pattern(uint64_t place, uint64_t seed)
{
	uint64_t x = place + (seed << 44);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

void stall_pattern_write(void *mem, size_t bytes, uint64_t seed)
{
	uint64_t *word = mem;
	size_t i;

	for (i = 0; i < bytes / sizeof(*word); i++)
		word[i] = pattern(i, seed);
}

bool stall_pattern_ok(const void *mem, size_t bytes, uint64_t seed)
{
	const uint64_t *word = mem;
	size_t i;

	for (i = 0; i < bytes / sizeof(*word); i++)
		if (word[i] != pattern(i, seed))
			return false;
	return true;
}

/*
 * One word a page is enough to have a page of its own everywhere: an unwritten page answers a move
 * with -EFAULT or -ENOENT, which would look like memory that cannot be moved.
 */
static int write_pages(const struct stall_pool *pool, struct stall_err *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *mem = pool->info.host;
	uint64_t at;

	for (at = 0; at < pool->info.reserved; at += page) {
		*(volatile uint64_t *)(mem + at) = pattern(at / sizeof(uint64_t), 0);
		if (!(at % (64 << 20)) && stall_stopped())
			return stall_fail(err, HCW_EXIT_INCOMPLETE, "stopped by a signal");
	}
	return 0;
}

static int pool_failed(struct stall_err *err)
{
	const struct hcpool_error *e = hcpool_last_error();
	int code = HCW_EXIT_UNSUPPORTED;

	if (e->code == -EINVAL || e->code == -EFBIG)
		code = HCW_EXIT_USAGE;
	else if (e->code == -EPERM || e->code == -EACCES)
		code = HCW_EXIT_PERMISSION;
	stall_fail(err, code, "%s", e->what);
	stall_hint(err, "%s", e->hint);
	return -1;
}

int stall_pool_open(struct stall_pool *pool, const struct stall_options *opts,
		    struct stall_err *err)
{
	struct hcpool_options want = {.size = sizeof(want),
				      .backing = opts->backing,
				      .bytes = opts->pool_bytes,
				      .flags = opts->pool_flags};
	struct stall_err ignored;

	memset(pool, 0, sizeof(*pool));
	pool->info.size = sizeof(pool->info);
	if (hcpool_open(&pool->ctx))
		return pool_failed(err);
	if (hcpool_alloc(pool->ctx, &want, &pool->id)) {
		pool_failed(err);
		hcpool_close(pool->ctx);
		return -1;
	}
	if (hcpool_query(pool->ctx, pool->id, &pool->info))
		pool_failed(err);
	else if (!write_pages(pool, err))
		return 0;
	stall_pool_close(pool, &ignored);
	return -1;
}

int stall_pool_close(struct stall_pool *pool, struct stall_err *err)
{
	int ret = 0;

	if (hcpool_free(pool->ctx, pool->id))
		ret = pool_failed(err);
	if (hcpool_close(pool->ctx))
		ret = pool_failed(err);
	return ret;
}
