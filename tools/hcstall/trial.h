/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HCSTALL_TRIAL_H
#define HCSTALL_TRIAL_H

#include "stats.h"
#include "window.h"
#include "work.h"

/* Iterations with nobody moving anything. Durations go to times. */
int stall_control(struct stall_work *work, unsigned int iterations, struct stall_times *times,
		  struct stall_err *err);

/*
 * One trial: at least `iterations` iterations, the window moved to trial->target_node beside them,
 * and afterwards iterations until the restore is over. `seed` differs from trial to trial.
 */
int stall_trial(struct stall_work *work, struct stall_window *window, unsigned int iterations,
		uint64_t seed, struct stall_times *times, struct stall_trial *trial,
		struct stall_err *err);

#endif
