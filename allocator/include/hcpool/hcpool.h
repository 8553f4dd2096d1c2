/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhcpool: host memory pools for AMD GPUs that say what they are really made of.
 *
 * A GPU can work from host memory in three ways that matter here:
 *
 *  gtt         memory the driver owns (hipHostMalloc with HSA_USERPTR_FOR_PAGED_MEM=0). The kernel
 *              refuses to migrate its pages, so page migration cannot stop the GPU's queues.
 *  registered  ordinary shared memory made known to the GPU (hipHostRegister). Every page
 *              migration in it stops all queues of the process until the whole pool is revalidated.
 *  userptr     what hipHostMalloc gives without that variable: ordinary memory that the runtime
 *maps and registers itself. Exposed like registered memory; here to be measured against.
 *
 * hcpool_alloc() makes exactly the kind asked for and checks the result against the kernel's view
 * of the mapping; it never falls back to another kind.
 *
 *	struct hcpool_ctx *ctx;
 *	struct hcpool_info info = { .size = sizeof(info) };
 *	struct hcpool_options opts = { .size = sizeof(opts), .backing = HCPOOL_GTT, .bytes = n };
 *	hcpool_id id;
 *
 *	if (hcpool_open(&ctx) || hcpool_alloc(ctx, &opts, &id) || hcpool_query(ctx, id, &info))
 *		die(hcpool_last_error());
 *	... work with info.host ...
 *	hcpool_free(ctx, id);
 *	hcpool_close(ctx);
 *
 * The HIP runtime is the one the process has already loaded; the library never loads one. It needs
 * nothing but libc, prints nothing and never ends the process.
 *
 * Threads: every function may be called by any thread at any time, with two exceptions:
 * hcpool_close() must not run while another thread uses the same context, and a forked child must
 * not use its parent's contexts (HIP does not survive fork).
 *
 * Errors: functions return 0, or a negative errno, and then hcpool_last_error() tells the rest.
 *
 * Tracing: USDT marks hcpool:alloc(ptr, bytes, backing), after a pool was verified, and
 * hcpool:free(ptr), before its memory is given back; hcwatch reads them.
 */
#ifndef HCPOOL_HCPOOL_H
#define HCPOOL_HCPOOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HCPOOL_API __attribute__((visibility("default")))

/* A single allocation must be smaller: amdgpu's page directory for it is one kernel allocation of
 * 16 bytes a page, and the kernel refuses those above INT_MAX (drivers/gpu/drm/ttm/ttm_tt.c
 * ttm_dma_tt_alloc_page_directory; on MI355X 512 GiB - 4 KiB works and 512 GiB does not). */
#define HCPOOL_GTT_MAX_BYTES ((uint64_t)512 << 30)

enum hcpool_backing {
	HCPOOL_GTT = 1,
	HCPOOL_REGISTERED = 2,
	HCPOOL_USERPTR = 3,
};

/* Bits of hcpool_options.flags, for registered pools; at most one of them. */
enum hcpool_flags {
	/* 2 MiB pages of hugetlb, which must have been reserved (vm.nr_hugepages) */
	HCPOOL_HUGE_2M = 0x1,
	/* transparent huge pages; shared memory has them only where shmem_enabled allows it */
	HCPOOL_THP = 0x2,
};

/* How the backing was verified; bits of hcpool_info.evidence. */
enum hcpool_evidence {
	/* madvise(MADV_DODUMP) on the first and last page: refused (gtt), accepted (the others)
	 */
	HCPOOL_BY_PAGES = 0x1,
	/* /proc/self/maps covers the range without a gap: all /dev/dri/renderD* (gtt), all shared
	 * (registered), none /dev/dri/renderD* (userptr) */
	HCPOOL_BY_MAPS = 0x2,
	/* /proc/self/smaps: VmFlags io or pf for the whole range (gtt); ht for the whole range
	 * (HCPOOL_HUGE_2M) */
	HCPOOL_BY_VMFLAGS = 0x4,
};

/* A HIP runtime bound for use. Opaque. */
struct hcpool_ctx;

/* A pool of one context. Never 0, never used twice in that context. */
typedef uint64_t hcpool_id;

struct hcpool_options {
	size_t size;		     /* in: sizeof(struct hcpool_options) */
	enum hcpool_backing backing; /* in */
	uint64_t bytes;		     /* in: 1 or more; gtt: less than HCPOOL_GTT_MAX_BYTES */
	uint32_t flags;		     /* in: HCPOOL_HUGE_2M or HCPOOL_THP; 0 otherwise */
	uint32_t reserved;	     /* in: 0 */
};

