/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch doctor: which settings of this host can stop GPUs, and what can be traced on it. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "doctor_internal.h"
#include "doctor_probes.h"

enum { OPT_JSON = 256, OPT_PROBES, OPT_PROBE };

struct doctor_args {
	struct hcw_probe_choices choices;
	bool json, probes, chosen;
};

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "print JSON", 0},
	{"probes", OPT_PROBES, NULL, 0,
	 "try which probe points can be attached here, and say what stands in the way", 0},
	{"probe", OPT_PROBE, "POINT=TIER", 0,
	 "with --probes: this tier of the point and no other, or off; repeatable", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_args *a = state->input;
	char why[512];

	switch (key) {
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_PROBES:
		a->probes = true;
		return 0;
	case OPT_PROBE:
		if (hcw_probe_choose(&a->choices, arg, why, sizeof(why)))
			argp_error(state, "%s", why);
		a->chosen = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "doctor takes no argument");
		return 0;
	case ARGP_KEY_END:
		if (a->chosen && !a->probes)
			argp_error(state, "--probe needs --probes");
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

static int show_host(int root, bool json)
{
	struct doctor_host *h = malloc(sizeof(*h));
	int code;

	if (!h) {
		fputs("hcwatch: out of memory\n", stderr);
		return HCW_EXIT_UNSUPPORTED;
	}
	doctor_read_host(h, root);
	if (json)
		doctor_json(stdout, h);
	else
		doctor_text(stdout, h, may_be_bold());
	code = doctor_exit(h);
	free(h);
	return code;
}

static int show_probes(int root, const struct doctor_args *a)
{
	struct doctor_probes *p = malloc(sizeof(*p));
	struct hcw_err err = {0};
	int code;

	if (!p) {
		fputs("hcwatch: out of memory\n", stderr);
		return HCW_EXIT_UNSUPPORTED;
	}
	if (doctor_probe(p, root, &a->choices, &err)) {
		free(p);
		return hcw_err_print(stderr, "hcwatch", &err);
	}
	if (a->json)
		doctor_probes_json(stdout, p);
	else
		doctor_probes_text(stdout, p, may_be_bold());
	code = doctor_probes_exit(p);
	free(p);
	return code;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Say which settings of this host can stop GPUs that work from registered "
		       "pools. Needs no right; with --probes, those that tracing needs.\v"
		       "Exit status: 0 nothing found, 1 a finding, 5 something could not be read. "
		       "With --probes: 0 every needed point can be traced, 5 not all, 4 not permitted.",
	};
	struct doctor_args args = {0};
	int root, code;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	root = hcs_root();
	if (root < 0) {
		fprintf(stderr, "hcwatch: cannot open /: %s\n", strerror(-root));
		return HCW_EXIT_UNSUPPORTED;
	}
	code = args.probes ? show_probes(root, &args) : show_host(root, args.json);
	close(root);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("hcwatch: cannot write what doctor found\n", stderr);
		return HCW_EXIT_INCOMPLETE;
	}
	return code;
}
