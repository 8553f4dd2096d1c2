/* SPDX-License-Identifier: BSD-2-Clause */
/* A tracer whose sink is a trace file: `record`, and each arm of `lab`. */
#ifndef HCW_RECORDER_H
#define HCW_RECORDER_H

#include "tracer.h"

struct recorder_opts {
	const char *path;	  /* trace file to create, "-" = stdout */
	struct tracer_opts trace; /* all but its sink */
};

struct recorder_result {
	pid_t child;
	bool child_ended;
	int child_status;
	bool signalled;
	bool gap;			/* as in struct tracer_result */
	bool reader_gone;		/* the reader of a pipe closed it: a quiet end */
	unsigned long long records;	/* in the file */
	unsigned long long not_written; /* taken, but the file would not hold them */
	unsigned long long lost;
	struct hcw_plan plan;
};

/* Records as tracer_run() traces. On failure the file holds what was recorded until then. */
int recorder_run(const struct recorder_opts *opts, struct recorder_result *out,
		 struct hcw_err *err);

#endif
