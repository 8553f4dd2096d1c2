/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stand-in's copies. They really copy, with the CPU, piece by piece; before each piece the
 * queues must be running, so an eviction stops a copy in the middle as it does on hardware.
 */
#include <string.h>
#include "front.h"
#include "ranges.h"

/* Where the CPU finds what the GPU calls `addr`: registered memory has an alias of its own. */
static uintptr_t cpu_address(const void *addr)
{
	uintptr_t a = (uintptr_t)addr;
	struct range r;

	if (ranges_find(RANGE_REGISTERED, a, &r) && a - r.device < r.bytes)
		return r.host + (a - r.device);
	return a;
}

static hipError_t copy(void *dst, const void *src, size_t size)
{
	char *to = (char *)cpu_address(dst);
	const char *from = (const char *)cpu_address(src);
	hipError_t ret = hipSuccess;
	size_t done, piece;

	for (done = 0; done < size && ret == hipSuccess; done += piece) {
		piece = size - done < GPUSIM_COPY_CHUNK ? size - done : GPUSIM_COPY_CHUNK;
		ret = gpusim_spend(0);
		if (ret == hipSuccess)
			memcpy(to + done, from + done, piece);
	}
	return ret;
}

static hipError_t check_copy(const void *dst, const void *src, size_t size, hipMemcpyKind kind)
{
	hipError_t ret = front_ready();

	if (ret != hipSuccess)
		return ret;
	if ((unsigned int)kind > hipMemcpyDefault || (size && (!dst || !src)))
		return hipErrorInvalidValue;
	return hipSuccess;
}

hipError_t hipMemcpy(void *dst, const void *src, size_t size, hipMemcpyKind kind)
{
	hipError_t ret = check_copy(dst, src, size, kind);

	return front_result(ret == hipSuccess ? copy(dst, src, size) : ret);
}

/* Executed at submission, which a stream allows. */
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t size, hipMemcpyKind kind,
			  hipStream_t stream)
{
	(void)stream;
	return hipMemcpy(dst, src, size, kind);
}

hipError_t hipMemset(void *dst, int value, size_t size)
{
	char *to;
	size_t done, piece;
	hipError_t ret = front_ready();

	if (ret == hipSuccess && size && !dst)
		ret = hipErrorInvalidValue;
	if (ret != hipSuccess)
		return front_result(ret);
	to = (char *)cpu_address(dst);
	for (done = 0; done < size && ret == hipSuccess; done += piece) {
		piece = size - done < GPUSIM_COPY_CHUNK ? size - done : GPUSIM_COPY_CHUNK;
		ret = gpusim_spend(0);
		if (ret == hipSuccess)
			memset(to + done, value, piece);
	}
	return front_result(ret);
}
