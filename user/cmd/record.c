/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch record: trace into a file, until the command or a signal ends it. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include "../sys/num.h"
#include "command.h"
#include "recorder.h"

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "trace file to create; must not exist (required)", 0},
	{"pid", 'p', "PID", 0, "watch this process", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recorder_opts *o = state->input;
	uint64_t pid;

	switch (key) {
	case 'o':
		o->path = arg;
		return 0;
	case 'p':
		if (hcs_num_u64(arg, 1, 4194304, &pid))
			argp_error(state, "not a pid: %s", arg);
		o->pid = (pid_t)pid;
		return 0;
	case ARGP_KEY_ARGS:
		o->argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (!o->path)
			argp_error(state, "-o FILE is missing: where should the trace go?");
		if (o->pid && o->argv)
			argp_error(state, "-p and a command cannot go together");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Points without which an episode could go unseen. */
static bool plan_complete(const struct hcw_plan *plan)
{
	return plan->entry[HCW_POINT_MOVE_PAGES].active && plan->entry[HCW_POINT_MIGRATE].active &&
	       plan->entry[HCW_POINT_NOTIFIER].active && plan->entry[HCW_POINT_QUIESCE].active &&
	       plan->entry[HCW_POINT_RESUME].active;
}

static void say_plan(const struct hcw_plan *plan)
{
	size_t i;

	for (i = 0; i < HCW_POINT_COUNT; i++)
		if (!plan->entry[i].active)
			fprintf(stderr, "hcwatch: %s is not traced: %s\n",
				hcw_point_name(plan->entry[i].point), plan->entry[i].reason);
}

int cmd_record(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[-- COMMAND...]",
		.doc = "Trace page migrations, MMU-notifier invalidations, KFD evictions and GPU iterations into a file. "
		       "With neither -p nor a command, every process that uses KFD is watched.\v"
		       "Ends with the command, with the process of -p, or on SIGINT, SIGTERM or SIGHUP.\n"
		       "Exit status: 0 recorded, 4 not permitted, 5 recorded with loss or a missing probe.",
	};
	struct recorder_opts opts = {.stdout_fd = -1, .long_running = true};
	struct recorder_result res;
	struct hcw_err err;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &opts);
	if (recorder_run(&opts, &res, &err))
		return hcw_err_print(stderr, "hcwatch", &err);
	say_plan(&res.plan);
	fprintf(stderr, "hcwatch: %llu records in %s, lost %llu\n", res.records, opts.path,
		res.lost);
	return res.lost || !plan_complete(&res.plan) ? HCW_EXIT_INCOMPLETE : HCW_EXIT_OK;
}
