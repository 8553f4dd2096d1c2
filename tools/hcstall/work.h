/* SPDX-License-Identifier: BSD-2-Clause */
/* The GPU work of one iteration: four matrix products, a copy from the pool, and a wait. */
#ifndef HCSTALL_WORK_H
#define HCSTALL_WORK_H

#include "gpu.h"
#include "pool.h"
#include "ranks.h"

#define STALL_GEMMS 4

struct stall_work {
	const struct stall_gpu *gpu;
	hipStream_t stream;
	rocblas_handle blas;
	void *a, *b, *d; /* BF16 matrices on the GPU */
	void *copy;	 /* on the GPU, the copy from the pool */
	void *back;	 /* host memory, the copy of the copy */
	void *source;	 /* start of the pool */
	size_t bytes;	 /* copied: opts->copy_bytes, or the whole of a smaller pool */
	int gemm_n;
	struct stall_ranks *ranks; /* NULL = alone */
	unsigned int rank;
	uint64_t next_id; /* of the next marked iteration; ranks have ranges of their own */
};

/* On failure work needs no close. */
int stall_work_open(struct stall_work *work, const struct stall_options *opts,
		    const struct stall_gpu *gpu, const struct stall_pool *pool,
		    struct stall_err *err);
void stall_work_close(struct stall_work *work);

/* One iteration without marks and without the other ranks. */
int stall_work_run(struct stall_work *work, struct stall_err *err);

/*
 * One iteration with USDT marks, the wait for the other ranks in it; begin and end are
 * CLOCK_BOOTTIME ns. *over as in stall_ranks_meet().
 */
int stall_work_iterate(struct stall_work *work, bool *over, uint64_t *begin_ns, uint64_t *end_ns,
		       struct stall_err *err);

/* Writes the pool's copied part with the pattern of a seed. */
void stall_work_refill(struct stall_work *work, uint64_t seed);

/* Reads the last iteration's copy back; *ok says whether it is that pattern. */
int stall_work_check(struct stall_work *work, uint64_t seed, bool *ok, struct stall_err *err);

#endif
