/* SPDX-License-Identifier: BSD-2-Clause */
/* The second thread of a trial: waits for the word, moves the window once, ends. */
#ifndef HCSTALL_MOVER_H
#define HCSTALL_MOVER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include "err.h"
#include "result.h"
#include "window.h"

struct stall_mover {
	pthread_t thread;
	sem_t go;
	bool cancelled; /* written before go is posted */
	atomic_bool done;
	struct stall_window *window;
	struct stall_trial *trial; /* the move's part of it; read it after the join only */
};

/* Starts the thread, named STALL_MOVER_COMM so that traces show who moved the pages. */
int stall_mover_start(struct stall_mover *m, struct stall_window *window, struct stall_trial *trial,
		      struct stall_err *err);

/* Lets it move the window to trial->target_node. */
void stall_mover_go(struct stall_mover *m);

/* Whether the move has ended. */
bool stall_mover_done(struct stall_mover *m);

/* Waits for the thread's end; a mover that was not let go never moves. */
void stall_mover_join(struct stall_mover *m, bool cancel);

#endif
