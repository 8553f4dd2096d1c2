/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything the stand-in has allocated or registered, by address. Thread safe. */
#ifndef GPUSIM_RANGES_H
#define GPUSIM_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum range_kind {
	RANGE_HOST,	  /* hipHostMalloc */
	RANGE_REGISTERED, /* hipHostRegister */
	RANGE_DEVICE,	  /* hipMalloc */
};

struct range {
	struct range *next;
	enum range_kind kind;
	uintptr_t host;		     /* as the caller gave or got it */
	uintptr_t device;	     /* of the first byte at `host` */
	size_t bytes;		     /* as asked for */
	uintptr_t base, device_base; /* `host` and `device` rounded down to a page */
	size_t reserved;	     /* whole pages from base on */
};

/* Adds a copy. False when it overlaps another one of its kind, or without memory. */
bool ranges_add(const struct range *range);

/* Whether any range of the kind meets [host, host + bytes). */
bool ranges_overlap(enum range_kind kind, uintptr_t host, size_t bytes);

/* Finds the range of a kind that has the address, at its host or its device side. */
bool ranges_find(enum range_kind kind, uintptr_t addr, struct range *found);

/* Takes out the range of a kind that begins exactly at `host`. */
bool ranges_take(enum range_kind kind, uintptr_t host, struct range *found);

#endif
