/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HCSTALL_OPTIONS_H
#define HCSTALL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "../../allocator/include/hcpool/hcpool.h"

struct stall_options {
	enum hcpool_backing backing;
	uint64_t pool_bytes;
	unsigned int trials;
	unsigned int iterations; /* of the control phase, and at least of each trial */
	bool json;
	const char *hip;     /* path of libamdhip64.so, NULL = by its usual names */
	const char *rocblas; /* path of librocblas.so, NULL = by its usual names */
};

/* Fills opts. Prints to stderr and ends the process with 2 when the command line is wrong. */
void stall_options_parse(int argc, char **argv, struct stall_options *opts);

#endif
