/* SPDX-License-Identifier: BSD-2-Clause */
#include "../sys/num.h"
#include "budget.h"
#include "tracer.h"
#include "tracer_options.h"

enum { OPT_READY = 512, OPT_RING, OPT_COMM, OPT_CGROUP, OPT_ALL, OPT_PROBE, OPT_NO_WAIT, OPT_MEM };

static const struct argp_option options[] = {
	{"pid", 'p', "PID[@NS]", 0,
	 "watch this process and its children; also by the pid it has in its container. May be "
	 "repeated, as --comm and --cgroup",
	 0},
	{"comm", OPT_COMM, "NAME", 0,
	 "watch processes of this name that use KFD, now or later; * and ? match", 0},
	{"cgroup", OPT_CGROUP, "PATH", 0, "the same for those in a control group or below it", 0},
	{"all", OPT_ALL, NULL, 0, "watch every process that uses KFD, as without any of these", 0},
	{"ready-file", OPT_READY, "FILE", 0,
	 "make FILE when everything is attached; with -p, --comm and --cgroup the marks come later, "
	 "when the process was quiet for a second",
	 0},
	{"ring", OPT_RING, "BYTES", 0,
	 "size of the ring between kernel and hcwatch, e.g. 64M; default an eighth of --mem", 0},
	{"mem", OPT_MEM, "BYTES", 0,
	 "memory of hcwatch, what it found not counted; at least 16M, default 32M", 0},
	{"probe", OPT_PROBE, "POINT=TIER", 0,
	 "probe a point by this tier and no other, or not at all (POINT=off); may be repeated", 0},
	{"no-wait", OPT_NO_WAIT, NULL, 0, "exit when the driver is not loaded, instead of waiting",
	 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tracer_opts *o = state->input;
	const char *why;
	uint64_t bytes;
	char wrong[512];

	switch (key) {
	case 'p':
		if (filter_add_pid(&o->filter, arg, &why))
			argp_error(state, "%s: %s", why, arg);
		return 0;
	case OPT_COMM:
		if (filter_add_comm(&o->filter, arg, &why))
			argp_error(state, "--comm: %s: %s", why, arg);
		return 0;
	case OPT_CGROUP:
		if (filter_add_cgroup(&o->filter, arg, &why))
			argp_error(state, "--cgroup: %s: %s", why, arg);
		return 0;
	case OPT_ALL:
		o->filter.all = true;
		return 0;
	case OPT_RING:
		if (hcs_num_bytes(arg, 4096, 1ull << 30, &bytes))
			argp_error(state, "--ring takes a size from 4K to 1G, not %s", arg);
		o->ring_bytes = bytes;
		return 0;
	case OPT_MEM:
		if (hcs_num_bytes(arg, BUDGET_MIN, BUDGET_MAX, &bytes))
			argp_error(state, "--mem takes a size from 16M to 8G, not %s", arg);
		o->mem_bytes = bytes;
		return 0;
	case OPT_PROBE:
		if (hcw_probe_choose(&o->choices, arg, wrong, sizeof(wrong)))
			argp_error(state, "%s", wrong);
		return 0;
	case OPT_NO_WAIT:
		o->no_wait = true;
		return 0;
	case OPT_READY:
		o->ready_file = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if ((filter_named(&o->filter) || o->filter.all) && o->argv)
			argp_error(state, "a command cannot go together with -p, --comm, --cgroup "
					  "or --all");
		if (filter_named(&o->filter) && o->filter.all)
			argp_error(state, "--all cannot go together with -p, --comm or --cgroup");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tracer_options = {.options = options, .parser = parse};

void tracer_options_start(struct argp_state *state, void *opts)
{
	state->child_inputs[0] = opts;
}
