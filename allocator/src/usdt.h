/* SPDX-License-Identifier: BSD-2-Clause */
/* The library's own USDT marks, hcpool:alloc(ptr, bytes, backing) and hcpool:free(ptr). */
#ifndef HCPOOL_USDT_H
#define HCPOOL_USDT_H

#include "../include/hcpool/iteration.h"

static inline void usdt_alloc(uint64_t ptr, uint64_t bytes, uint64_t backing)
{
#ifdef HCWATCH_USDT
	__asm__ __volatile__(HCWATCH_USDT_MARK("hcpool", "alloc", "8@%0 8@%1 8@%2")
			     :
			     : "r"(ptr), "r"(bytes), "r"(backing));
#else
	(void)ptr;
	(void)bytes;
	(void)backing;
#endif
}

static inline void usdt_free(uint64_t ptr)
{
#ifdef HCWATCH_USDT
	__asm__ __volatile__(HCWATCH_USDT_MARK("hcpool", "free", "8@%0") : : "r"(ptr));
#else
	(void)ptr;
#endif
}

#endif
