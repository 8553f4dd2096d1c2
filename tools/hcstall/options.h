/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HCSTALL_OPTIONS_H
#define HCSTALL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../../allocator/include/hcpool/hcpool.h"

struct stall_trigger;

struct stall_options {
	enum hcpool_backing backing;
	uint64_t pool_bytes;
	uint32_t pool_flags;   /* enum hcpool_flags */
	uint64_t copy_bytes;   /* copied from the pool in each iteration */
	uint64_t window_bytes; /* what the trigger is applied to; not more than the pool */
	unsigned int gemm_n;   /* the matrices are gemm_n x gemm_n */
	unsigned int ranks;    /* processes, 1 or more */
	pid_t kfd_pid;	       /* this process on the host, 0 = as it sees itself */
	const struct stall_trigger *trigger;
	unsigned int trials;
	unsigned int iterations; /* of the control phase, and at least of each trial */
	bool json;
	const char *hip;     /* path of libamdhip64.so, NULL = by its usual names */
	const char *rocblas; /* path of librocblas.so, NULL = by its usual names */
};

/*
 * Fills opts. Ends the process when the command line asks for nothing else (--help, --version,
 * --trigger list), and, with text on stderr and code 2, when it is wrong.
 */
void stall_options_parse(int argc, char **argv, struct stall_options *opts);

#endif
