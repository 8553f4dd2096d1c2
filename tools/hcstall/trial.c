/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../user/sys/sys.h"
#include "mover.h"
#include "trial.h"

/*
 * Iterations begun after the move has ended. The first waits for the restore if there is one;
 * evicted_ms, which grows only when a restore has finished, is final afterwards.
 */
#define TAIL 3

int stall_control(struct stall_session *s, struct stall_phase *phase, struct stall_err *err)
{
	unsigned int i;
	bool over;

	if (stall_phase_begin(s, 0, err))
		return -1;
	for (i = 0; i < s->opts->iterations; i++) {
		over = i + 1 == s->opts->iterations;
		if (stall_iterate(s, &over, err))
			return -1;
	}
	return stall_phase_end(s, 0, phase, err);
}

/* The iterations of a trial. `*went` says whether the mover was let go, also on failure. */
static int iterate_beside(struct stall_session *s, struct stall_mover *mover, bool *went,
			  struct stall_err *err)
{
	const unsigned int iterations = s->opts->iterations;
	unsigned int i, tail = 0;
	bool over = false;

	for (i = 0; !over; i++) {
		if (i == iterations / 10) {
			stall_mover_go(mover);
			*went = true;
		}
		if (*went && stall_mover_done(mover))
			tail++;
		over = i + 1 >= iterations && tail >= TAIL;
		if (stall_iterate(s, &over, err))
			return -1;
	}
	return 0;
}

int stall_trial(struct stall_session *s, const struct stall_shot *shot, uint64_t seed,
		struct stall_trial *trial, struct stall_err *err)
{
	struct stall_mover mover;
	bool went = false;
	int ret;

	if (stall_phase_begin(s, seed, err))
		return -1;
	trial->begin_ns = hcs_boot_ns();
	if (stall_mover_start(&mover, s->opts->trigger, shot, trial, err))
		return -1;
	ret = iterate_beside(s, &mover, &went, err);
	stall_mover_join(&mover, !went);
	trial->end_ns = hcs_boot_ns();
	if (ret)
		return -1;
	return stall_phase_end(s, seed, &trial->phase, err);
}
