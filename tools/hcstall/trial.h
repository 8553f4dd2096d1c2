/* SPDX-License-Identifier: BSD-2-Clause */
/* The two kinds of phases, as rank 0 runs them. */
#ifndef HCSTALL_TRIAL_H
#define HCSTALL_TRIAL_H

#include "session.h"
#include "triggers.h"

/* opts->iterations iterations with nobody moving anything. */
int stall_control(struct stall_session *s, struct stall_phase *phase, struct stall_err *err);

/*
 * One trial: at least opts->iterations iterations, the trigger fired beside them, and afterwards
 * iterations until the restore is over. `seed` (not 0) differs from trial to trial.
 */
int stall_trial(struct stall_session *s, const struct stall_shot *shot, uint64_t seed,
		struct stall_trial *trial, struct stall_err *err);

#endif
