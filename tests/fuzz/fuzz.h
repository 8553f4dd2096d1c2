/* SPDX-License-Identifier: BSD-2-Clause */
/* What every fuzz target is made of. A target aborts when a promise of the API is broken. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)     \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

/* The path of a file in memory that holds these bytes; the same file with new content at each call.
 */
const char *fuzz_file(const void *data, size_t size);

/*
 * A directory fd that stands for "/", in which `path` is that file. Kept until the program ends;
 * every path is made once.
 */
int fuzz_root(const char *path, const void *data, size_t size);

#endif
