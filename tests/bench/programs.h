/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs.bpf.c hands back: one entry of its map `results`. */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include "../../bpf/hcwatch_abi.h"

struct bench_result {
	__u64 ns;		    /* the loop took, by the kernel's clock */
	struct hcw_move_pages move; /* bench_arrays: what was counted; start, pid, rc unused */
};

#endif