/* Size of the structure before `flags` was added; accepted for ever. */
#define HCPOOL_OPTIONS_SIZE_0 (offsetof(struct hcpool_options, flags))

struct hcpool_info {
	size_t size;		     /* in: sizeof(struct hcpool_info); that much is written */
	enum hcpool_backing backing; /* verified, not just asked for */
	uint32_t evidence;	     /* HCPOOL_BY_* */
	void *host;		     /* page aligned; valid until hcpool_free() */
	void *device;	/* the same memory as the GPU sees it; for device work only. May differ from
			 * `host`, and offsets are valid inside this pool only */
	uint64_t bytes; /* as requested, and as passed to HIP */
	uint64_t reserved;   /* taken from the system: bytes rounded up to whole pages */
	uint64_t huge_bytes; /* of it mapped by huge pages, told when a flag asked for them */
};

/* Why the calling thread's last failed call failed. */
struct hcpool_error {
	int code;	/* the negative errno that was returned, 0 when no call has failed yet */
	int hip;	/* hipError_t, 0 when HIP was not the reason */
	char what[512]; /* what failed and why, one line */
	char hint[512]; /* what to do about it; "" or one or more lines */
};

/*
 * Binds the HIP runtime that is loaded in this process.
 *
 *  -ENOENT   no libamdhip64.so is loaded
 *  -EEXIST   two different ones are loaded; the message names both
 *  -ENOSYS   it lacks a function; the message names it
 *  -ENOMEM, -EMFILE …
 */
HCPOOL_API int hcpool_open(struct hcpool_ctx **out);

/*
 * Ends a context; NULL is ignored. -EBUSY, with nothing done, while it has pools. The runtime
 * stays loaded.
 */
HCPOOL_API int hcpool_close(struct hcpool_ctx *ctx);

/* Path of the runtime the context is bound to; owned by the context. */
HCPOOL_API const char *hcpool_runtime_path(const struct hcpool_ctx *ctx);

/*
 * Makes a pool. On failure nothing is left behind, no other backing is tried, and HIP's own sticky
 * last error is cleared, so that later HIP calls of the application do not report it.
 *
 * gtt: one hipHostMalloc() of exactly `bytes`, flags 0. Memory is zeroed by the driver.
 * registered: anonymous MAP_SHARED memory, all pages populated, one hipHostRegister() of exactly
 * `bytes`, flags 0. Takes seconds for large pools.
 * userptr: as gtt, with the variable unset or anything but "0".
 *
 *  -EINVAL     a bad option
 *  -EPERM      gtt: HSA_USERPTR_FOR_PAGED_MEM is not exactly "0"; userptr: it is. HIP was not
 * called -EFBIG      gtt: HCPOOL_GTT_MAX_BYTES or more -ENOMEM     no memory of this kind; for gtt
 * the hint has the driver's total, used and free; also too few reserved huge pages -EIO another HIP
 * error (see hcpool_error.hip) -ENOTSUP    the memory is of another kind than asked for; also no
 * transparent huge page
 */
HCPOOL_API int hcpool_alloc(struct hcpool_ctx *ctx, const struct hcpool_options *opts,
			    hcpool_id *out);

/* Tells about a pool. -EINVAL: no such pool. -EALREADY: it was freed. */
HCPOOL_API int hcpool_query(struct hcpool_ctx *ctx, hcpool_id id, struct hcpool_info *info);

/*
 * Frees a pool; the caller makes sure that no GPU work uses it any more. Of several calls for one
 * pool exactly one frees it; the others get -EALREADY. -EINVAL: no such pool. -EIO: HIP refused;
 * the pool is gone all the same, and memory still registered stays mapped, because a GPU that works
 * from unmapped memory faults.
 */
HCPOOL_API int hcpool_free(struct hcpool_ctx *ctx, hcpool_id id);

/* Never NULL. Valid until the thread's next failing call or its end. */
HCPOOL_API const struct hcpool_error *hcpool_last_error(void);

/* "gtt", "registered", "userptr", or "unknown". */
HCPOOL_API const char *hcpool_backing_name(enum hcpool_backing backing);

/* "major.minor.patch" */
HCPOOL_API const char *hcpool_version(void);

#ifdef __cplusplus
}
#endif

#endif
