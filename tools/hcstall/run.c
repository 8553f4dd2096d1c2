/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of things: checks, then other processes, then memory and GPU. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "follow.h"
#include "lead.h"
#include "precheck.h"
#include "run.h"

static int with_session(struct stall_session *s, struct stall_helper *helper,
			struct stall_result *result, struct stall_err *err)
{
	struct stall_err close_err;
	int ret = stall_session_open(s, result, err);

	if (ret)
		return ret;
	ret = stall_lead(s, helper, result, err);
	/* Before the pool is unmapped: the others shall not wait meanwhile. */
	if (ret)
		stall_ranks_fail(s->ranks, 0, err);
	if (stall_session_close(s, &close_err) && !ret) {
		*err = close_err;
		ret = -1;
	}
	return ret;
}

static int with_ranks(int root, const struct stall_options *opts, struct stall_helper *helper,
		      struct stall_result *result, struct stall_err *err)
{
	struct stall_session s = {.opts = opts, .root = root};
	struct stall_err join_err;
	int ret;

	if (stall_ranks_start(&result->shared, opts->ranks, opts->trials, stall_follow,
			      (void *)(uintptr_t)opts, err))
		return -1;
	s.ranks = result->shared;
	if (s.ranks)
		result->rank = stall_ranks_at(s.ranks, 0);
	ret = with_session(&s, helper, result, err);
	if (ret)
		stall_ranks_fail(s.ranks, 0, err);
	if (stall_ranks_join(s.ranks, &join_err) && !ret) {
		*err = join_err;
		ret = -1;
	}
	return ret;
}

static int with_helper(int root, const struct stall_options *opts, struct stall_result *result,
		       struct stall_err *err)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct stall_helper helper = {0};
	int ret;

	if (opts->trigger->other &&
	    stall_helper_start(&helper, (unsigned int)(opts->window_bytes / page + 1), err))
		return -1;
	ret = with_ranks(root, opts, &helper, result, err);
	stall_helper_stop(&helper);
	return ret;
}

static void describe(const struct stall_options *opts, struct stall_result *result)
{
	memset(result, 0, sizeof(*result));
	result->allocator = hcpool_backing_name(opts->backing);
	result->trigger = opts->trigger;
	result->hugetlb = opts->pool_flags & HCPOOL_HUGE_2M;
	result->iterations = opts->iterations;
	result->gemm_n = opts->gemm_n;
	result->copy_bytes = opts->copy_bytes;
	result->window_bytes = opts->window_bytes;
	result->trials_wanted = opts->trials;
	result->ranks = opts->ranks;
}

int stall_run(const struct stall_options *opts, struct stall_result *result, struct stall_err *err)
{
	int root = hcs_root(), ret;

	describe(opts, result);
	if (root < 0)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot open /: %s", strerror(-root));
	result->trial = calloc(opts->trials, sizeof(*result->trial));
	if (!result->trial)
		ret = stall_fail(err, HCW_EXIT_UNSUPPORTED, "no memory for the results");
	else
		ret = stall_precheck(root, opts, result, err);
	if (!ret)
		ret = with_helper(root, opts, result, err);
	close(root);
	return ret;
}

void stall_result_free(struct stall_result *result)
{
	free(result->trial);
	stall_ranks_free(result->shared);
	result->trial = NULL;
	result->shared = NULL;
	result->rank = NULL;
}
