/* SPDX-License-Identifier: BSD-2-Clause */
/* The USDT marks of an ELF file: its notes of type 3 and owner "stapsdt" (SystemTap's
 * UserSpaceProbeImplementation). */
#ifndef HCW_USDT_H
#define HCW_USDT_H

#include <stddef.h>

#define HCW_MARK_NAME 128

/* "provider:name" */
struct hcw_mark {
	char name[HCW_MARK_NAME];
};

/*
 * The distinct marks of a file, in the order of its notes. Returns their number; 0 when it has none
 * or is no ELF file; -E2BIG above `max`; -errno when it cannot be read.
 */
int hcw_usdt_scan(const char *path, struct hcw_mark *out, size_t max);

#endif
