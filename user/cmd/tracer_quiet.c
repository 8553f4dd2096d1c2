/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When marks may be planted. That write-locks the mmap_lock of every process that maps the file,
 * watched or not, and a restore worker holds it for as long as it faults a pool in: who faults or
 * maps memory then waits behind us. So nobody at KFD may be evicted, nor have been a moment ago.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "../probe/watch.h"
#include "../sys/kfd.h"
#include "../sys/proc.h"
#include "tracer_internal.h"

#define READ_MS	    500
#define WALK_MS	    5000
#define POLL_MS	    200
#define END_POLL_MS 20
#define WAIT_NS	    10000000000ull /* of a command for others, and before it is said */
#define OLD_PASS_NS 90000000000ull /* longer than the longest stall reported */

struct look {
	struct tracer *r;
	__u64 now;
	pid_t only; /* looked at, 0 = all */
	pid_t busy; /* somebody who is evicted or was a moment ago, 0 = nobody */
};

static bool lives(struct tracer *r, pid_t pid)
{
	struct hcs_proc p;
	int ret;

	if (r->pids != FILTER_PIDS_HOST)
		return true; /* cannot be told */
	ret = hcs_proc_read(r->root, pid, &p, hcs_deadline_ms(READ_MS));
	return ret ? ret != -ENOENT : p.state != 'Z' || p.threads > 1;
}

/* One that was killed while evicted will never show a sign again. */
static void look_at(pid_t tgid, const struct hcw_quiet *quiet, void *ctx)
{
	struct look *l = ctx;

	if (l->only && l->only != tgid)
		return;
	if (!quiet->last || (!quiet->evicted && l->now > quiet->last + WATCHED_QUIET_NS))
		return;
	if (lives(l->r, tgid))
		l->busy = tgid;
}

/*
 * A kernel worker in the middle of a work of a queue that restore workers are on:
 * "kworker/3:1+events". The others have a '-' there. Source: kernel/workqueue.c
 * wq_worker_comm(), since 4.18. Its stack would tell the function, but reading that of a task that
 * runs warns where kretprobes are.
 */
static int at_work(pid_t pid, void *ctx)
{
	struct tracer *r = ctx;
	struct hcs_proc p;
	const char *queue;

	if (hcs_proc_read(r->root, pid, &p, hcs_deadline_ms(READ_MS)) ||
	    strncmp(p.comm, "kworker/", 8))
		return 0;
	queue = strchr(p.comm, '+');
	return queue && (!strncmp(queue, "+events", 7) || !strncmp(queue, "+kfd", 4));
}

/*
 * An eviction from before we came shows no sign while a pass runs, which can be a minute; but then
 * a worker is at it. Once a look finds none it is over; some driver's endless work is not waited
 * for.
 */
static bool old_pass_runs(struct tracer *r)
{
	if (r->no_old_pass || r->pids != FILTER_PIDS_HOST)
		return false;
	if (hcs_boot_ns() < r->attached + OLD_PASS_NS &&
	    hcs_proc_each(r->root, at_work, r, hcs_deadline_ms(WALK_MS)) == 1)
		return true;
	r->no_old_pass = true;
	return false;
}

static void say_waiting(struct tracer *r, pid_t busy)
{
	if (r->told_waiting || hcs_boot_ns() < r->attached + WAIT_NS)
		return;
	r->told_waiting = true;
	if (busy)
		fprintf(stderr, "hcwatch: process %d is evicted again and again:\n", (int)busy);
	else
		fputs("hcwatch: a process is evicted since before this began:\n", stderr);
	fputs("  iterations and pools are not seen until it has been quiet for 1 s\n", stderr);
}

/* Of those whose evictions we would have seen. */
static bool is_quiet(struct tracer *r)
{
	struct look l = {.r = r, .now = hcs_boot_ns()};
	bool old;

	hcw_session_each_quiet(r->session, look_at, &l);
	old = !l.busy && old_pass_runs(r);
	if (l.busy || old)
		say_waiting(r, l.busy);
	return !l.busy && !old;
}

bool quiet_everywhere(struct tracer *r)
{
	return hcs_boot_ns() > r->attached + WATCHED_QUIET_NS && is_quiet(r);
}

bool quiet_process(struct tracer *r, pid_t pid)
{
	struct watched *w = watched_find(&r->watched, (__u32)pid, 0);
	struct look l = {.r = r, .now = hcs_boot_ns(), .only = pid};

	if (w && !watched_settled(w, l.now))
		return false;
	if (w && !w->last)
		return true; /* seen from its birth: it was never evicted */
	/* an eviction from before we came shows no sign */
	if (l.now <= r->attached + WATCHED_QUIET_NS || old_pass_runs(r))
		return false;
	hcw_session_each_quiet(r->session, look_at, &l);
	return !l.busy;
}

static int somebody(pid_t pid, void *ctx)
{
	(void)pid;
	(void)ctx;
	return 1;
}

static bool kfd_unused(struct tracer *r)
{
	return hcs_kfd_each(r->root, somebody, NULL, hcs_deadline_ms(READ_MS)) != 1;
}

void quiet_before_end(struct tracer *r, bool (*go_on)(void *ctx), void *ctx)
{
	if (!r->session || !r->marks || kfd_unused(r))
		return;
	while (go_on(ctx) && !is_quiet(r))
		poll(NULL, 0, END_POLL_MS);
}

bool quiet_wait(struct tracer *r)
{
	__u64 end = hcs_boot_ns() + WAIT_NS;

	if (kfd_unused(r))
		return true;
	fputs("hcwatch: others use the GPU: the command starts when they are quiet\n", stderr);
	while (!quiet_everywhere(r)) {
		/* a signal: there will be no command */
		if (hcs_boot_ns() > end || poll(NULL, 0, POLL_MS) < 0)
			return false;
	}
	return true;
}
