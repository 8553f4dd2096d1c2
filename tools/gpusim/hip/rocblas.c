/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rocBLAS of the stand-in. A matrix product spends GPU time and computes nothing: 4 x 4096^3
 * products cannot be computed by a simulated machine within an iteration. The version string says
 * so, and everything that reports results carries it.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../../../allocator/src/rocblas_abi.h"
#include "backend.h"

/*
 * The modelled rate. 2.75e15 operations a second is the order of an MI355X's dense BF16 peak; one
 * 4096^3 product takes 50 us, the four of an iteration 0.2 ms.
 */
#define OPERATIONS_PER_NS 2.75e6

struct _rocblas_handle {
	hipStream_t stream;
};

ROCBLAS_CALLS(HIP_ABI_PROTOTYPE)

rocblas_status rocblas_create_handle(rocblas_handle *handle)
{
	if (!handle)
		return rocblas_status_invalid_pointer;
	if (gpusim_spend(0) != hipSuccess)
		return rocblas_status_internal_error;
	*handle = calloc(1, sizeof(**handle));
	return *handle ? rocblas_status_success : rocblas_status_memory_error;
}

rocblas_status rocblas_destroy_handle(rocblas_handle handle)
{
	if (!handle)
		return rocblas_status_invalid_handle;
	free(handle);
	return rocblas_status_success;
}

rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream)
{
	if (!handle)
		return rocblas_status_invalid_handle;
	handle->stream = stream;
	return rocblas_status_success;
}

rocblas_status rocblas_get_version_string(char *buf, size_t len)
{
	static const char text[] = "gemm: modelled";

	if (!buf)
		return rocblas_status_invalid_pointer;
	if (len < sizeof(text))
		return rocblas_status_invalid_size;
	snprintf(buf, len, "%s", text);
	return rocblas_status_success;
}

rocblas_status rocblas_gemm_ex ROCBLAS_GEMM_ARGS
{
	double operations = 2.0 * m * n * k;

	(void)trans_a, (void)trans_b, (void)a_type, (void)b_type, (void)c_type, (void)d_type;
	(void)beta, (void)compute_type, (void)algo, (void)solution_index, (void)flags;
	if (!handle)
		return rocblas_status_invalid_handle;
	if (m < 0 || n < 0 || k < 0 || lda < m || ldb < k || ldc < m || ldd < m)
		return rocblas_status_invalid_size;
	if (!a || !b || !c || !d || !alpha)
		return rocblas_status_invalid_pointer;
	if (gpusim_spend((uint64_t)(operations / OPERATIONS_PER_NS)) != hipSuccess)
		return rocblas_status_internal_error;
	return rocblas_status_success;
}
