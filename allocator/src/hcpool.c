/* SPDX-License-Identifier: BSD-2-Clause */
/* The public calls: contexts, and the list of live pools that makes every pool freed once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../user/sys/sys.h"
#include "internal.h"
#include "usdt.h"

#define BACKINGS 4

static const struct {
	int (*alloc)(struct hcpool_ctx *ctx, struct pool *pool);
	int (*release)(struct hcpool_ctx *ctx, const struct pool *pool);
} backings[BACKINGS] = {
	[HCPOOL_GTT] = {gtt_alloc, host_free},
	[HCPOOL_REGISTERED] = {registered_alloc, registered_release},
	[HCPOOL_USERPTR] = {userptr_alloc, host_free},
};

const char *hcpool_version(void)
{
	return HCW_VERSION;
}

const char *hcpool_backing_name(enum hcpool_backing backing)
{
	switch (backing) {
	case HCPOOL_GTT:
		return "gtt";
	case HCPOOL_REGISTERED:
		return "registered";
	case HCPOOL_USERPTR:
		return "userptr";
	}
	return "unknown";
}

uint64_t round_to_pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (bytes > UINT64_MAX - page)
		return 0;
	return (bytes + page - 1) & ~(page - 1);
}

int context_open(struct hcpool_ctx **out, int root)
{
	struct hcpool_ctx *ctx;
	int ret;

	ctx = calloc(1, sizeof(*ctx));
	if (!ctx) {
		close(root);
		return error_set(-ENOMEM, "no memory for a context");
	}
	ctx->root = root;
	ret = bind_loaded_runtime(&ctx->hip);
	if (ret) {
		close(root);
		free(ctx);
		return ret;
	}
	pthread_mutex_init(&ctx->lock, NULL);
	*out = ctx;
	return 0;
}

int hcpool_open(struct hcpool_ctx **out)
{
	int root;

	if (!out)
		return error_set(-EINVAL, "hcpool_open: no place for the context");
	root = hcs_root();
	if (root < 0)
		return error_set(root, "cannot open /: %s", strerror(-root));
	return context_open(out, root);
}

int hcpool_close(struct hcpool_ctx *ctx)
{
	if (!ctx)
		return 0;
	if (ctx->pools)
		return error_set(-EBUSY, "the context still has pools");
	unbind_runtime(&ctx->hip);
	close(ctx->root);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
	return 0;
}

const char *hcpool_runtime_path(const struct hcpool_ctx *ctx)
{
	return ctx->hip.path;
}

static int check_flags(const struct hcpool_options *opts)
{
	if (opts->flags & ~(uint32_t)(HCPOOL_HUGE_2M | HCPOOL_THP) || opts->reserved)
		return error_set(-EINVAL, "unknown flags 0x%x", (unsigned int)opts->flags);
	if (opts->flags && opts->backing != HCPOOL_REGISTERED)
		return error_set(-EINVAL, "huge pages can be asked for in registered pools only");
	if (opts->flags == (HCPOOL_HUGE_2M | HCPOOL_THP))
		return error_set(-EINVAL, "huge pages of two kinds at once");
	return 0;
}

/* `out` is all of it, whatever version of the header the caller was built with. */
static int check_options(const struct hcpool_options *in, struct hcpool_options *opts)
{
	if (!in || in->size < HCPOOL_OPTIONS_SIZE_0)
		return error_set(-EINVAL, "hcpool_options.size is not set");
	memset(opts, 0, sizeof(*opts));
	memcpy(opts, in, in->size < sizeof(*opts) ? HCPOOL_OPTIONS_SIZE_0 : sizeof(*opts));
	if (!backings[opts->backing < BACKINGS ? opts->backing : 0].alloc)
		return error_set(-EINVAL, "unknown backing %d", (int)opts->backing);
	if (check_flags(opts))
		return -EINVAL;
	if (!opts->bytes)
		return error_set(-EINVAL, "a pool of 0 bytes");
	if (opts->bytes > PTRDIFF_MAX || !round_to_pages(opts->bytes))
		return error_set(-EINVAL, "a pool of %llu bytes does not fit an address space",
				 (unsigned long long)opts->bytes);
	return 0;
}

