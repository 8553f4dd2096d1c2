/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the stand-in's front end asks of whatever plays the GPU. The front end checks arguments,
 * keeps the table of allocations and HIP's last error; a back end only has memory, registrations
 * and time. Every function may be called by several threads at once and returns a HIP error code.
 */
#ifndef GPUSIM_BACKEND_H
#define GPUSIM_BACKEND_H

#include <stddef.h>
#include <stdint.h>
#include "../../../allocator/src/hip_abi.h"

#define GPUSIM_COPY_CHUNK ((size_t)1 << 20)

struct backend {
	/* Once per process, before any other call. hipErrorNoDevice when there is no GPU to play.
	 */
	hipError_t (*init)(void);

	/* GPUs; 1 or more after init. */
	int (*device_count)(void);

	/* "0000:00:00.0" style, of device 0 … device_count - 1. */
	void (*bus_id)(int device, char *id, size_t size);

	/* hipHostMalloc's memory, page aligned; the GPU sees it at the same address. */
	hipError_t (*host_alloc)(void **ptr, size_t bytes);
	void (*host_free)(void *ptr, size_t bytes);

	/* Whole pages of the caller's memory; *device is where the GPU sees them. */
	hipError_t (*host_register)(void *ptr, size_t bytes, void **device);
	hipError_t (*host_unregister)(void *ptr, size_t bytes, void *device);

	/* Device memory. */
	hipError_t (*device_alloc)(void **ptr, size_t bytes);
	void (*device_free)(void *ptr, size_t bytes);

	/*
	 * Returns when the GPU has spent `ns` of work; waits while the queues are evicted. 0 only
	 * waits until they run.
	 */
	hipError_t (*spend)(uint64_t ns);
};

HIP_POOL_CALLS(HIP_ABI_PROTOTYPE)
HIP_WORK_CALLS(HIP_ABI_PROTOTYPE)

/* The test GPU of gpusim.ko. */
extern const struct backend device_backend;

/* For librocblas of the stand-in: spends work on the back end in use. */
hipError_t gpusim_spend(uint64_t ns);

#endif
