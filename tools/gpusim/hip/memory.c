/* SPDX-License-Identifier: BSD-2-Clause */
/* The stand-in's HIP entry points that are about memory. Error codes as HIP's hip_memory.cpp. */
#include <string.h>
#include <unistd.h>
#include "front.h"
#include "ranges.h"

#define HOST_MALLOC_FLAGS                                                           \
	(hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined | \
	 hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent)
#define HOST_REGISTER_FLAGS 15u

static bool both_coherences(unsigned int flags)
{
	return (flags & hipHostMallocCoherent) && (flags & hipHostMallocNonCoherent);
}

/* Fills in what follows from host, bytes and the alignment; false when it does not fit. */
static bool page_range(struct range *r)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t end = r->host + r->bytes;

	if (end < r->host || end > UINTPTR_MAX - page)
		return false;
	r->base = r->host & ~(page - 1);
	r->reserved = ((end + page - 1) & ~(page - 1)) - r->base;
	return true;
}

static hipError_t alloc_range(enum range_kind kind, void **ptr, size_t bytes)
{
	const struct backend *backend = front_backend();
	struct range r = {.kind = kind, .bytes = bytes};
	hipError_t ret;
	void *mem;

	if (!page_range(&r))
		return hipErrorOutOfMemory;
	if (kind == RANGE_HOST)
		ret = backend->host_alloc(&mem, r.reserved);
	else
		ret = backend->device_alloc(&mem, r.reserved);
	if (ret != hipSuccess)
		return ret;
	r.host = r.base = r.device = r.device_base = (uintptr_t)mem;
	if (!ranges_add(&r)) {
		if (kind == RANGE_HOST)
			backend->host_free(mem, r.reserved);
		else
			backend->device_free(mem, r.reserved);
		return hipErrorOutOfMemory;
	}
	*ptr = mem;
	return hipSuccess;
}

hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
	hipError_t ret = front_ready();

	if (ret != hipSuccess)
		return front_result(ret);
	if (!ptr || (flags & ~HOST_MALLOC_FLAGS) || both_coherences(flags))
		return front_result(hipErrorInvalidValue);
	*ptr = NULL;
	return front_result(size ? alloc_range(RANGE_HOST, ptr, size) : hipSuccess);
}

hipError_t hipHostFree(void *ptr)
{
	hipError_t ret = front_ready();
	struct range r;

	if (ret != hipSuccess)
		return front_result(ret);
	if (!ptr)
		return hipSuccess;
	if (!ranges_take(RANGE_HOST, (uintptr_t)ptr, &r))
		return front_result(hipErrorInvalidValue);
	front_backend()->spend(0); /* HIP waits for all streams first */
	front_backend()->host_free((void *)r.base, r.reserved);
	return hipSuccess;
}

hipError_t hipHostRegister(void *ptr, size_t size, unsigned int flags)
{
	struct range r = {.kind = RANGE_REGISTERED, .host = (uintptr_t)ptr, .bytes = size};
	hipError_t ret = front_ready();
	void *device;

	if (ret != hipSuccess)
		return front_result(ret);
	if (!ptr || !size || flags > HOST_REGISTER_FLAGS || (flags & hipHostRegisterIoMemory) ||
	    !page_range(&r))
		return front_result(hipErrorInvalidValue);
	if (ranges_overlap(RANGE_REGISTERED, r.host, r.bytes))
		return front_result(hipErrorHostMemoryAlreadyRegistered);
	ret = front_backend()->host_register((void *)r.base, r.reserved, &device);
	if (ret != hipSuccess)
		return front_result(ret);
	r.device_base = (uintptr_t)device;
	r.device = r.device_base + (r.host - r.base);
	if (!ranges_add(&r)) {
		front_backend()->host_unregister((void *)r.base, r.reserved, device);
		return front_result(hipErrorHostMemoryAlreadyRegistered);
	}
	return hipSuccess;
}

hipError_t hipHostUnregister(void *ptr)
{
	hipError_t ret = front_ready();
	struct range r;

	if (ret != hipSuccess)
		return front_result(ret);
	if (!ptr)
		return front_result(hipErrorInvalidValue);
	if (!ranges_take(RANGE_REGISTERED, (uintptr_t)ptr, &r)) {
		/* Inside a registered range is another mistake than unknown. */
		if (ranges_find(RANGE_REGISTERED, (uintptr_t)ptr, &r))
			return front_result(hipErrorInvalidValue);
		return front_result(hipErrorHostMemoryNotRegistered);
	}
	ret = front_backend()->host_unregister((void *)r.base, r.reserved, (void *)r.device_base);
	return front_result(ret);
}

hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
	hipError_t ret = front_ready();
	struct range r;

	if (ret != hipSuccess)
		return front_result(ret);
	if (!device || !host || flags)
		return front_result(hipErrorInvalidValue);
	if (!ranges_find(RANGE_HOST, (uintptr_t)host, &r) &&
	    !ranges_find(RANGE_REGISTERED, (uintptr_t)host, &r))
		return front_result(hipErrorInvalidValue);
	*device = (void *)(r.device + ((uintptr_t)host - r.host));
	return hipSuccess;
}

hipError_t hipMalloc(void **ptr, size_t size)
{
	hipError_t ret = front_ready();

	if (ret != hipSuccess)
		return front_result(ret);
	if (!ptr)
		return front_result(hipErrorInvalidValue);
	*ptr = NULL;
	return front_result(size ? alloc_range(RANGE_DEVICE, ptr, size) : hipSuccess);
}

hipError_t hipFree(void *ptr)
{
	hipError_t ret = front_ready();
	struct range r;

	if (ret != hipSuccess)
		return front_result(ret);
	if (!ptr)
		return hipSuccess;
	if (!ranges_take(RANGE_DEVICE, (uintptr_t)ptr, &r))
		return front_result(hipErrorInvalidValue);
	front_backend()->spend(0);
	front_backend()->device_free((void *)r.base, r.reserved);
	return hipSuccess;
}
