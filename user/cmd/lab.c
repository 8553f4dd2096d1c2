/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch lab: each allocator measured under trace, and a verdict on each. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../sys/num.h"
#include "command.h"
#include "lab_internal.h"

enum {
	OPT_POOL_GB = 256,
	OPT_POOL_MIB,
	OPT_TRIALS,
	OPT_ITERATIONS,
	OPT_TRIGGER,
	OPT_IMMUNE,
	OPT_TRACES,
	OPT_PROBE,
	OPT_HCSTALL,
	OPT_HIP,
	OPT_ROCBLAS,
	OPT_JSON
};

static const struct argp_option options[] = {
	{"allocator", 'a', "ARM", 0,
	 "measure this arm: registered, gtt or userptr (may be repeated); default: the first two",
	 0},
	{"pool-gb", OPT_POOL_GB, "N", 0, "pool size in GB (10^9 bytes); default 180", 0},
	{"pool-mib", OPT_POOL_MIB, "N", 0, "pool size in MiB", 0},
	{"trials", OPT_TRIALS, "N", 0, "trials per arm; default 3", 0},
	{"iterations", OPT_ITERATIONS, "N", 0, "iterations per phase; default 1000", 0},
	{"trigger", OPT_TRIGGER, "NAME", 0,
	 "what is done to the pool; default move_pages, the others: hcstall --trigger list", 0},
	{"require-immune", OPT_IMMUNE, "ARM", 0, "exit 1 when this arm is not immune", 0},
	{"traces", OPT_TRACES, "DIR", 0, "keep each arm's trace here, as ARM.hcw", 0},
	{"probe", OPT_PROBE, "POINT=TIER", 0,
	 "probe a point by this tier and no other, or not at all (POINT=off); may be repeated", 0},
	{"hcstall", OPT_HCSTALL, "FILE", 0, "the reproducer to run; default: beside hcwatch", 0},
	{"hip", OPT_HIP, "FILE", 0, "HIP runtime for hcstall", 0},
	{"rocblas", OPT_ROCBLAS, "FILE", 0, "rocBLAS for hcstall", 0},
	{"json", OPT_JSON, NULL, 0, "print one JSON object instead of the table", 0},
	{"output", 'o', "FILE", 0, "write the JSON object to FILE too", 0},
	{0},
};

static const char *arm_named(struct argp_state *state, const char *name)
{
	const struct lab_kind *kind = lab_kind_find(name);

	if (kind)
		return kind->name;
	argp_error(state, "no such arm: %s (there are registered, gtt and userptr)", name);
	return NULL;
}

static const char *trigger_named(struct argp_state *state, const char *name)
{
	size_t i;

	for (i = 0; lab_triggers[i]; i++)
		if (!strcmp(lab_triggers[i], name))
			return lab_triggers[i];
	argp_error(state, "no such trigger: %s (hcstall --trigger list shows all)", name);
	return NULL;
}

static void check_number(struct argp_state *state, const char *what, const char *arg, uint64_t max)
{
	uint64_t v;

	if (hcs_num_u64(arg, 1, max, &v))
		argp_error(state, "%s takes a number from 1 to %llu, not %s", what,
			   (unsigned long long)max, arg);
}

static void add(struct argp_state *state, const char **list, size_t *n, const char *arg)
{
	if (*n == LAB_MAX_ARMS)
		argp_error(state, "too many arms");
	list[(*n)++] = arm_named(state, arg);
}

static void set_pool(struct argp_state *state, struct lab_opts *o, const char *name,
		     const char *arg)
{
	uint64_t v;

	if (o->pool_option)
		argp_error(state, "one pool size, please: --pool-gb or --pool-mib");
	if (!strcmp(name, "--pool-mib"))
		check_number(state, name, arg, 1u << 30);
	else if (hcs_num_decimal(arg, 1000000000, 1, UINT64_MAX, &v))
		argp_error(state, "--pool-gb takes a number of GB, not %s", arg);
	o->pool_option = name;
	o->pool_value = arg;
}

