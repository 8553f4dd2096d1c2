/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine behind `record`, `lab` and `live`: a tracing session whose records, with what only
 * user space can tell (header, mappings of pools, names of stacks, evicted_ms, totals, holes) added
 * in place, go to a sink.
 */
#ifndef HCW_TRACER_H
#define HCW_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../base/err.h"
#include "../probe/choice.h"
#include "../probe/plan.h"
#include "filter.h"

/* Where the records go. A negative return ends the tracing and is returned by tracer_run(); err
 * says why. */
struct tracer_sink {
	/* `body` has rec->len bytes. */
	int (*put)(void *ctx, const struct hcw_rec *rec, const void *body, struct hcw_err *err);
	/* After each batch of records, at least every 100 ms; `second` is true once a second. May
	 * be NULL. */
	int (*settle)(void *ctx, __u64 now, bool second, struct hcw_err *err);
	void *ctx;
};

struct tracer_opts {
	struct tracer_sink sink;
	struct filter filter; /* processes to watch */
	char *const *argv;    /* command to run and watch, NULL = none; with neither, every process
				 seen at KFD */
	int stdout_fd;	      /* the command's stdout, -1 = ours */
	bool own_command;     /* the command is our own tool: it ends with us */
	size_t ring_bytes;    /* between kernel and us, 0 = as budget_of() says */
	uint64_t mem_bytes;   /* of --mem, 0 = default */
	bool long_running;    /* as in struct hcw_session_opts */
	struct hcw_probe_choices choices; /* of --probe */
	bool no_wait;			  /* fail when the driver is not loaded; else wait for it */
	bool follow; /* when a process of -p ends, wait for its successor and go on with that
		      */
	const char
		*ready_file; /* made when everything is attached, removed at the end; NULL = none */
};

struct tracer_result {
	pid_t child;
	bool child_ended; /* false: the user's command runs on */
	int child_status; /* as from waitpid() */
	bool signalled;	  /* ended by a signal to us */
	bool gap; /* a driver was absent for a time, or still is; or the ring was not read to its
		     end */
	unsigned long long lost;
	struct hcw_plan plan; /* as attached at the end */
};

/*
 * Traces until the command ends, the watched process ends or a signal comes (SIGINT, SIGTERM,
 * SIGHUP; a second one ends the program at once). The records of the kernel side reach the sink
 * before those that were made because of them. On failure the sink has had what was traced until
 * then.
 */
int tracer_run(const struct tracer_opts *opts, struct tracer_result *out, struct hcw_err *err);

/* Points without which an episode or its cause could go unseen. */
bool tracer_plan_complete(const struct hcw_plan *plan);

/* On stderr, a line for each point that is not traced. */
void tracer_say_missing(const struct hcw_plan *plan);

#endif
