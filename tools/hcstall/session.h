/* SPDX-License-Identifier: BSD-2-Clause */
/* What every rank has: a GPU, a pool, work to do with both, and its iterations' times. */
#ifndef HCSTALL_SESSION_H
#define HCSTALL_SESSION_H

#include "evicted.h"
#include "gpu.h"
#include "pool.h"
#include "stats.h"
#include "work.h"

struct stall_session {
	const struct stall_options *opts;
	struct stall_ranks *ranks; /* NULL = alone */
	unsigned int rank;
	int root;
	struct stall_gpu gpu;
	struct stall_pool pool;
	struct stall_work work;
	struct stall_times times;
	struct stall_evicted before; /* at the start of the phase */
};

/*
 * Fill in opts, ranks, rank and root first. Opens GPU and pool, and warms up. `result` (NULL but
 * for rank 0) gets the description of the GPU and of the pool. On failure there is nothing to
 * close.
 */
int stall_session_open(struct stall_session *s, struct stall_result *result, struct stall_err *err);

/* 0, or -1 with err when something could not be given back. */
int stall_session_close(struct stall_session *s, struct stall_err *err);

/* What a phase begins and ends with, in every rank alike. `seed` 0: the control phase, which checks
 * no copy. */
int stall_phase_begin(struct stall_session *s, uint64_t seed, struct stall_err *err);
int stall_phase_end(struct stall_session *s, uint64_t seed, struct stall_phase *phase,
		    struct stall_err *err);

/* One iteration, into times. *over as in stall_ranks_meet(). */
int stall_iterate(struct stall_session *s, bool *over, struct stall_err *err);

/* A line on stderr when that is a terminal; rank 0 only. */
void stall_progress(const struct stall_session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
