/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../out/fmt.h"
#include "../out/report.h"
#include "../sys/proc.h"
#include "budget.h"
#include "tracer_internal.h"

#define TICK_NS	   1000000000ull /* totals, samples, flush: what a killed recorder may lose */
#define PUMP_MS	   100
#define LOOK_NS	   100000000ull /* at the counters of loss, also under a flood */
#define DRAIN_MS   50		/* for records of calls that return after the command ended */
#define DRAIN_NS   300000000ull /* at most, so that we are gone within 2 s */
#define FORWARD_MS 1500 /* a command told to end has this long, so that we are gone within 2 s */
#define REPEAT_MS  150	/* two signals within this are one request */
#define QUIET_MS   1000 /* for a stall to end before marks are removed */
#define LEAVE_MS   1600 /* after a signal they are removed in any case */
#define SYMBOLS_MS 60000

static volatile sig_atomic_t stop_signal;
static volatile long stop_ms; /* when it came, CLOCK_MONOTONIC */
static volatile sig_atomic_t
	from_terminal; /* then the command, of the same group, has had it too */

static long monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * The first asks for an orderly end; whoever asks twice does not want to wait for one. The same
 * request can come to us and to our process group in one go, as from timeout(1): that is one.
 */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	long ms = monotonic_ms(); /* async-signal-safe */

	(void)context;
	if (stop_signal && ms - stop_ms > REPEAT_MS)
		_exit(128 + sig);
	if (stop_signal)
		return;
	stop_ms = ms;
	stop_signal = sig;
	from_terminal = info->si_code == SI_KERNEL;
}

/* SIGCHLD has a handler too, so that it ends a wait in the pump. */
static void on_child(int sig)
{
	(void)sig;
}

static void catch_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	size_t i;

	stop_signal = 0;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &sa, NULL);
	sa.sa_flags = 0;
	sa.sa_handler = on_child;
	sigaction(SIGCHLD, &sa, NULL);
	/* a reader that goes away is an error of write(), to be handled there */
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
}

int tracer_put(struct tracer *r, const struct hcw_rec *rec, const void *body)
{
	const struct tracer_sink *sink = &r->opts->sink;
	int ret = sink->put(sink->ctx, rec, body, r->err);

	if (ret < 0)
		r->failed_sink = true;
	else
		r->records++;
	return ret;
}

/* -EAGAIN leaves the pump so that what is due happens also under a flood. */
static int take(const struct hcw_rec *rec, void *ctx)
{
	struct tracer *r = ctx;
	int ret;

	r->last_ts = rec->ts;
	if (filter_drops(r, rec))
		return 0;
	ret = tracer_put(r, rec, rec + 1);
	if (!ret)
		ret = watch_record(r, rec);
	if (!ret && !(r->records % 4096) && hcs_boot_ns() - r->last_look >= LOOK_NS)
		ret = -EAGAIN;
	return ret;
}

static int settle(struct tracer *r, bool second)
{
	const struct tracer_sink *sink = &r->opts->sink;
	int ret = sink->settle ? sink->settle(sink->ctx, hcs_boot_ns(), second, r->err) : 0;

	r->failed_sink |= ret < 0;
	return ret;
}

/* For tests and scripts; what is left of an earlier run must not look like this one. */
static int ready_file_make(struct tracer *r)
{
	FILE *f;

	if (!r->opts->ready_file || r->ready)
		return 0;
	r->ready = true;
	f = fopen(r->opts->ready_file, "we");
	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f))
		return hcw_err_set(r->err, -EIO, HCW_EXIT_USAGE,
				   "cannot write the ready file %s: %s", r->opts->ready_file,
				   strerror(errno));
	return 0;
}

/* Held, until everything is attached. */
static int start_command(struct tracer *r)
{
	int ret = child_start(&r->child, r->opts->argv, r->opts->stdout_fd, r->opts->own_command,
			      r->err);

	if (ret)
		return ret;
	r->command = filter_child(r->root, r->child.pid);
	if (r->command < 0)
		return hcw_err_set(r->err, -ESRCH, HCW_EXIT_UNSUPPORTED,
				   "cannot find the command in /proc");
	watched_add(&r->watched, (__u32)r->command, 0);
	return hcw_session_watch(r->session, r->command, r->err);
}

/* One that is there already must not look like ours. Before the probes are attached, which takes a
 * while: that it can be made is known then, too. */
