/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "../../user/sys/num.h"
#include "options.h"

#define GB		(1000ull * 1000 * 1000)
#define MIB		(1024ull * 1024)
#define MIN_POOL	(2 * MIB) /* the window that is moved */
#define MAX_POOL	(16ull << 40)
#define MAX_TRIALS	1000
#define MIN_ITERATIONS	10 /* a trial moves the window after a tenth of them */
#define MAX_ITERATIONS	1000000
#define DEFAULT_POOL_GB 180

enum {
	OPT_ALLOCATOR = 'a',
	OPT_TRIALS = 't',
	OPT_ITERATIONS = 'n',
	OPT_POOL_GB = 256,
	OPT_POOL_MIB,
	OPT_JSON,
	OPT_HIP,
	OPT_ROCBLAS,
};

static const struct argp_option option_table[] = {
	{"allocator", OPT_ALLOCATOR, "KIND", 0,
	 "How the pool is made: registered (hipHostRegister) or gtt (hipHostMalloc). Required.", 0},
	{"pool-gb", OPT_POOL_GB, "N", 0,
	 "Size of the pool in decimal GB, fractions allowed (default 180)", 0},
	{"pool-mib", OPT_POOL_MIB, "N", 0, "Size of the pool in MiB, instead of --pool-gb", 0},
	{"trials", OPT_TRIALS, "N", 0, "How often pages are moved (default 3)", 0},
	{"iterations", OPT_ITERATIONS, "N", 0,
	 "Iterations of the control phase and of each trial (default 1000)", 0},
	{"json", OPT_JSON, NULL, 0, "Print one JSON object instead of the table", 0},
	{"hip", OPT_HIP, "PATH", 0, "The HIP runtime to load (default: libamdhip64.so.7, .6, .5)",
	 0},
	{"rocblas", OPT_ROCBLAS, "PATH", 0,
	 "The rocBLAS to load (default: librocblas.so.5, .4, .0)", 0},
	{0},
};

static const char doc[] =
	"Show what one page migration costs a GPU that works from a host memory pool."
	"\v"
	"Runs iterations (four matrix products, a copy from the pool, a wait) while a second thread, "
	"named hcstall-mover, moves the pool's first 2 MiB to another NUMA node.\n"
	"HSA_USERPTR_FOR_PAGED_MEM must be 0 for either allocator.\n"
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
	if (!strcmp(arg, "gtt"))
		return HCPOOL_GTT;
	if (strcmp(arg, "registered") != 0)
		argp_error(state, "--allocator is registered or gtt, not \"%s\"", arg);
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
	case OPT_TRIALS:
		p->opts->trials = (unsigned int)number(state, "--trials", arg, 1, MAX_TRIALS);
		break;
	case OPT_ITERATIONS:
		p->opts->iterations = (unsigned int)number(state, "--iterations", arg,
							   MIN_ITERATIONS, MAX_ITERATIONS);
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
		if (!p->opts->backing)
			argp_error(state, "--allocator is required: registered or gtt");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void stall_options_parse(int argc, char **argv, struct stall_options *opts)
{
	static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
	struct parse p = {.opts = opts};

	memset(opts, 0, sizeof(*opts));
	opts->pool_bytes = DEFAULT_POOL_GB * GB;
	opts->trials = 3;
	opts->iterations = 1000;
	argp_program_version = "hcstall " HCW_VERSION;
	argp_err_exit_status = HCW_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &p);
}
