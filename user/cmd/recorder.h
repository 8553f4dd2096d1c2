/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder behind `record` and `lab`: a tracing session pumped into a trace file, with what
 * only user space can tell (mappings of pools, names of stacks, evicted_ms, totals, holes) added in
 * place.
 */
#ifndef HCW_RECORDER_H
#define HCW_RECORDER_H

#include <stdbool.h>
#include <sys/types.h>
#include "../base/err.h"
#include "../probe/plan.h"

struct recorder_opts {
	const char *path;    /* trace file to create */
	pid_t pid;	     /* process to watch, 0 = none */
	char *const *argv;   /* command to run and watch, NULL = none; with neither, every process
				seen at KFD */
	int stdout_fd;	     /* the command's stdout, -1 = ours */
	bool long_running;   /* as in struct hcw_session_opts */
	const char *library; /* libhcpool to watch besides those found, NULL = none */
};

struct recorder_result {
	bool child_ended;
	int child_status;	    /* as from waitpid() */
	bool signalled;		    /* ended by a signal to us */
	unsigned long long records; /* written */
	unsigned long long lost;
	struct hcw_plan plan; /* as attached at the end */
};

/*
 * Records until the command ends, the watched process ends or a signal comes (SIGINT, SIGTERM,
 * SIGHUP). On failure the file holds what was recorded until then.
 */
int recorder_run(const struct recorder_opts *opts, struct recorder_result *out,
		 struct hcw_err *err);

#endif
