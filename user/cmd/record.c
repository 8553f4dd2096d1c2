/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch record: trace into a file, until the command or a signal ends it. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "../sys/num.h"
#include "command.h"
#include "recorder.h"

enum { OPT_READY = 256, OPT_RING };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "trace file to create; must not exist (required)", 0},
	{"pid", 'p', "PID", 0, "watch this process and its children", 0},
	{"ready-file", OPT_READY, "FILE", 0, "make FILE when everything is attached", 0},
	{"ring", OPT_RING, "BYTES", 0,
	 "size of the ring between kernel and hcwatch, e.g. 64M; default 16M", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recorder_opts *o = state->input;
	uint64_t pid, bytes;

	switch (key) {
	case 'o':
		o->path = arg;
		return 0;
	case 'p':
		if (hcs_num_u64(arg, 1, 4194304, &pid))
			argp_error(state, "not a pid: %s", arg);
		o->pid = (pid_t)pid;
		return 0;
	case OPT_RING:
		if (hcs_num_bytes(arg, 4096, 1ull << 30, &bytes))
			argp_error(state, "--ring takes a size from 4K to 1G, not %s", arg);
		o->ring_bytes = bytes;
		return 0;
	case OPT_READY:
		o->ready_file = arg;
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
	return res.lost || !tracer_plan_complete(&res.plan) ? HCW_EXIT_INCOMPLETE : HCW_EXIT_OK;
}
