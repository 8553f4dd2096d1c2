/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "../base/progress.h"
#include "../trace/trace.h"
#include "child.h"
#include "recorder.h"

#define FLUSH_NS 500000000ull

struct recorder {
	struct hcw_writer *writer;
	__u64 next_flush;
	__u64 flushed; /* records the file holds for certain */
	bool failed;
	struct hcw_progress progress; /* silent when a command has the terminal */
};

static int put(void *ctx, const struct hcw_rec *rec, const void *body, struct hcw_err *err)
{
	struct recorder *r = ctx;
	int ret = hcw_writer_put(r->writer, rec, body, err);

	r->failed |= ret < 0;
	return ret;
}

/* A killed recorder loses no more than a second, also when a busy machine makes us late. */
static int settle(void *ctx, __u64 now, bool second, struct hcw_err *err)
{
	struct recorder *r = ctx;
	int ret;

	if (second)
		hcw_progress_show(&r->progress, "recording: %llu records; Ctrl-C ends it",
				  (unsigned long long)hcw_writer_records(r->writer));
	if (!second && now < r->next_flush)
		return 0;
	r->next_flush = now + FLUSH_NS;
	ret = hcw_writer_flush(r->writer, err);
	r->failed |= ret < 0;
	if (!ret)
		r->flushed = hcw_writer_records(r->writer);
	return ret;
}

static void take_result(struct recorder_result *out, const struct tracer_result *tr,
			const struct recorder *r)
{
	*out = (struct recorder_result){
		.child = tr->child,
		.child_ended = tr->child_ended,
		.child_status = tr->child_status,
		.signalled = tr->signalled,
		.gap = tr->gap,
		.lost = tr->lost,
		.plan = tr->plan,
		.records = hcw_writer_records(r->writer),
	};
}

static int finish(struct recorder *r, struct recorder_result *out, int ret, struct hcw_err *err)
{
	struct hcw_err closing = {0};
	int closed = hcw_writer_close(r->writer, &closing);

	if (closed && !ret) {
		*err = closing;
		ret = closed;
		r->failed = true;
	}
	if (r->failed) {
		out->not_written = out->records - r->flushed;
		out->records = r->flushed;
	}
	out->reader_gone = r->failed && ret == -EPIPE;
	return out->reader_gone ? 0 : ret;
}

int recorder_run(const struct recorder_opts *opts, struct recorder_result *out, struct hcw_err *err)
{
	struct recorder r = {0};
	struct tracer_opts to = opts->trace;
	struct tracer_result tr = {0};
	int ret;

	to.sink = (struct tracer_sink){.put = put, .settle = settle, .ctx = &r};
	/* the trace has stdout for itself */
	if (!strcmp(opts->path, "-") && to.argv)
		to.stdout_fd = STDERR_FILENO;
	*out = (struct recorder_result){0};
	*err = (struct hcw_err){0};
	ret = hcw_writer_open(&r.writer, opts->path, err);
	if (ret)
		return ret;
	if (!to.argv)
		hcw_progress_start(&r.progress, stderr);
	ret = tracer_run(&to, &tr, err);
	hcw_progress_end(&r.progress);
	take_result(out, &tr, &r);
	/* nothing was traced: do not stand in the way of the next try */
	if (ret && !r.flushed && strcmp(opts->path, "-"))
		unlink(opts->path);
	return finish(&r, out, ret, err);
}
