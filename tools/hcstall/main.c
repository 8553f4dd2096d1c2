/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "refusal.h"
#include "run.h"
#include "stats.h"
#include "stop.h"

static void print_error(const struct stall_err *err)
{
	const char *p;

	fprintf(stderr, "hcstall: %s\n", err->what);
	if (!err->hint[0])
		return;
	fputs("  ", stderr);
	for (p = err->hint; *p; p++)
		fputs(*p == '\n' ? "\n  " : (char[]){*p, '\0'}, stderr);
	fputc('\n', stderr);
}

static void print_explanations(const struct stall_result *result)
{
	char text[512], *line, *rest;
	unsigned int i;

	for (i = 0; i < result->trials; i++) {
		stall_explain(&result->trial[i], result->trigger, result->hugetlb, text,
			      sizeof(text));
		for (line = text; (rest = strchr(line, '\n')); line = rest + 1)
			fprintf(stderr, "hcstall: trial %u: %.*s\n", i + 1, (int)(rest - line),
				line);
	}
}

/* Trials that were complete before a failure are worth printing. */
static int print_result(const struct stall_options *opts, const struct stall_result *result)
{
	int ret;

	if (!result->trials)
		return 0;
	if (result->trial[0].phase.evicted.count < 0)
		fprintf(stderr, "hcstall: evicted_ms of KFD is not readable here; in a container, "
				"--kfd-pid helps\n");
	print_explanations(result);
	ret = opts->json ? stall_print_json(result) : stall_print_table(result);
	if (ret)
		fprintf(stderr, "hcstall: cannot write to stdout\n");
	return ret;
}

int main(int argc, char **argv)
{
	struct stall_options opts;
	struct stall_result result;
	struct stall_err err = {0};
	int code, ret;

	stall_options_parse(argc, argv, &opts);
	stall_stop_install();
	ret = stall_run(&opts, &result, &err);
	code = ret && !result.trials ? err.code : stall_exit_code(&result);
	if (print_result(&opts, &result))
		ret = -1;
	if (err.code)
		print_error(&err);
	if (ret && code == HCW_EXIT_OK)
		code = HCW_EXIT_INCOMPLETE;
	stall_result_free(&result);
	return code;
}
