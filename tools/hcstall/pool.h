/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool under test, and the pattern in it by which a wrong copy is found. */
#ifndef HCSTALL_POOL_H
#define HCSTALL_POOL_H

#include <stdbool.h>
#include "err.h"
#include "options.h"

struct stall_pool {
	struct hcpool_ctx *ctx;
	hcpool_id id;
	struct hcpool_info info;
};

/* Allocates through libhcpool and writes every page. On failure pool needs no close. */
int stall_pool_open(struct stall_pool *pool, const struct stall_options *opts,
		    struct stall_err *err);

/* 0, or -1 with err when something could not be given back. */
int stall_pool_close(struct stall_pool *pool, struct stall_err *err);

/* Every 8 bytes depend on their place and on the seed. `bytes` is a multiple of 8. */
void stall_pattern_write(void *mem, size_t bytes, uint64_t seed);
bool stall_pattern_ok(const void *mem, size_t bytes, uint64_t seed);

#endif
