/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "fake_hip.h"

HIP_POOL_CALLS(HIP_ABI_PROTOTYPE)

static struct fake_hip fake;

struct fake_hip *fake_hip(void)
{
	return &fake;
}

static hipError_t result(hipError_t error)
{
	if (error != hipSuccess)
		fake.last_error = error;
	return error;
}

static void *find_vvar(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, found = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vvar]") && sscanf(line, "%lx-", &lo) == 1)
			found = lo;
	if (f)
		fclose(f);
	return (void *)found;
}

static void *anonymous(size_t size)
{
	void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return ptr == MAP_FAILED ? NULL : ptr;
}

hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
	fake.mallocs++;
	fake.size = size;
	fake.flags = flags;
	*ptr = NULL;
	if (fake.malloc_error != hipSuccess)
		return result(fake.malloc_error);
	if (fake.malloc_limit && size > fake.malloc_limit)
		return result(hipErrorOutOfMemory);
	if (fake.memory == FAKE_VVAR)
		*ptr = find_vvar();
	else if (fake.memory != FAKE_NOTHING)
		*ptr = anonymous(size);
	if (fake.memory == FAKE_DRIVER) {
		fake.driver_lo = (uintptr_t)*ptr;
		fake.driver_hi = fake.driver_lo + ((size + 4095) & ~(size_t)4095);
	}
	fake.ptr = *ptr;
	return hipSuccess;
}

/* Memory is given back for real, so that a use after it shows; the size is that of the last malloc.
 */
hipError_t hipHostFree(void *ptr)
{
	fake.frees++;
	if (fake.free_error != hipSuccess)
		return result(fake.free_error);
	if (fake.memory != FAKE_VVAR && ptr == fake.ptr)
		munmap(ptr, fake.size);
	fake.ptr = ptr;
	return hipSuccess;
}

hipError_t hipHostRegister(void *ptr, size_t size, unsigned int flags)
{
	fake.registers++;
	fake.ptr = ptr;
	fake.size = size;
	fake.flags = flags;
	return result(fake.register_error);
}

hipError_t hipHostUnregister(void *ptr)
{
	fake.unregisters++;
	fake.ptr = ptr;
	return result(fake.unregister_error);
}

hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
	fake.pointers++;
	if (fake.pointer_error != hipSuccess || flags)
		return result(fake.pointer_error ? fake.pointer_error : hipErrorInvalidValue);
	*device = (char *)host + fake.device_offset;
	return hipSuccess;
}

#ifndef FAKE_INCOMPLETE
hipError_t hipGetLastError(void)
{
	hipError_t error = fake.last_error;

	fake.others++;
	fake.last_error = hipSuccess;
	return error;
}
#endif

const char *hipGetErrorName(hipError_t error)
{
#define NAME(name, value)  \
	if (error == name) \
		return #name;
	HIP_ERROR_VALUES(NAME)
#undef NAME
	return NULL;
}
