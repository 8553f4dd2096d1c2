/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "../../user/sys/num.h"
#include "options.h"
#include "ranks.h"
#include "triggers.h"

#define GB		(1000ull * 1000 * 1000)
#define MIB		(1024ull * 1024)
#define MIN_POOL	(2 * MIB) /* the default window */
#define MAX_POOL	(16ull << 40)
#define MAX_TRIALS	1000
#define MIN_ITERATIONS	10 /* a trial fires after a tenth of them */
#define MAX_ITERATIONS	1000000
#define MAX_GEMM	32768
#define DEFAULT_POOL_GB 180

enum {
	OPT_ALLOCATOR = 'a',
	OPT_TRIALS = 't',
	OPT_ITERATIONS = 'n',
	OPT_POOL_GB = 256,
	OPT_POOL_MIB,
	OPT_HUGE,
	OPT_THP,
	OPT_TRIGGER,
	OPT_WINDOW_MIB,
	OPT_GEMM_N,
	OPT_COPY_MIB,
	OPT_RANKS,
	OPT_KFD_PID,
	OPT_JSON,
	OPT_HIP,
	OPT_ROCBLAS,
};

static const struct argp_option option_table[] = {
	{0, 0, 0, 0, "The pool:", 1},
	{"allocator", OPT_ALLOCATOR, "KIND", 0,
	 "How it is made: registered (hipHostRegister), gtt or userptr (hipHostMalloc with and "
	 "without HSA_USERPTR_FOR_PAGED_MEM=0). Required.",
	 1},
	{"pool-gb", OPT_POOL_GB, "N", 0, "Size in decimal GB, fractions allowed (default 180)", 1},
	{"pool-mib", OPT_POOL_MIB, "N", 0, "Size in MiB, instead of --pool-gb", 1},
	{"huge", OPT_HUGE, NULL, 0, "registered: reserved huge pages of 2 MiB", 1},
	{"thp", OPT_THP, NULL, 0, "registered: transparent huge pages", 1},
	{0, 0, 0, 0, "What is done to it:", 2},
	{"trigger", OPT_TRIGGER, "NAME", 0, "default move_pages; \"list\" shows all", 2},
	{"window-mib", OPT_WINDOW_MIB, "N", 0, "To how much of the pool's start (default 2)", 2},
	{"trials", OPT_TRIALS, "N", 0, "How often (default 3)", 2},
	{0, 0, 0, 0, "What the GPU does meanwhile:", 3},
	{"iterations", OPT_ITERATIONS, "N", 0,
	 "Iterations of the control phase and of each trial (default 1000)", 3},
	{"gemm-n", OPT_GEMM_N, "N", 0, "Size of the matrices (default 4096)", 3},
	{"copy-mib", OPT_COPY_MIB, "N", 0, "Copied from the pool in an iteration (default 16)", 3},
	{"ranks", OPT_RANKS, "N", 0,
	 "Processes with a pool each that wait for one another; rank 0's is moved (default 1)", 3},
	{0, 0, 0, 0, "Other:", 4},
	{"kfd-pid", OPT_KFD_PID, "PID", 0, "This process's number on the host, in a container", 4},
	{"json", OPT_JSON, NULL, 0, "Print one JSON object instead of the table", 4},
	{"hip", OPT_HIP, "PATH", 0, "The HIP runtime to load (default: libamdhip64.so.7, .6, .5)",
	 4},
	{"rocblas", OPT_ROCBLAS, "PATH", 0,
	 "The rocBLAS to load (default: librocblas.so.5, .4, .0)", 4},
	{0},
};

static const char doc[] =
	"Show what one page migration costs a GPU that works from a host memory pool."
	"\v"
	"Runs iterations (four matrix products, a copy from the pool, a wait) while a second thread, "
	"named hcstall-mover, moves the pool's first 2 MiB to another NUMA node.\n"
	"HSA_USERPTR_FOR_PAGED_MEM must be 0 for registered and gtt, and must not be for userptr.\n"
	"\n"
	"Exit status: 0 measured, 1 a copy was wrong, 2 usage, 3 not possible on this machine, "
	"4 not permitted, 5 measured in part.";

struct parse {
	struct stall_options *opts;
	bool pool_given;
};

static uint64_t number(struct argp_state *state, const char *option, const char *arg, uint64_t min,
		       uint64_t max)
{
	uint64_t value = 0;

	if (hcs_num_u64(arg, min, max, &value))
		argp_error(state, "%s takes a number from %llu to %llu, not \"%s\"", option,
			   (unsigned long long)min, (unsigned long long)max, arg);
	return value;
}

static enum hcpool_backing backing(struct argp_state *state, const char *arg)
{
	enum hcpool_backing b;

