/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "../../allocator/include/hcpool/iteration.h"
#include "../../bpf/hcwatch_abi.h"
#include "../../user/sys/sys.h"
#include "work.h"

/* 0x3c3c is 0.0115 in BF16: finite and not zero, so a product is ordinary work */
#define MATRIX_FILL 0x3c

static int device_alloc(const struct stall_gpu *gpu, void **ptr, size_t bytes,
			struct stall_err *err)
{
	return stall_hip_check(gpu, gpu->hip.hipMalloc(ptr, bytes), "hipMalloc", err);
}

static int open_matrices(struct stall_work *work, struct stall_err *err)
{
	const size_t bytes = (size_t)work->gemm_n * (size_t)work->gemm_n * sizeof(uint16_t);
	const struct stall_gpu *gpu = work->gpu;

	if (device_alloc(gpu, &work->a, bytes, err) || device_alloc(gpu, &work->b, bytes, err) ||
	    device_alloc(gpu, &work->d, bytes, err))
		return -1;
	if (stall_hip_check(gpu, gpu->hip.hipMemset(work->a, MATRIX_FILL, bytes), "hipMemset", err))
		return -1;
	return stall_hip_check(gpu, gpu->hip.hipMemset(work->b, MATRIX_FILL, bytes), "hipMemset",
			       err);
}

static int open_blas(struct stall_work *work, struct stall_err *err)
{
	const struct stall_gpu *gpu = work->gpu;

	if (stall_hip_check(gpu, gpu->hip.hipStreamCreate(&work->stream), "hipStreamCreate", err) ||
	    stall_blas_check(gpu->blas.rocblas_create_handle(&work->blas), "rocblas_create_handle",
			     err))
		return -1;
	return stall_blas_check(gpu->blas.rocblas_set_stream(work->blas, work->stream),
				"rocblas_set_stream", err);
}

int stall_work_open(struct stall_work *work, const struct stall_options *opts,
		    const struct stall_gpu *gpu, const struct stall_pool *pool,
		    struct stall_err *err)
{
	memset(work, 0, sizeof(*work));
	work->gpu = gpu;
	work->next_id = 1;
	work->source = pool->info.host;
	work->gemm_n = (int)opts->gemm_n;
	work->bytes = pool->info.bytes < opts->copy_bytes ? pool->info.bytes : opts->copy_bytes;
	work->bytes &= ~(size_t)7;
	work->back = malloc(work->bytes);
	if (!work->back)
		stall_fail(err, HCW_EXIT_UNSUPPORTED, "no memory for a copy");
	else if (!open_blas(work, err) && !open_matrices(work, err) &&
		 !device_alloc(gpu, &work->copy, work->bytes, err))
		return 0;
	stall_work_close(work);
	return -1;
}

void stall_work_close(struct stall_work *work)
{
	const struct stall_gpu *gpu = work->gpu;

	if (work->blas)
		gpu->blas.rocblas_destroy_handle(work->blas);
	if (work->stream)
		gpu->hip.hipStreamDestroy(work->stream);
	gpu->hip.hipFree(work->a);
	gpu->hip.hipFree(work->b);
	gpu->hip.hipFree(work->d);
	gpu->hip.hipFree(work->copy);
	free(work->back);
	memset(work, 0, sizeof(*work));
}

static int product(struct stall_work *work, struct stall_err *err)
{
	const float alpha = 1.0f, beta = 0.0f;
	const rocblas_datatype type = rocblas_datatype_bf16_r;
	const int n = work->gemm_n;
	rocblas_status status;

	status = work->gpu->blas.rocblas_gemm_ex(
		work->blas, rocblas_operation_none, rocblas_operation_none, n, n, n, &alpha,
		work->a, type, n, work->b, type, n, &beta, work->d, type, n, work->d, type, n,
		rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0, 0);
	return stall_blas_check(status, "rocblas_gemm_ex", err);
}

int stall_work_run(struct stall_work *work, struct stall_err *err)
{
	const struct stall_gpu *gpu = work->gpu;
	hipError_t hip;
	int i;

	for (i = 0; i < STALL_GEMMS; i++)
		if (product(work, err))
			return -1;
	hip = gpu->hip.hipMemcpyAsync(work->copy, work->source, work->bytes, hipMemcpyHostToDevice,
				      work->stream);
	if (stall_hip_check(gpu, hip, "hipMemcpyAsync", err))
		return -1;
	return stall_hip_check(gpu, gpu->hip.hipStreamSynchronize(work->stream),
			       "hipStreamSynchronize", err);
}

int stall_work_iterate(struct stall_work *work, bool *over, uint64_t *begin_ns, uint64_t *end_ns,
		       struct stall_err *err)
{
	uint64_t id = work->next_id++;
	int ret;

	*begin_ns = hcs_boot_ns();
	hcwatch_iteration_begin(id);
	ret = stall_work_run(work, err);
	if (!ret)
		ret = stall_ranks_meet(work->ranks, work->rank, over, err);
	hcwatch_iteration_end(id);
	*end_ns = hcs_boot_ns();
	return ret;
}

void stall_work_refill(struct stall_work *work, uint64_t seed)
{
	stall_pattern_write(work->source, work->bytes, seed);
}

int stall_work_check(struct stall_work *work, uint64_t seed, bool *ok, struct stall_err *err)
{
	const struct stall_gpu *gpu = work->gpu;
	hipError_t hip;

	memset(work->back, 0, work->bytes);
	hip = gpu->hip.hipMemcpy(work->back, work->copy, work->bytes, hipMemcpyDeviceToHost);
	if (stall_hip_check(gpu, hip, "hipMemcpy", err))
		return -1;
	*ok = stall_pattern_ok(work->back, work->bytes, seed);
	return 0;
}
