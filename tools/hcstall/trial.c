/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../bpf/hcwatch_abi.h"
#include "../../user/sys/sys.h"
#include "mover.h"
#include "stop.h"
#include "trial.h"

/*
 * Iterations begun after the move has ended. The first waits for the restore if there is one;
 * evicted_ms, which grows only when a restore has finished, is final afterwards.
 */
#define TAIL 3

static int iterate(struct stall_work *work, struct stall_times *times, struct stall_err *err)
{
	uint64_t begin, end;

	if (stall_stopped())
		return stall_fail(err, HCW_EXIT_INCOMPLETE, "stopped by a signal");
	if (stall_work_iterate(work, &begin, &end, err))
		return -1;
	stall_times_add(times, begin, end);
	return 0;
}

int stall_control(struct stall_work *work, unsigned int iterations, struct stall_times *times,
		  struct stall_err *err)
{
	unsigned int i;

	for (i = 0; i < iterations; i++)
		if (iterate(work, times, err))
			return -1;
	return 0;
}

/* The iterations of a trial. `*went` says whether the mover was let go, also on failure. */
static int iterate_beside(struct stall_work *work, struct stall_mover *mover,
			  unsigned int iterations, struct stall_times *times, bool *went,
			  struct stall_err *err)
{
	unsigned int i, tail = 0;

	for (i = 0; i < iterations || tail < TAIL; i++) {
		if (i == iterations / 10) {
			stall_mover_go(mover);
			*went = true;
		}
		if (*went && stall_mover_done(mover))
			tail++;
		if (iterate(work, times, err))
			return -1;
	}
	return 0;
}

int stall_trial(struct stall_work *work, struct stall_window *window, unsigned int iterations,
		uint64_t seed, struct stall_times *times, struct stall_trial *trial,
		struct stall_err *err)
{
	struct stall_mover mover;
	bool went = false;
	int ret;

	stall_work_refill(work, seed);
	trial->begin_ns = hcs_boot_ns();
	if (stall_mover_start(&mover, window, trial, err))
		return -1;
	ret = iterate_beside(work, &mover, iterations, times, &went, err);
	stall_mover_join(&mover, !went);
	trial->end_ns = hcs_boot_ns();
	if (ret)
		return -1;
	trial->median_ns = stall_times_median(times);
	trial->max_ns = times->max_ns;
	trial->max_begin_ns = times->max_begin_ns;
	return stall_work_check(work, seed, &trial->copy_ok, err);
}
