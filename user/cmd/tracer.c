/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../sys/proc.h"
#include "recorder_internal.h"

#define TICK_NS	   1000000000ull /* totals, samples, flush: what a killed recorder may lose */
#define PUMP_MS	   100
#define DRAIN_MS   50	/* for records of calls that return after the command ended */
#define FORWARD_MS 1500 /* a command told to end has this long, so that we are gone within 2 s */

static volatile sig_atomic_t stop_signal;

static void on_signal(int sig)
{
	stop_signal = sig;
}

/* SIGCHLD has a handler too, so that it ends a wait in the pump. */
static void on_child(int sig)
{
	(void)sig;
}

static void catch_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = on_signal};
	size_t i;

	stop_signal = 0;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &sa, NULL);
	sa.sa_handler = on_child;
	sigaction(SIGCHLD, &sa, NULL);
}

static int take(const struct hcw_rec *rec, void *ctx)
{
	struct recorder *r = ctx;
	int ret = hcw_writer_put(r->writer, rec, rec + 1, r->err);

	return ret ? ret : watch_record(r, rec);
}

/* Files that carry the marks before the command has mapped them. */
static void attach_known_files(struct recorder *r)
{
	char exe[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int got;

	if (r->opts->argv && !child_path(r->opts->argv[0], path, sizeof(path))) {
		got = hcw_session_attach_file(r->session, path, NULL);
		r->marks += got > 0 ? (size_t)got : 0;
	}
	if (n > 0) {
		exe[n] = '\0';
		*strrchr(exe, '/') = '\0';
		snprintf(path, sizeof(path), "%s/../lib/libhcpool.so.0", exe);
		got = hcw_session_attach_file(r->session, path, NULL);
		r->marks += got > 0 ? (size_t)got : 0;
	}
	if (r->opts->library) {
		got = hcw_session_attach_file(r->session, r->opts->library, NULL);
		r->marks += got > 0 ? (size_t)got : 0;
	}
}

static int watch_process(struct recorder *r, pid_t pid)
{
	struct hcs_proc p;
	int ret = hcs_proc_read(r->root, pid, &p, hcs_deadline_ms(1000));

	if (ret || p.state == 'Z') {
		hcw_err_set(r->err, -ESRCH, HCW_EXIT_USAGE, "no process %d", (int)pid);
		hcw_err_hint(r->err, "-p takes the pid of a running process, as this host sees it");
		return -ESRCH;
	}
	ret = hcw_session_watch(r->session, pid, r->err);
	if (ret)
		return ret;
	watch_find(r, (__u32)pid, 0);
	return watch_files(r);
}

static int start(struct recorder *r)
{
	int ret;

	attach_known_files(r);
	if (r->opts->argv) {
		ret = child_start(&r->child, r->opts->argv, r->opts->stdout_fd, r->err);
		if (!ret)
			ret = hcw_session_watch(r->session, r->child.pid, r->err);
		if (ret)
			return ret;
		watch_find(r, (__u32)r->child.pid, 0);
	}
	ret = note_header(r);
	if (!ret)
		ret = note_clock(r);
	if (!ret && r->opts->pid)
		ret = watch_process(r, r->opts->pid);
	r->last_look = hcs_boot_ns();
	r->next_tick = r->last_look + TICK_NS;
	if (!ret)
		ret = hcw_writer_flush(r->writer, r->err);
	if (!ret && r->opts->argv)
		ret = child_release(&r->child, r->err);
	return ret;
}

static int tick(struct recorder *r, unsigned long long *lost)
{
	int ret = note_totals(r, true, lost);

	r->next_tick = hcs_boot_ns() + TICK_NS;
	if (!ret)
		ret = note_clock(r);
	if (!ret)
		ret = note_samples(r);
	if (!ret)
		ret = watch_files(r);
	return ret ? ret : hcw_writer_flush(r->writer, r->err);
}

static bool over(struct recorder *r)
{
	struct hcs_proc p;

	if (stop_signal)
		return true;
	if (r->opts->argv)
		return child_ended(&r->child);
	if (!r->opts->pid)
		return false;
	return hcs_proc_read(r->root, r->opts->pid, &p, 0) || p.state == 'Z';
}

static int pump(struct recorder *r, int ms)
{
	int n = hcw_session_pump(r->session, ms, take, r);

	if (n == -EINTR)
		return 0;
	if (n < 0 && !r->err->what[0])
		hcw_err_set(r->err, n, HCW_EXIT_INCOMPLETE, "cannot read the ring: %s",
			    strerror(-n));
	return n;
}

static int loop(struct recorder *r, struct recorder_result *out)
{
	int ret = 0;

	while (ret >= 0 && !over(r)) {
		ret = pump(r, PUMP_MS);
		if (ret >= 0)
			ret = watch_pending(r, false);
		if (ret >= 0)
			ret = note_totals(r, false, &out->lost);
		if (ret >= 0 && hcs_boot_ns() >= r->next_tick)
			ret = tick(r, &out->lost);
	}
	return ret < 0 ? ret : 0;
}

/* Lets the command end, takes what is still in the ring, and closes the stream. */
static int finish(struct recorder *r, struct recorder_result *out)
{
	int ret, sig = stop_signal;

	out->signalled = sig != 0;
	child_stop(&r->child, sig ? sig : SIGTERM, FORWARD_MS);
	out->child_ended = r->child.ended;
	out->child_status = r->child.status;
	do {
		ret = pump(r, DRAIN_MS);
	} while (ret > 0);
	if (!ret)
		ret = watch_pending(r, true);
	if (!ret)
		ret = note_totals(r, true, &out->lost);
	if (!ret)
		ret = note_clock(r);
	if (!ret)
		ret = note_end(r, sig ? HCW_END_SIGNAL : HCW_END_COMMAND);
	return ret;
}

/* Before anything is made: a mistyped command must not leave a trace file behind. */
static int check_command(const struct recorder_opts *opts, struct hcw_err *err)
{
	char path[PATH_MAX];

	if (!opts->argv || !child_path(opts->argv[0], path, sizeof(path)))
		return 0;
	return hcw_err_set(err, -ENOENT, HCW_EXIT_USAGE, "no such program: %s", opts->argv[0]);
}

int recorder_run(const struct recorder_opts *opts, struct recorder_result *out, struct hcw_err *err)
{
	struct hcw_session_opts so = {
		.watch_all = !opts->pid && !opts->argv,
		.long_running = opts->long_running,
	};
	struct recorder *r = calloc(1, sizeof(*r));
	struct hcw_err close_err;
	int ret, closed;

	*out = (struct recorder_result){0};
	if (!r)
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	*err = (struct hcw_err){0};
	r->opts = opts;
	r->err = err;
	r->child = (struct hcw_child){.hold_fd = -1, .error_fd = -1};
	r->root = hcs_root();
	catch_signals();
	ret = check_command(opts, err);
	if (!ret)
		ret = hcw_session_open(&r->session, &so, err);
	if (!ret)
		ret = hcw_writer_open(&r->writer, opts->path, err);
	if (!ret)
		ret = start(r);
	if (!ret)
		ret = loop(r, out);
	if (!ret)
		ret = finish(r, out);
	else
		child_stop(&r->child, SIGTERM, FORWARD_MS);
	if (r->writer)
		out->records = hcw_writer_records(r->writer);
	closed = hcw_writer_close(r->writer, &close_err);
	if (closed && !ret) {
		*err = close_err;
		ret = closed;
	}
	if (r->session)
		out->plan = *hcw_session_plan(r->session);
	hcw_session_close(r->session);
	hcs_kallsyms_free(r->symbols);
	if (r->root >= 0)
		close(r->root);
	free(r);
	return ret;
}