static int ready_file_clear(const struct tracer_opts *opts, struct hcw_err *err)
{
	char folder[PATH_MAX];

	if (!opts->ready_file)
		return 0;
	snprintf(folder, sizeof(folder), "%s", opts->ready_file);
	if ((!unlink(opts->ready_file) || errno == ENOENT) && !access(dirname(folder), W_OK))
		return 0;
	return hcw_err_set(err, -errno, HCW_EXIT_USAGE, "cannot make the ready file %s: %s",
			   opts->ready_file, strerror(errno));
}

static int start(struct tracer *r)
{
	int ret = 0;

	r->attached = hcs_boot_ns();
	/* a command is marked from its first instruction on */
	if (r->opts->argv && quiet_wait(r))
		watch_known_files(r);
	if (filter_named(&r->opts->filter))
		ret = target_start(r);
	else if (!r->opts->argv)
		filter_number_all(r);
	if (!ret && r->opts->argv)
		ret = start_command(r);
	if (ret)
		return ret;
	ret = note_header(r);
	/* until exec its command line is ours */
	r->told_target &= !r->opts->argv;
	if (!ret)
		ret = note_clock(r);
	r->last_look = hcs_boot_ns();
	r->next_tick = r->last_look + TICK_NS;
	if (!ret)
		ret = settle(r, true);
	/* with nobody named, whoever comes next is the one: not before its pools can be seen */
	if (!ret && (r->opts->argv || filter_named(&r->opts->filter)))
		ret = ready_file_make(r);
	if (!ret && r->opts->argv)
		ret = child_release(&r->child, r->err);
	return ret;
}

static int tick(struct tracer *r, unsigned long long *lost)
{
	int ret = note_totals(r, true, lost);

	r->next_tick = hcs_boot_ns() + TICK_NS;
	if (!ret)
		ret = note_clock(r);
	if (!ret)
		ret = note_samples(r);
	if (!ret)
		ret = filter_look(r);
	if (!ret)
		ret = watch_files(r);
	target_identify(r);
	if (!ret)
		ret = note_target(r);
	if (!ret && r->known_files)
		ret = ready_file_make(r);
	return ret ? ret : settle(r, true);
}

static bool over(struct tracer *r)
{
	if (stop_signal)
		return true;
	if (r->opts->argv)
		return child_ended(&r->child);
	return filter_named(&r->opts->filter) && target_over(r);
}

static int pump(struct tracer *r, int ms)
{
	int n = hcw_session_pump(r->session, ms, take, r);

	r->unread = n == -EINTR || n == -EAGAIN;
	if (r->unread)
		return 0;
	if (n < 0 && !r->err->what[0])
		hcw_err_set(r->err, n, HCW_EXIT_INCOMPLETE, "cannot read the ring: %s",
			    strerror(-n));
	return n;
}

static int loop(struct tracer *r, struct tracer_result *out)
{
	int ret = 0;

	while (ret >= 0 && !over(r)) {
		ret = pump(r, PUMP_MS);
		if (ret >= 0)
			ret = driver_look(r);
		if (ret >= 0)
			ret = watch_pending(r, false);
		if (ret >= 0)
			ret = note_totals(r, false, &out->lost);
		if (ret >= 0 && hcs_boot_ns() >= r->next_tick)
			ret = tick(r, &out->lost);
		else if (ret >= 0)
			ret = settle(r, false);
	}
	return ret < 0 ? ret : 0;
}

/* Takes what is in the ring, also under a flood that goes on. What could not be read in time is
 * missing at the end. */
static int drain(struct tracer *r, unsigned long long *lost)
{
	__u64 until = hcs_boot_ns(), now;
	int ret;

	do {
		ret = pump(r, DRAIN_MS);
		now = hcs_boot_ns();
		if (ret >= 0 && r->unread && now - r->last_look >= LOOK_NS)
			ret = note_totals(r, false, lost);
	} while ((ret > 0 || (!ret && r->unread)) && r->last_ts < until + DRAIN_MS * 1000000ull &&
		 now < until + DRAIN_NS);
	/* time alone says nothing: a slow machine may have found the ring empty late */
	if (ret >= 0 && r->unread && r->last_ts < until) {
		r->had_gap = true;
		return note_unread(r, r->last_ts, until);
	}
	return ret < 0 ? ret : 0;
}

/* Lets the command end, takes what is still in the ring, and closes the stream. */
static int finish(struct tracer *r, struct tracer_result *out)
{
	int ret, sig = stop_signal;

	out->signalled = sig != 0;
	if (sig)
		child_leave(&r->child, from_terminal ? 0 : sig, FORWARD_MS);
	ret = drain(r, &out->lost);
	if (!ret)
		ret = watch_pending(r, true);
	if (!ret)
		ret = driver_end(r);
	if (!ret)
		ret = note_totals(r, true, &out->lost);
	if (!ret)
		ret = note_clock(r);
	if (!ret)
		ret = note_end(r, sig ? HCW_END_SIGNAL : HCW_END_COMMAND);
	return ret ? ret : settle(r, true);
}

