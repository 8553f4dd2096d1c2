/* SPDX-License-Identifier: BSD-2-Clause */
/* HIP and rocBLAS, loaded at run time. */
#ifndef HCSTALL_GPU_H
#define HCSTALL_GPU_H

#include "../../allocator/src/rocblas_abi.h"
#include "err.h"
#include "options.h"
#include "result.h"

struct stall_gpu {
	void *hip_lib, *blas_lib;
	struct {
		HIP_WORK_CALLS(HIP_ABI_POINTER)
	} hip;
	struct {
		ROCBLAS_CALLS(HIP_ABI_POINTER)
	} blas;
};

/* Loads both libraries and starts HIP's device 0. On failure gpu needs no close. */
int stall_gpu_open(struct stall_gpu *gpu, const struct stall_options *opts, struct stall_err *err);
void stall_gpu_close(struct stall_gpu *gpu);

/* Fills result's device_name, gemm, gpu, gpus, driver and simulated. */
int stall_gpu_describe(struct stall_gpu *gpu, int root, struct stall_result *result,
		       struct stall_err *err);

/* 0, or fills err with the call's name and HIP's text and returns -1. */
int stall_hip_check(const struct stall_gpu *gpu, hipError_t hip, const char *call,
		    struct stall_err *err);
int stall_blas_check(rocblas_status status, const char *call, struct stall_err *err);

#endif
