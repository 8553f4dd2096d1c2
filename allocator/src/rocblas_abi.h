/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rocBLAS declarations hcstall uses, in the manner of hip_abi.h. The C ABI of rocblas_gemm_ex
 * is bound and not hipBLAS, which changed the meaning of its data type arguments between its
 * versions. Source: rocblas-functions.h and rocblas-types.h of rocBLAS 6.4.4. In newer headers
 * rocblas_gemm_ex is a macro as well; the exported symbol is the function.
 */
#ifndef HCPOOL_ROCBLAS_ABI_H
#define HCPOOL_ROCBLAS_ABI_H

#include <stddef.h>
#include <stdint.h>
#include "hip_abi.h"

typedef struct _rocblas_handle *rocblas_handle;
typedef int32_t rocblas_int;

typedef enum rocblas_status {
	rocblas_status_success = 0,
	rocblas_status_invalid_handle = 1,
	rocblas_status_not_implemented = 2,
	rocblas_status_invalid_pointer = 3,
	rocblas_status_invalid_size = 4,
	rocblas_status_memory_error = 5,
	rocblas_status_internal_error = 6,
} rocblas_status;

typedef enum rocblas_operation {
	rocblas_operation_none = 111,
} rocblas_operation;

typedef enum rocblas_datatype {
	rocblas_datatype_f32_r = 151, /* also the compute type, with float alpha and beta */
	rocblas_datatype_bf16_r = 168,
} rocblas_datatype;

typedef enum rocblas_gemm_algo {
	rocblas_gemm_algo_standard = 0,
} rocblas_gemm_algo;

/* d = alpha * op(a) * op(b) + beta * c, column major */
#define ROCBLAS_GEMM_ARGS                                                                  \
	(rocblas_handle handle, rocblas_operation trans_a, rocblas_operation trans_b,      \
	 rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha, const void *a,    \
	 rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type, \
	 rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type,        \
	 rocblas_int ldc, void *d, rocblas_datatype d_type, rocblas_int ldd,               \
	 rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index,    \
	 uint32_t flags)

#define ROCBLAS_CALLS(X)                                                                   \
	X(rocblas_status, rocblas_create_handle, (rocblas_handle * handle))                \
	X(rocblas_status, rocblas_destroy_handle, (rocblas_handle handle))                 \
	X(rocblas_status, rocblas_set_stream, (rocblas_handle handle, hipStream_t stream)) \
	X(rocblas_status, rocblas_get_version_string, (char *buf, size_t len))             \
	X(rocblas_status, rocblas_gemm_ex, ROCBLAS_GEMM_ARGS)

#endif
