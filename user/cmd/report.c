/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch report: what stopped the GPUs in a recorded trace. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "load.h"

struct report_args {
	const char *path;
	bool json;
};

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "print one JSON object instead of text", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->path)
			argp_error(state, "one trace at a time");
		a->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace? (hcwatch record -o FILE makes one)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* no-color.org: set and not empty */
static bool may_be_bold(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb");
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "TRACE",
		.doc = "Say what stopped the GPUs in a trace recorded by hcwatch record.\v"
		       "Exit status: 0 nothing found, 1 a finding, 5 the trace is incomplete, 6 it is unreadable.",
	};
	struct report_args args = {0};
	struct hcw_loaded l;
	struct hcw_err err;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (load_trace(args.path, &l, &err))
		return hcw_err_print(stderr, "hcwatch", &err);
	if (args.json)
		report_json(stdout, args.path, &l.info, l.chain);
	else
		report_text(stdout, args.path, &l.info, l.chain, may_be_bold());
	ret = report_exit(&l.info, hcw_chain_model(l.chain));
	hcw_chain_free(l.chain);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("hcwatch: cannot write the report\n", stderr);
		return HCW_EXIT_INCOMPLETE;
	}
	return ret;
}
