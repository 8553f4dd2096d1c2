/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks 1 and up: the same work as rank 0, a pool of their own that nobody moves. */
#ifndef HCSTALL_FOLLOW_H
#define HCSTALL_FOLLOW_H

#include "ranks.h"

/* For stall_ranks_start(); arg is the struct stall_options. Prints nothing. */
int stall_follow(struct stall_ranks *ranks, unsigned int rank, void *arg, struct stall_err *err);

#endif
