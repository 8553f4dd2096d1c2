/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "follow.h"
#include "session.h"

/* One phase; rank 0 says when it is over. */
static int phase(struct stall_session *s, uint64_t seed, struct stall_phase *out,
		 struct stall_err *err)
{
	bool over = false;

	if (stall_phase_begin(s, seed, err))
		return -1;
	while (!over)
		if (stall_iterate(s, &over, err))
			return -1;
	return stall_phase_end(s, seed, out, err);
}

static int all_phases(struct stall_session *s, struct stall_rank *rank, struct stall_err *err)
{
	unsigned int i;

	rank->pool = s->pool.info;
	if (phase(s, 0, &rank->control, err))
		return -1;
	for (i = 0; i < s->opts->trials; i++)
		if (phase(s, i + 1, &rank->trial[i], err))
			return -1;
	return 0;
}

int stall_follow(struct stall_ranks *ranks, unsigned int rank, void *arg, struct stall_err *err)
{
	struct stall_session s = {.opts = arg, .ranks = ranks, .rank = rank};
	struct stall_err close_err;
	int ret;

	s.root = hcs_root();
	if (s.root < 0)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot open /: %s",
				  strerror(-s.root));
	ret = stall_session_open(&s, NULL, err);
	if (!ret) {
		ret = all_phases(&s, stall_ranks_at(ranks, rank), err);
		/* From here on the others must not wait for this rank, nor it for the pool. */
		if (ret)
			stall_ranks_fail(ranks, rank, err);
		if (stall_session_close(&s, &close_err) && !ret) {
			*err = close_err;
			ret = -1;
		}
	}
	close(s.root);
	return ret;
}
