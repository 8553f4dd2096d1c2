/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch record: trace into a file, until the command or a signal ends it. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "command.h"
#include "recorder.h"
#include "tracer_options.h"

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "trace file to create; must not exist (required)", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recorder_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		tracer_options_start(state, &o->trace);
		return 0;
	case 'o':
		o->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->path)
			argp_error(state, "-o FILE is missing: where should the trace go?");
		if (o->trace.ready_file && !strcmp(o->path, o->trace.ready_file))
			argp_error(state, "the trace and the ready file are the same file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void say_command(const struct recorder_result *res)
{
	if (res->child <= 0)
		return;
	if (!res->child_ended)
		fprintf(stderr, "hcwatch: the command runs on, as %d, and is not traced any more\n",
			(int)res->child);
	else if (WIFSIGNALED(res->child_status))
		fprintf(stderr, "hcwatch: the command was ended by signal %d\n",
			WTERMSIG(res->child_status));
	else if (WEXITSTATUS(res->child_status))
		fprintf(stderr, "hcwatch: the command ended with exit code %d\n",
			WEXITSTATUS(res->child_status));
}

static void say_result(const struct recorder_opts *opts, const struct recorder_result *res)
{
	fprintf(stderr, "hcwatch: %llu records in %s, lost %llu", res->records, opts->path,
		res->lost);
	if (res->not_written)
		fprintf(stderr, ", not written %llu", res->not_written);
	fputc('\n', stderr);
	say_command(res);
}

int cmd_record(int argc, char **argv)
{
	static const struct argp_child children[] = {{&tracer_options, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.children = children,
		.parser = parse,
		.args_doc = "[-- COMMAND...]",
		.doc = "Trace page migrations, MMU-notifier invalidations, KFD evictions and GPU iterations into a file. "
		       "With neither -p nor a command, every process that uses KFD is watched.\v"
		       "Ends with the command, with the process of -p, or on SIGINT, SIGTERM or SIGHUP.\n"
		       "Exit status: 0 recorded, 4 not permitted, 5 recorded with loss or a missing probe.",
	};
	struct recorder_opts opts = {.trace = {.stdout_fd = -1, .long_running = true}};
	struct recorder_result res;
	struct hcw_err err;
	int ret;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &opts);
	ret = recorder_run(&opts, &res, &err);
	if (ret)
		hcw_err_print(stderr, "hcwatch", &err);
	else if (res.reader_gone)
		return HCW_EXIT_OK;
	else
		tracer_say_missing(&res.plan);
	if (res.records || res.not_written)
		say_result(&opts, &res);
	if (ret)
		return err.code;
	return res.lost || res.gap || !tracer_plan_complete(&res.plan) ? HCW_EXIT_INCOMPLETE
								       : HCW_EXIT_OK;
}