static void add_pool(struct hcpool_ctx *ctx, struct pool *pool)
{
	pthread_mutex_lock(&ctx->lock);
	pool->id = ++ctx->last_id;
	pool->next = ctx->pools;
	ctx->pools = pool;
	pthread_mutex_unlock(&ctx->lock);
}

int hcpool_alloc(struct hcpool_ctx *ctx, const struct hcpool_options *options, hcpool_id *out)
{
	struct hcpool_options opts;
	struct pool *pool;
	int ret = check_options(options, &opts);

	if (ret)
		return ret;
	if (!ctx || !out)
		return error_set(-EINVAL, "hcpool_alloc: no context, or no place for the pool");
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return error_set(-ENOMEM, "no memory for a pool's description");
	pool->backing = opts.backing;
	pool->bytes = opts.bytes;
	pool->flags = opts.flags;
	pool->reserved = round_to_pages(opts.bytes);
	ret = backings[opts.backing].alloc(ctx, pool);
	if (ret) {
		free(pool);
		return ret;
	}
	usdt_alloc((uintptr_t)pool->host, pool->bytes, pool->backing);
	/* Only from here on can another thread free it. */
	add_pool(ctx, pool);
	*out = pool->id;
	return 0;
}

/* The link that points to the pool, or NULL. Called with the lock held. */
static struct pool **find_pool(struct hcpool_ctx *ctx, hcpool_id id)
{
	struct pool **link;

	for (link = &ctx->pools; *link; link = &(*link)->next)
		if ((*link)->id == id)
			return link;
	return NULL;
}

static int no_pool(hcpool_id id, hcpool_id last_id)
{
	if (id && id <= last_id)
		return error_set(-EALREADY, "pool #%llu was already freed", (unsigned long long)id);
	return error_set(-EINVAL, "there is no pool #%llu", (unsigned long long)id);
}

int hcpool_query(struct hcpool_ctx *ctx, hcpool_id id, struct hcpool_info *info)
{
	struct hcpool_info full;
	struct pool **link;
	hcpool_id last_id;

	if (!ctx || !info || info->size < sizeof(info->size))
		return error_set(-EINVAL, "hcpool_query: no context, or hcpool_info.size not set");
	memset(&full, 0, sizeof(full));
	pthread_mutex_lock(&ctx->lock);
	link = find_pool(ctx, id);
	if (link) {
		full.backing = (*link)->backing;
		full.evidence = (*link)->evidence;
		full.host = (*link)->host;
		full.device = (*link)->device;
		full.bytes = (*link)->bytes;
		full.reserved = (*link)->reserved;
		full.huge_bytes = (*link)->huge_bytes;
	}
	last_id = ctx->last_id;
	pthread_mutex_unlock(&ctx->lock);
	if (!link)
		return no_pool(id, last_id);
	full.size = info->size < sizeof(full) ? info->size : sizeof(full);
	memcpy(info, &full, full.size);
	return 0;
}

int hcpool_free(struct hcpool_ctx *ctx, hcpool_id id)
{
	struct pool *pool = NULL, **link;
	hcpool_id last_id;
	int ret;

	if (!ctx)
		return error_set(-EINVAL, "hcpool_free: no context");
	pthread_mutex_lock(&ctx->lock);
	link = find_pool(ctx, id);
	if (link) {
		pool = *link;
		*link = pool->next;
	}
	last_id = ctx->last_id;
	pthread_mutex_unlock(&ctx->lock);
	if (!pool)
		return no_pool(id, last_id);
	usdt_free((uintptr_t)pool->host);
	ret = backings[pool->backing].release(ctx, pool);
	free(pool);
	return ret;
}
