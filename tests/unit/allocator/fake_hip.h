/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libamdhip64 for tests: it records every call and fails on demand. Built several times under
 * different paths; a test reaches a loaded one by dlsym("fake_hip").
 */
#ifndef TEST_FAKE_HIP_H
#define TEST_FAKE_HIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../../allocator/src/hip_abi.h"

enum fake_memory {
	FAKE_DRIVER,   /* what the test plays to be the driver's */
	FAKE_ORDINARY, /* anonymous memory, as with USERPTR */
	FAKE_VVAR,     /* the kernel's own PFNMAP mapping of every process */
	FAKE_NOTHING,  /* success and a null pointer */
};

struct fake_hip {
	/* what to do */
	enum fake_memory memory;
	size_t malloc_limit; /* more than this is out of memory; 0 = no limit */
	hipError_t malloc_error, free_error, register_error, unregister_error, pointer_error;
	intptr_t device_offset; /* device pointer - host pointer */

	/* what was done */
	int mallocs, frees, registers, unregisters, pointers, others;
	size_t size; /* of the last allocation or registration */
	unsigned int flags;
	void *ptr; /* of the last allocation, registration, free or unregistration */
	hipError_t last_error;
	uintptr_t driver_lo, driver_hi; /* the last FAKE_DRIVER memory */
};

typedef struct fake_hip *(*fake_hip_fn)(void);

/* All calls but hipGetErrorName. */
static inline int fake_calls(const struct fake_hip *f)
{
	return f->mallocs + f->frees + f->registers + f->unregisters + f->pointers + f->others;
}

struct fake_hip *fake_hip(void);

#endif
