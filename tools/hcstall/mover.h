/* SPDX-License-Identifier: BSD-2-Clause */
/* The second thread of a trial: waits for the word, fires the trigger once, ends. */
#ifndef HCSTALL_MOVER_H
#define HCSTALL_MOVER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include "err.h"
#include "result.h"
#include "triggers.h"

struct stall_mover {
	pthread_t thread;
	sem_t go;
	bool cancelled; /* written before go is posted */
	atomic_bool done;
	const struct stall_trigger *trigger;
	const struct stall_shot *shot;
	struct stall_trial *trial; /* the move's part of it; read it after the join only */
};

/* Starts the thread, named STALL_MOVER_COMM so that traces show who moved the pages. */
int stall_mover_start(struct stall_mover *m, const struct stall_trigger *trigger,
		      const struct stall_shot *shot, struct stall_trial *trial,
		      struct stall_err *err);

/* Lets it fire. */
void stall_mover_go(struct stall_mover *m);

/* Whether it has fired and counted. */
bool stall_mover_done(struct stall_mover *m);

/* Waits for the thread's end; a mover that was not let go never fires. */
void stall_mover_join(struct stall_mover *m, bool cancel);

#endif
