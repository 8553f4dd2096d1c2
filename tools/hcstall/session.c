/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "session.h"
#include "stop.h"

#define WARM_UPS 50

void stall_progress(const struct stall_session *s, const char *fmt, ...)
{
	va_list ap;

	if (s->rank || !isatty(STDERR_FILENO))
		return;
	fputs("hcstall: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static int warm_up(struct stall_session *s, struct stall_err *err)
{
	int i;

	for (i = 0; i < WARM_UPS; i++) {
		if (stall_stopped())
			return stall_fail(err, HCW_EXIT_INCOMPLETE, "stopped by a signal");
		if (stall_work_run(&s->work, err))
			return -1;
	}
	return 0;
}

static int open_pool(struct stall_session *s, struct stall_err *err)
{
	struct stall_err ignored;

	stall_progress(s, "making and writing a pool of %llu MiB",
		       (unsigned long long)(s->opts->pool_bytes >> 20));
	if (stall_pool_open(&s->pool, s->opts, err))
		return -1;
	if (!stall_work_open(&s->work, s->opts, &s->gpu, &s->pool, err)) {
		s->work.ranks = s->ranks;
		s->work.rank = s->rank;
		/* A trace tells ranks apart by process; a log of ids alone can, too. */
		s->work.next_id = ((uint64_t)s->rank << 40) + 1;
		if (!warm_up(s, err))
			return 0;
		stall_work_close(&s->work);
	}
	stall_pool_close(&s->pool, &ignored);
	return -1;
}

static int open_gpu(struct stall_session *s, struct stall_result *result, struct stall_err *err)
{
	const pid_t kfd_pid = s->rank ? 0 : s->opts->kfd_pid;

	if (stall_kfd_pid_before(s->root, kfd_pid, err) || stall_gpu_open(&s->gpu, s->opts, err))
		return -1;
	if (!stall_kfd_pid_after(s->root, kfd_pid, err) &&
	    (!result || !stall_gpu_describe(&s->gpu, s->root, result, err)))
		return 0;
	stall_gpu_close(&s->gpu);
	return -1;
}

int stall_session_open(struct stall_session *s, struct stall_result *result, struct stall_err *err)
{
	s->times.size = s->opts->iterations;
	s->times.ns = calloc(s->times.size, sizeof(*s->times.ns));
	if (!s->times.ns)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "no memory for the results");
	if (!open_gpu(s, result, err)) {
		if (!open_pool(s, err)) {
			if (result)
				result->pool = s->pool.info;
			return 0;
		}
		stall_gpu_close(&s->gpu);
	}
	free(s->times.ns);
	s->times.ns = NULL;
	return -1;
}

int stall_session_close(struct stall_session *s, struct stall_err *err)
{
	int ret;

	stall_work_close(&s->work);
	ret = stall_pool_close(&s->pool, err);
	stall_gpu_close(&s->gpu);
	free(s->times.ns);
	s->times.ns = NULL;
	return ret;
}

static void read_evicted(const struct stall_session *s, struct stall_evicted *evicted)
{
	stall_evicted_read(s->root, s->rank ? 0 : s->opts->kfd_pid, evicted);
}

int stall_phase_begin(struct stall_session *s, uint64_t seed, struct stall_err *err)
{
	bool over = false;

	if (seed)
		stall_work_refill(&s->work, seed);
	stall_times_reset(&s->times);
	read_evicted(s, &s->before);
	/* Nobody's first iteration shall wait for another's preparations. */
	return stall_ranks_meet(s->ranks, s->rank, &over, err);
}

int stall_phase_end(struct stall_session *s, uint64_t seed, struct stall_phase *phase,
		    struct stall_err *err)
{
	struct stall_evicted after;

	read_evicted(s, &after);
	stall_evicted_delta(&s->before, &after, &phase->evicted);
	stall_times_sum(&s->times, phase);
	phase->copy_ok = true;
	return seed ? stall_work_check(&s->work, seed, &phase->copy_ok, err) : 0;
}

int stall_iterate(struct stall_session *s, bool *over, struct stall_err *err)
{
	uint64_t begin, end;

	if (stall_stopped())
		return stall_fail(err, HCW_EXIT_INCOMPLETE, "stopped by a signal");
	if (stall_work_iterate(&s->work, over, &begin, &end, err))
		return -1;
	stall_times_add(&s->times, begin, end);
	return 0;
}
