/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one list of HIP declarations this project uses. HIP is bound at run time, never linked, and
 * no HIP header is needed to build. Used by libhcpool, by hcstall and by the test GPU's stand-in
 * (tools/gpusim/hip), so that the three cannot disagree.
 *
 * Source: hip_runtime_api.h of ROCm 5.2.3, compared by the compiler; what ROCm/clr of October 2024
 * says in hip_memory.cpp is the same. Functions whose meaning changed between releases under one
 * name (hipGetDeviceProperties, hipPointerGetAttributes) are avoided on purpose.
 *
 * HIP_..._VALUES(X): X(name, value). HIP_POOL_CALLS(X) is what libhcpool needs, HIP_WORK_CALLS(X)
 * what hcstall needs on top: X(result type, name, (parameters)). A conformance test can define
 * HIP_ABI_LISTS_ONLY, include AMD's header and compare with the lists.
 */
#ifndef HCPOOL_HIP_ABI_H
#define HCPOOL_HIP_ABI_H

#include <stddef.h>

#define HIP_ERROR_VALUES(X)                         \
	X(hipSuccess, 0)                            \
	X(hipErrorInvalidValue, 1)                  \
	X(hipErrorOutOfMemory, 2)                   \
	X(hipErrorNotInitialized, 3)                \
	X(hipErrorNoDevice, 100)                    \
	X(hipErrorInvalidDevice, 101)               \
	X(hipErrorInvalidHandle, 400)               \
	X(hipErrorHostMemoryAlreadyRegistered, 712) \
	X(hipErrorHostMemoryNotRegistered, 713)     \
	X(hipErrorUnknown, 999)

#define HIP_COPY_VALUES(X)            \
	X(hipMemcpyHostToHost, 0)     \
	X(hipMemcpyHostToDevice, 1)   \
	X(hipMemcpyDeviceToHost, 2)   \
	X(hipMemcpyDeviceToDevice, 3) \
	X(hipMemcpyDefault, 4)

/* Flags of hipHostMalloc and hipHostRegister; macros in AMD's header. */
#define HIP_FLAG_VALUES(X)                       \
	X(hipHostMallocDefault, 0x0u)            \
	X(hipHostMallocPortable, 0x1u)           \
	X(hipHostMallocMapped, 0x2u)             \
	X(hipHostMallocWriteCombined, 0x4u)      \
	X(hipHostMallocNumaUser, 0x20000000u)    \
	X(hipHostMallocCoherent, 0x40000000u)    \
	X(hipHostMallocNonCoherent, 0x80000000u) \
	X(hipHostRegisterDefault, 0x0u)          \
	X(hipHostRegisterPortable, 0x1u)         \
	X(hipHostRegisterMapped, 0x2u)           \
	X(hipHostRegisterIoMemory, 0x4u)

#define HIP_POOL_CALLS(X)                                                                       \
	X(hipError_t, hipHostMalloc, (void **ptr, size_t size, unsigned int flags))             \
	X(hipError_t, hipHostFree, (void *ptr))                                                 \
	X(hipError_t, hipHostRegister, (void *ptr, size_t size, unsigned int flags))            \
	X(hipError_t, hipHostUnregister, (void *ptr))                                           \
	X(hipError_t, hipHostGetDevicePointer, (void **device, void *host, unsigned int flags)) \
	X(hipError_t, hipGetLastError, (void))                                                  \
	X(const char *, hipGetErrorName, (hipError_t error))

#define HIP_WORK_CALLS(X)                                                                       \
	X(hipError_t, hipInit, (unsigned int flags))                                            \
	X(hipError_t, hipGetDeviceCount, (int *count))                                          \
	X(hipError_t, hipSetDevice, (int device))                                               \
	X(hipError_t, hipDeviceGetName, (char *name, int len, hipDevice_t device))              \
	X(hipError_t, hipDeviceGetPCIBusId, (char *id, int len, int device))                    \
	X(const char *, hipGetErrorString, (hipError_t error))                                  \
	X(hipError_t, hipMalloc, (void **ptr, size_t size))                                     \
	X(hipError_t, hipFree, (void *ptr))                                                     \
	X(hipError_t, hipMemset, (void *dst, int value, size_t size))                           \
	X(hipError_t, hipMemcpy, (void *dst, const void *src, size_t size, hipMemcpyKind kind)) \
	X(hipError_t, hipMemcpyAsync,                                                           \
	  (void *dst, const void *src, size_t size, hipMemcpyKind kind, hipStream_t stream))    \
	X(hipError_t, hipStreamCreate, (hipStream_t * stream))                                  \
	X(hipError_t, hipStreamDestroy, (hipStream_t stream))                                   \
	X(hipError_t, hipStreamSynchronize, (hipStream_t stream))                               \
	X(hipError_t, hipDeviceSynchronize, (void))

#ifndef HIP_ABI_LISTS_ONLY

#define HIP_ABI_ENUM(name, value) name = value,
typedef enum hipError_t { HIP_ERROR_VALUES(HIP_ABI_ENUM) } hipError_t;
typedef enum hipMemcpyKind { HIP_COPY_VALUES(HIP_ABI_ENUM) } hipMemcpyKind;
enum { HIP_FLAG_VALUES(HIP_ABI_ENUM) };
#undef HIP_ABI_ENUM

typedef int hipDevice_t;
typedef struct ihipStream_t *hipStream_t; /* NULL is the default stream */

/* One member of a struct of function pointers, named after the function. */
#define HIP_ABI_POINTER(ret, name, args) ret(*name) args;
/* A prototype. */
#define HIP_ABI_PROTOTYPE(ret, name, args) ret name args;

#endif
#endif
