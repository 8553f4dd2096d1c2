/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "evicted.h"
#include "precheck.h"
#include "run.h"
#include "stop.h"
#include "trial.h"

#define WARM_UPS 50

struct run {
	const struct stall_options *opts;
	struct stall_result *result;
	struct stall_work work;
	struct stall_window window;
	struct stall_times times;
	int home; /* node the window is on before the first trial */
	int root;
};

static void __attribute__((format(printf, 1, 2))) progress(const char *fmt, ...)
{
	va_list ap;

	if (!isatty(STDERR_FILENO))
		return;
	fputs("hcstall: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static int warm_up(struct run *run, struct stall_err *err)
{
	int i;

	for (i = 0; i < WARM_UPS; i++) {
		if (stall_stopped())
			return stall_fail(err, HCW_EXIT_INCOMPLETE, "stopped by a signal");
		if (stall_work_run(&run->work, err))
			return -1;
	}
	return 0;
}

/*
 * Sees to it that the window is on one node, so that every page has somewhere to go in each trial.
 * It is moved only when it must be: a move is an attempt in its own right. Driver memory tells no
 * node, and is left alone.
 */
static void settle_window(struct run *run)
{
	int first = run->result->node[0];

	run->home = first;
	stall_window_set(&run->window, run->result->pool.host, STALL_WINDOW_BYTES);
	if (stall_window_query(&run->window) || run->window.status[0] < 0)
		return;
	run->home = stall_window_node(&run->window);
	if (run->home >= 0)
		return;
	stall_window_move(&run->window, first);
	run->home = first;
}

static int control(struct run *run, struct stall_err *err)
{
	struct stall_result *r = run->result;
	struct stall_evicted before, after;

	progress("control phase, %u iterations", r->iterations);
	stall_evicted_read(run->root, &before);
	if (stall_control(&run->work, r->iterations, &run->times, err))
		return -1;
	stall_evicted_read(run->root, &after);
	stall_evicted_delta(&before, &after, &r->control_evicted);
	r->control_median_ns = stall_times_median(&run->times);
	r->control_max_ns = run->times.max_ns;
	return 0;
}

/* Away from home in the first trial, back in the second, and so on. */
static int target_node(const struct run *run, unsigned int trial)
{
	const struct stall_result *r = run->result;

	if (trial % 2)
		return run->home;
	return r->node[0] == run->home ? r->node[1] : r->node[0];
}

static int trial(struct run *run, unsigned int i, struct stall_err *err)
{
	struct stall_trial *t = &run->result->trial[i];
	struct stall_evicted before, after;

	progress("trial %u of %u", i + 1, run->opts->trials);
	run->times.kept = 0;
	run->times.max_ns = 0;
	t->target_node = target_node(run, i);
	stall_evicted_read(run->root, &before);
	if (stall_trial(&run->work, &run->window, run->opts->iterations, i + 1, &run->times, t,
			err))
		return -1;
	stall_evicted_read(run->root, &after);
	stall_evicted_delta(&before, &after, &t->evicted);
	/* A call that failed as a whole will fail again, and no page was asked. */
	if (t->rc < 0)
		return stall_move_refused(t->error, t->target_node, err);
	run->result->trials++;
	return 0;
}

static int measure(struct run *run, struct stall_err *err)
{
	unsigned int i;

	settle_window(run);
	if (warm_up(run, err) || control(run, err))
		return -1;
	for (i = 0; i < run->opts->trials; i++)
		if (trial(run, i, err))
			return -1;
	return 0;
}

static int with_pool(struct run *run, struct stall_gpu *gpu, struct stall_err *err)
{
	struct stall_err close_err;
	struct stall_pool pool;
	int ret;

	progress("making and writing a pool of %llu MiB",
		 (unsigned long long)(run->opts->pool_bytes >> 20));
	if (stall_pool_open(&pool, run->opts, err))
		return -1;
	run->result->pool = pool.info;
	ret = stall_work_open(&run->work, gpu, &pool, err);
	if (!ret) {
		ret = measure(run, err);
		stall_work_close(&run->work);
	}
	if (stall_pool_close(&pool, &close_err) && !ret) {
		*err = close_err;
		ret = -1;
	}
	return ret;
}

static int with_memory(struct run *run, struct stall_err *err)
{
	struct stall_result *r = run->result;
	struct stall_gpu gpu;
	int ret;

	r->trial = calloc(r->trials_wanted, sizeof(*r->trial));
	run->times.size = r->iterations;
	run->times.ns = calloc(r->iterations, sizeof(*run->times.ns));
	if (!r->trial || !run->times.ns)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "no memory for the results");
	if (stall_gpu_open(&gpu, run->opts, err))
		return -1;
	ret = stall_gpu_describe(&gpu, run->root, r, err);
	if (!ret)
		ret = with_pool(run, &gpu, err);
	stall_gpu_close(&gpu);
	return ret;
}

int stall_run(const struct stall_options *opts, struct stall_result *result, struct stall_err *err)
{
	struct run run = {.opts = opts, .result = result};
	int ret;

	memset(result, 0, sizeof(*result));
	result->allocator = hcpool_backing_name(opts->backing);
	result->iterations = opts->iterations;
	result->trials_wanted = opts->trials;
	run.root = hcs_root();
	if (run.root < 0)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot open /: %s",
				  strerror(-run.root));
	ret = stall_precheck(run.root, opts, result, err);
	if (!ret)
		ret = with_memory(&run, err);
	free(run.times.ns);
	close(run.root);
	return ret;
}