static void default_arms(struct lab_opts *o)
{
	size_t i;

	for (i = 0; lab_kinds[i].name; i++)
		if (lab_kinds[i].by_default)
			o->arm[o->n_arms++] = lab_kinds[i].name;
}

static bool listed(const char *const *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

/* Each arm once, and nothing is required of one that is not measured. */
static void check_arms(struct argp_state *state, struct lab_opts *o)
{
	size_t i;

	if (!o->n_arms)
		default_arms(o);
	for (i = 0; i < o->n_arms; i++)
		if (listed(o->arm, i, o->arm[i]))
			argp_error(state, "%s is asked for twice", o->arm[i]);
	for (i = 0; i < o->n_required; i++)
		if (!listed(o->arm, o->n_arms, o->require_immune[i]))
			argp_error(state, "%s is required to be immune but not measured: add -a %s",
				   o->require_immune[i], o->require_immune[i]);
}

static void choose_probe(struct argp_state *state, struct lab_opts *o, const char *arg)
{
	char wrong[512];

	if (hcw_probe_choose(&o->choices, arg, wrong, sizeof(wrong)))
		argp_error(state, "%s", wrong);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct lab_opts *o = state->input;

	switch (key) {
	case 'a':
		add(state, o->arm, &o->n_arms, arg);
		return 0;
	case OPT_POOL_GB:
		set_pool(state, o, "--pool-gb", arg);
		return 0;
	case OPT_POOL_MIB:
		set_pool(state, o, "--pool-mib", arg);
		return 0;
	case OPT_TRIALS:
		check_number(state, "--trials", arg, LAB_MAX_TRIALS);
		o->trials = arg;
		return 0;
	case OPT_ITERATIONS:
		check_number(state, "--iterations", arg, 1000000);
		o->iterations = arg;
		return 0;
	case OPT_TRIGGER:
		o->trigger = trigger_named(state, arg);
		return 0;
	case OPT_IMMUNE:
		add(state, o->require_immune, &o->n_required, arg);
		return 0;
	case OPT_TRACES:
		if (!*arg)
			argp_error(state, "--traces needs a folder");
		o->traces = arg;
		return 0;
	case OPT_PROBE:
		choose_probe(state, o, arg);
		return 0;
	case OPT_HCSTALL:
		o->hcstall = arg;
		return 0;
	case OPT_HIP:
		o->hip = arg;
		return 0;
	case OPT_ROCBLAS:
		o->rocblas = arg;
		return 0;
	case ARGP_KEY_END:
		check_arms(state, o);
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "lab takes no argument: %s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct lab_arm *arm_of(const struct lab_result *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n_arms; i++)
		if (!strcmp(r->arm[i]->allocator, name))
			return r->arm[i];
	return NULL;
}

/* A failed requirement outranks an incomplete measurement. */
static int exit_code(const struct lab_opts *o, const struct lab_result *r)
{
	size_t i;

	for (i = 0; i < o->n_required; i++) {
		const struct lab_arm *a = arm_of(r, o->require_immune[i]);

		if (!a || a->verdict != HCW_VERDICT_IMMUNE) {
			fprintf(stderr, "hcwatch: %s is required to be immune and is not\n",
				o->require_immune[i]);
			return HCW_EXIT_FINDING;
		}
	}
	for (i = 0; i < r->n_arms; i++)
		if (!r->arm[i]->measured || r->arm[i]->verdict == HCW_VERDICT_INCONCLUSIVE)
			return HCW_EXIT_INCOMPLETE;
	return r->lost ? HCW_EXIT_INCOMPLETE : HCW_EXIT_OK;
}

/* What can be refused is refused before minutes of measuring. */
static int check_places(const struct lab_opts *o, struct hcw_err *err)
{
	char trace[PATH_MAX];
	size_t i;
	int fd;

	for (i = 0; i < o->n_arms; i++) {
		lab_trace_path(o, o->arm[i], trace, sizeof(trace));
		if (!access(trace, F_OK))
			return hcw_err_set(err, -EEXIST, HCW_EXIT_USAGE,
					   "%s exists already: a trace is never overwritten",
					   trace);
	}
	if (access(o->traces, W_OK | X_OK))
		return hcw_err_set(err, -errno, hcw_err_exit_of(errno),
				   "cannot write traces into %s: %s", o->traces, strerror(errno));
	if (!o->output)
		return 0;
	fd = open(o->output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return hcw_err_set(err, -errno, hcw_err_exit_of(errno), "cannot write %s: %s",
				   o->output, strerror(errno));
	close(fd);
	return 0;
}

/*
 * An arm that fails does not take those before it away: it is shown as not measured, and `failed`
 * says with which code to end. With nothing measured there is nothing to show.
 */
static int run_arms(const struct lab_opts *o, struct lab_result *r, int *failed,
		    struct hcw_err *err)
{
	int ret = check_places(o, err);
	size_t i;

	for (i = 0; i < o->n_arms && !ret; i++) {
		r->arm[i] = calloc(1, sizeof(*r->arm[i]));
		if (!r->arm[i])
			return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
		fprintf(stderr, "hcwatch: measuring %s (%zu of %zu)\n", o->arm[i], i + 1,
			o->n_arms);
		ret = lab_arm_run(o, o->arm[i], r, r->arm[i], err);
		if (!ret || i)
			r->n_arms++;
	}
	if (!ret || !r->n_arms)
		return ret;
	*failed = hcw_err_print(stderr, "hcwatch", err);
	return 0;
}

/* The traces' folder: the user's, or one of our own that is removed with its traces. */
static int with_folder(struct lab_opts *o, struct lab_result *r, int *failed, struct hcw_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char own[PATH_MAX], file[PATH_MAX + 64];
	size_t i;
	int ret;

	if (o->traces)
		return run_arms(o, r, failed, err);
	snprintf(own, sizeof(own), "%s/hcwatch-lab-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(own))
		return hcw_err_set(err, -errno, HCW_EXIT_UNSUPPORTED,
				   "cannot make a folder in %s: %s", tmp && *tmp ? tmp : "/tmp",
				   strerror(errno));
	o->traces = own;
	ret = run_arms(o, r, failed, err);
	for (i = 0; i < o->n_arms; i++) {
		snprintf(file, sizeof(file), "%s/%s.hcw", own, o->arm[i]);
		unlink(file);
	}
	rmdir(own);
	o->traces = NULL;
	return ret;
}

static int write_output(const char *path, const struct lab_result *r)
{
	FILE *f = fopen(path, "we");
	int ret = f ? lab_json(f, r) : -errno;

	if (f && fclose(f) && !ret)
		ret = -errno;
	if (ret)
		fprintf(stderr, "hcwatch: cannot write %s: %s\n", path, strerror(-ret));
	return ret;
}

static int render(const struct lab_opts *o, const struct lab_result *r)
{
	int ret = o->output ? write_output(o->output, r) : 0;

	if (o->json)
		ret = lab_json(stdout, r) ? -EIO : ret;
	else
		lab_text(stdout, r);
	if (fflush(stdout))
		ret = -EIO;
	return ret ? HCW_EXIT_INCOMPLETE : exit_code(o, r);
}

int cmd_lab(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Measure, for each way to allocate a host pool, whether migrating 2 MiB of it stops the GPUs.\v"
		       "Exit status: 0 every arm measured and conclusive, 1 an arm of --require-immune is not immune, "
		       "3 this machine cannot do it, 4 not permitted, 5 an arm is inconclusive.",
	};
	struct lab_opts o = {0};
	struct lab_result *r;
	struct hcw_err err;
	size_t i;
	int ret, failed = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	r = calloc(1, sizeof(*r));
	if (!r)
		return HCW_EXIT_UNSUPPORTED;
	ret = with_folder(&o, r, &failed, &err);
	ret = ret ? hcw_err_print(stderr, "hcwatch", &err) : render(&o, r);
	if (failed && ret != HCW_EXIT_FINDING)
		ret = failed;
	for (i = 0; i < LAB_MAX_ARMS; i++)
		free(r->arm[i]);
	free(r);
	return ret;
}
