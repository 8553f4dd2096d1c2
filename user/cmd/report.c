/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch report: what stopped the GPUs in a recorded trace. */
#include <argp.h>
#include <stdio.h>
#include "command.h"
#include "load.h"

struct report_args {
	const char *path;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
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

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "TRACE",
		.doc = "Say what stopped the GPUs in a trace recorded by hcwatch record.\v"
		       "Exit status: 0 nothing found, 1 a finding, 5 the trace is incomplete, 6 it is unreadable.",
	};
	struct report_args args = {0};
	const struct hcw_model *m;
	struct hcw_loaded l;
	struct hcw_err err;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (load_trace(args.path, &l, &err))
		return hcw_err_print(stderr, "hcwatch", &err);
	report_text(stdout, args.path, &l.info, l.chain);
	m = hcw_chain_model(l.chain);
	ret = m->n_episodes ? HCW_EXIT_FINDING : HCW_EXIT_OK;
	if (report_incomplete(&l.info, m))
		ret = HCW_EXIT_INCOMPLETE;
	hcw_chain_free(l.chain);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("hcwatch: cannot write the report\n", stderr);
		return HCW_EXIT_INCOMPLETE;
	}
	return ret;
}