struct end_wait {
	int signal; /* that was there when it began */
	long until;
};

/* Who asks for an end meanwhile has waited enough. */
static bool wait_on(void *ctx)
{
	const struct end_wait *w = ctx;

	return stop_signal == w->signal && monotonic_ms() < w->until;
}

/* Not in the middle of a stall, if that can be helped; and yet gone within 2 s of a signal. */
static void wait_for_quiet(struct tracer *r)
{
	struct end_wait w = {.signal = stop_signal, .until = monotonic_ms() + QUIET_MS};

	if (r->opts->own_command) /* it has ended, and nobody waits for its threads */
		return;
	if (w.signal && w.until > stop_ms + LEAVE_MS)
		w.until = stop_ms + LEAVE_MS;
	quiet_before_end(r, wait_on, &w);
}

static void release(struct tracer *r, struct tracer_result *out)
{
	wait_for_quiet(r);
	out->child = r->child.pid;
	out->child_ended = r->child.ended;
	out->child_status = r->child.status;
	out->gap = r->had_gap;
	if (r->session)
		out->plan = *hcw_session_plan(r->session);
	hcw_session_close(r->session);
	hcs_kallsyms_free(r->symbols);
	if (r->opts->ready_file)
		unlink(r->opts->ready_file);
	if (r->root >= 0)
		close(r->root);
	free(r);
}

/* Before the probes are attached, which takes a while. */
static int check_command(const struct tracer_opts *opts, struct hcw_err *err)
{
	char path[PATH_MAX];

	if (!opts->argv || !child_path(opts->argv[0], path, sizeof(path)))
		return 0;
	return hcw_err_set(err, -ENOENT, HCW_EXIT_USAGE, "no such program: %s", opts->argv[0]);
}

int tracer_run(const struct tracer_opts *opts, struct tracer_result *out, struct hcw_err *err)
{
	struct hcw_session_opts so = {
		.watch_all = !filter_named(&opts->filter) && !opts->argv,
		.announce = filter_waits(&opts->filter),
		.long_running = opts->long_running,
		.ring_bytes = opts->ring_bytes ? opts->ring_bytes : budget_of(opts->mem_bytes).ring,
		.choices = opts->choices,
	};
	struct tracer *r = calloc(1, sizeof(*r));
	int ret;

	*out = (struct tracer_result){0};
	*err = (struct hcw_err){0};
	if (!r)
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	r->opts = opts;
	r->err = err;
	r->child = (struct hcw_child){.hold_fd = -1, .error_fd = -1};
	r->root = hcs_root();
	r->since = hcs_boot_ns();
	catch_signals();
	/* now, not with the first stack: that would hold up the news of the first stall. No names
	 * is no reason to fail. */
	hcs_kallsyms_load(&r->symbols, r->root, hcs_deadline_ms(SYMBOLS_MS));
	ret = check_command(opts, err);
	if (!ret)
		ret = target_resolve(r);
	if (!ret)
		ret = ready_file_clear(opts, err);
	so.symbols = r->symbols;
	if (!ret)
		ret = hcw_session_open(&r->session, &so, err);
	symbols_fit(r);
	if (!ret)
		ret = driver_start(r);
	if (!ret)
		ret = start(r);
	if (!ret)
		ret = loop(r, out);
	if (!ret)
		ret = finish(r, out);
	else
		/* what we could not do is no reason to stop the user's work; a signal is */
		child_leave(&r->child, from_terminal ? 0 : stop_signal,
			    stop_signal ? FORWARD_MS : 0);
	release(r, out);
	return ret;
}

bool tracer_plan_complete(const struct hcw_plan *plan)
{
	size_t i;

	for (i = 0; i < HCW_POINT_COUNT; i++)
		if (!plan->entry[i].active &&
		    report_point_needed(hcw_point_name(plan->entry[i].point)))
			return false;
	return true;
}

void tracer_say_missing(const struct hcw_plan *plan)
{
	char head[64];
	size_t i;

	for (i = 0; i < HCW_POINT_COUNT; i++) {
		if (plan->entry[i].active)
			continue;
		snprintf(head, sizeof(head),
			 "hcwatch: %s is not traced: ", hcw_point_name(plan->entry[i].point));
		fmt_wrap(stderr, head, plan->entry[i].reason);
	}
}