	for (b = HCPOOL_GTT; b <= HCPOOL_USERPTR; b++)
		if (!strcmp(arg, hcpool_backing_name(b)))
			return b;
	argp_error(state, "--allocator is registered, gtt or userptr, not \"%s\"", arg);
	return HCPOOL_REGISTERED;
}

static void pool_size(struct argp_state *state, struct parse *p, int key, const char *arg)
{
	if (p->pool_given)
		argp_error(state, "--pool-gb and --pool-mib: give one of them, once");
	p->pool_given = true;
	if (key == OPT_POOL_MIB)
		p->opts->pool_bytes =
			number(state, "--pool-mib", arg, MIN_POOL / MIB, MAX_POOL / MIB) * MIB;
	else if (hcs_num_decimal(arg, GB, MIN_POOL, MAX_POOL, &p->opts->pool_bytes))
		argp_error(state, "--pool-gb takes decimal GB from 0.002098 to %llu, not \"%s\"",
			   MAX_POOL / GB, arg);
}

static const struct stall_trigger *trigger(struct argp_state *state, const char *arg)
{
	const struct stall_trigger *t = stall_trigger_find(arg);

	if (!strcmp(arg, "list"))
		exit(stall_trigger_list(stdout) ? HCW_EXIT_INCOMPLETE : HCW_EXIT_OK);
	if (!t)
		argp_error(state, "--trigger: there is no \"%s\"; --trigger list shows all", arg);
	return t;
}

/* Options that make sense together only. */
static void check_together(struct argp_state *state, const struct stall_options *o)
{
	if (!o->backing)
		argp_error(state, "--allocator is required: registered, gtt or userptr");
	if (o->pool_flags == (HCPOOL_HUGE_2M | HCPOOL_THP))
		argp_error(state, "--huge and --thp: give one of them");
	if (o->pool_flags && o->backing != HCPOOL_REGISTERED)
		argp_error(state,
			   "--huge and --thp are for --allocator registered: hipHostMalloc chooses "
			   "its pages itself");
	if (o->window_bytes > o->pool_bytes)
		argp_error(state, "--window-mib is larger than the pool");
}

static error_t parse_work(int key, char *arg, struct argp_state *state)
{
	struct stall_options *o = ((struct parse *)state->input)->opts;

	switch (key) {
	case OPT_TRIALS:
		o->trials = (unsigned int)number(state, "--trials", arg, 1, MAX_TRIALS);
		break;
	case OPT_ITERATIONS:
		o->iterations = (unsigned int)number(state, "--iterations", arg, MIN_ITERATIONS,
						     MAX_ITERATIONS);
		break;
	case OPT_WINDOW_MIB:
		o->window_bytes = MIB * number(state, "--window-mib", arg, 1, STALL_WINDOW_MAX_MIB);
		break;
	case OPT_GEMM_N:
		o->gemm_n = (unsigned int)number(state, "--gemm-n", arg, 1, MAX_GEMM);
		break;
	case OPT_COPY_MIB:
		o->copy_bytes = MIB * number(state, "--copy-mib", arg, 1, MAX_POOL / MIB);
		break;
	case OPT_RANKS:
		o->ranks = (unsigned int)number(state, "--ranks", arg, 1, STALL_MAX_RANKS);
		break;
	case OPT_KFD_PID:
		o->kfd_pid = (pid_t)number(state, "--kfd-pid", arg, 1, INT_MAX);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case OPT_ALLOCATOR:
		p->opts->backing = backing(state, arg);
		break;
	case OPT_POOL_GB:
	case OPT_POOL_MIB:
		pool_size(state, p, key, arg);
		break;
	case OPT_HUGE:
		p->opts->pool_flags |= HCPOOL_HUGE_2M;
		break;
	case OPT_THP:
		p->opts->pool_flags |= HCPOOL_THP;
		break;
	case OPT_TRIGGER:
		p->opts->trigger = trigger(state, arg);
		break;
	case OPT_JSON:
		p->opts->json = true;
		break;
	case OPT_HIP:
		p->opts->hip = arg;
		break;
	case OPT_ROCBLAS:
		p->opts->rocblas = arg;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		break;
	case ARGP_KEY_END:
		check_together(state, p->opts);
		break;
	default:
		return parse_work(key, arg, state);
	}
	return 0;
}

void stall_options_parse(int argc, char **argv, struct stall_options *opts)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct parse p = {.opts = opts};

	*opts = (struct stall_options){
		.pool_bytes = DEFAULT_POOL_GB * GB,
		.copy_bytes = 16 * MIB,
		.window_bytes = 2 * MIB,
		.gemm_n = 4096,
		.ranks = 1,
		.trigger = stall_trigger_default(),
		.trials = 3,
		.iterations = 1000,
	};
	argp_program_version = "hcstall " HCW_VERSION;
	argp_err_exit_status = HCW_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &p);
}
