/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch explain: what a finding's code means and what to do about it. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "../base/escape.h"
#include "../out/explain.h"
#include "command.h"

struct explain_args {
	const char *code; /* NULL = list them */
	bool json;
};

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "print JSON", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explain_args *a = state->input;

	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->code)
			argp_error(state, "one code at a time");
		a->code = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int no_such_code(const char *code)
{
	char safe[64];

	fprintf(stderr, "hcwatch: no such code: %s\n  The codes are:\n",
		hcw_escape(safe, sizeof(safe), code, strlen(code)));
	explain_list(stderr);
	return HCW_EXIT_USAGE;
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[CODE]",
		.doc = "Say what a finding means: its cause, the evidence, what to do and what that leaves. "
		       "Without a code, list them.",
	};
	const struct hcw_finding_text *t = NULL;
	struct explain_args args = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (args.code) {
		t = hcw_finding_by_code(args.code);
		if (!t)
			return no_such_code(args.code);
	}
	if (args.json)
		explain_json(stdout, t);
	else if (t)
		explain_text(stdout, t);
	else
		explain_list(stdout);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("hcwatch: cannot write the explanation\n", stderr);
		return HCW_EXIT_INCOMPLETE;
	}
	return HCW_EXIT_OK;
}
