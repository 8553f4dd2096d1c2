/* SPDX-License-Identifier: BSD-2-Clause */
#include "../sys/num.h"
#include "tracer.h"
#include "tracer_options.h"

enum { OPT_READY = 512, OPT_RING };

static const struct argp_option options[] = {
	{"pid", 'p', "PID", 0, "watch this process and its children", 0},
	{"ready-file", OPT_READY, "FILE", 0, "make FILE when everything is attached", 0},
	{"ring", OPT_RING, "BYTES", 0,
	 "size of the ring between kernel and hcwatch, e.g. 64M; default 16M", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tracer_opts *o = state->input;
	uint64_t pid, bytes;

	switch (key) {
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
		if (o->pid && o->argv)
			argp_error(state, "-p and a command cannot go together");
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
