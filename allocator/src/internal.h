/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of libhcpool share. Nothing of it is exported. */
#ifndef HCPOOL_INTERNAL_H
#define HCPOOL_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "../include/hcpool/hcpool.h"
#include "hip_abi.h"

/* The HIP functions of the runtime the process loaded. */
struct hip_runtime {
	void *handle; /* from dlopen(RTLD_NOLOAD): keeps the library loaded */
	char path[PATH_MAX];
	HIP_POOL_CALLS(HIP_ABI_POINTER)
};

struct pool {
	struct pool *next;
	hcpool_id id;
	enum hcpool_backing backing;
	void *host, *device;
	uint64_t bytes, reserved, huge_bytes;
	uint32_t flags; /* HCPOOL_HUGE_2M, HCPOOL_THP */
	uint32_t evidence;
};

struct hcpool_ctx {
	struct hip_runtime hip;
	int root; /* directory fd that stands for "/": /proc, /sys and /dev are read below it */
	pthread_mutex_t lock; /* protects the two below */
	struct pool *pools;
	hcpool_id last_id;
};

/* ---- error.c ---- */

/* Fills the thread's last error (hint and HIP code cleared) and returns `code`, a negative errno.
 */
int error_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the error just set. */
void error_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void error_hip(hipError_t hip);

/* ---- bind.c ---- */

int bind_loaded_runtime(struct hip_runtime *hip);
void unbind_runtime(struct hip_runtime *hip);

/* ---- hcpool.c ---- */

/* hcpool_open() with another root; takes ownership of the fd, also on failure. */
int context_open(struct hcpool_ctx **out, int root);

/* ---- gtt.c, userptr.c, registered.c: fill in everything of `pool` but id and next ---- */

int gtt_alloc(struct hcpool_ctx *ctx, struct pool *pool);
int userptr_alloc(struct hcpool_ctx *ctx, struct pool *pool);
int registered_alloc(struct hcpool_ctx *ctx, struct pool *pool);
int registered_release(struct hcpool_ctx *ctx, const struct pool *pool);

/* ---- hostmalloc.c: what gtt and userptr share ---- */

/* Decides by it, once, when HIP starts: exactly "0" means driver memory (libhsakmt fmm.c
 * hsakmt_fmm_init_process_apertures); unset, "" and "00" all mean user memory. */
#define USERPTR_ENV "HSA_USERPTR_FOR_PAGED_MEM"

bool env_says_gtt(void);

/*
 * hipHostMalloc() of exactly pool->bytes, `verify`, and the device pointer. `no_memory` is the hint
 * when HIP is out of memory. On failure nothing is left behind.
 */
int host_malloc(struct hcpool_ctx *ctx, struct pool *pool,
		int (*verify)(const struct hcpool_ctx *ctx, struct pool *pool),
		void (*no_memory)(const struct hcpool_ctx *ctx));
int host_free(struct hcpool_ctx *ctx, const struct pool *pool);

/* ---- verify.c: sets pool->evidence; -ENOTSUP with the reason as error when it is not so ---- */

int verify_gtt(const struct hcpool_ctx *ctx, struct pool *pool);
int verify_userptr(const struct hcpool_ctx *ctx, struct pool *pool);
/* Also sets huge_bytes when a flag asks for huge pages. */
int verify_registered(const struct hcpool_ctx *ctx, struct pool *pool);

/* ---- thp.c ---- */

/* Bytes of the mappings inside [lo, hi) that a huge page of the page cache or of anonymous memory
 * maps. 0 or a negative errno. */
int thp_bytes(int root, uint64_t lo, uint64_t hi, uint64_t *bytes);

/* ---- capacity.c ---- */

/* Three lines or fewer about GTT: how much there is, and where its limit comes from. */
void capacity_describe(int root, char *text, size_t size);

#define HUGE_2M ((uint64_t)2 << 20)

/* `bytes` rounded up to whole pages; 0 when that overflows. */
uint64_t round_to_pages(uint64_t bytes);

/* Name of a HIP error; never NULL. */
const char *hip_name(const struct hip_runtime *hip, hipError_t error);

#endif
