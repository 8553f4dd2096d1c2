/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../../allocator/src/internal.h"
#include "fake_hip.h"

struct harness {
	void *lib;
	struct fake_hip *hip; /* as new */
	struct hcpool_ctx *ctx;
};

/* Group setup and teardown of everything that needs one loaded runtime and a context on "/". */
int harness_setup(void **state);
int harness_teardown(void **state);

void *load_fake(const char *path, struct fake_hip **hip);

int alloc_pool(struct hcpool_ctx *ctx, enum hcpool_backing backing, uint64_t bytes, hcpool_id *id);

/*
 * The kernel's answers about memory the fake runtime calls the driver's; about any other memory the
 * real kernel is asked. `vmflags` is what smaps says, `path` the mapping's path.
 */
struct played_kernel {
	uint32_t vmflags;
	const char *path;
	uint64_t hole; /* the played mapping ends this many bytes early */
};

extern struct played_kernel played;

#endif
