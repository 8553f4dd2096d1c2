/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * N processes that work in step, as the ranks of a tensor-parallel server do: in each iteration
 * they wait for one another. This process is rank 0 and leads; the others are its children, forked
 * before HIP is loaded, and end with it.
 *
 * A rank that dies or fails ends the run for all: nobody waits for it.
 */
#ifndef HCSTALL_RANKS_H
#define HCSTALL_RANKS_H

#include <stdbool.h>
#include "err.h"
#include "result.h"

#define STALL_MAX_RANKS 64

struct stall_ranks;

/*
 * Forks ranks 1 to n - 1; each runs follow(ranks, rank, arg, err) and ends. With n = 1 nothing is
 * forked and *out is NULL, which all functions below take as a run of one.
 */
int stall_ranks_start(struct stall_ranks **out, unsigned int n, unsigned int trials,
		      int (*follow)(struct stall_ranks *ranks, unsigned int rank, void *arg,
				    struct stall_err *err),
		      void *arg, struct stall_err *err);

/* The rank's place for its results, in shared memory. */
struct stall_rank *stall_ranks_at(struct stall_ranks *ranks, unsigned int rank);

/*
 * Waits until every rank has come here. Rank 0 passes in *over whether this is the last meeting of
 * a phase, the others learn it. -1 with err when a rank is gone or has failed.
 */
int stall_ranks_meet(struct stall_ranks *ranks, unsigned int rank, bool *over,
		     struct stall_err *err);

/* Tells all others that this rank fails, so that they stop. */
void stall_ranks_fail(struct stall_ranks *ranks, unsigned int rank, const struct stall_err *err);

/* Rank 0: waits for the others' end. The results stay. 0, or -1 with err when one ended badly. */
int stall_ranks_join(struct stall_ranks *ranks, struct stall_err *err);

/* Gives the shared memory back. */
void stall_ranks_free(struct stall_ranks *ranks);

#endif
