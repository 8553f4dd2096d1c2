/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How --mem is divided. The program itself, libbpf and the writer of a trace take about 12 MiB at
 * any size; of what was asked for
 *   ring     1/8, rounded down to a power of two: it is mapped twice, and both count
 *   symbols  3/8 for the names of functions; a kernel with more of them has none
 *   order    1/16 for the records that `live` puts in order
 * The tables of what was found (episodes, stalls, attempts) are not part of it: they grow with the
 * findings, up to fixed limits.
 */
#ifndef HCW_BUDGET_H
#define HCW_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#define BUDGET_DEFAULT (32u << 20)
#define BUDGET_MIN     (16u << 20)
#define BUDGET_MAX     (8ull << 30) /* beyond it the ring would be larger than it can be */

struct budget {
	size_t ring, symbols, order; /* bytes */
};

/* `mem`: of --mem, 0 = BUDGET_DEFAULT. */
struct budget budget_of(uint64_t mem);

#endif
