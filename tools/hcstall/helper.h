/* SPDX-License-Identifier: BSD-2-Clause */
/* A second process that moves pages of this one by its pid, as an administrator's tool would. */
#ifndef HCSTALL_HELPER_H
#define HCSTALL_HELPER_H

#include <sys/types.h>
#include "err.h"
#include "window.h"

struct stall_helper {
	pid_t pid;
	int socket;
	int *status; /* memory shared with it */
	size_t bytes;
};

/*
 * Forks it; before HIP is loaded, which does not survive a fork. `pages` is the most it will be
 * asked to move at once. It is named STALL_MOVER_COMM and ends with this process.
 */
int stall_helper_start(struct stall_helper *h, unsigned int pages, struct stall_err *err);

/* As stall_window_move() of the whole window, which is this process's; answers go to w->status.
 * -1 with ECHILD when the helper is gone. */
long stall_helper_move(struct stall_helper *h, struct stall_window *w, int node);

/* Ends it. Harmless on one that never started (all zero). */
void stall_helper_stop(struct stall_helper *h);

#endif
