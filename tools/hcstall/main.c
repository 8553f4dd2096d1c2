/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "../../bpf/hcwatch_abi.h"
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

/* Trials that were complete before a failure are worth printing. */
static int print_result(const struct stall_options *opts, const struct stall_result *result)
{
	int ret;

	if (!result->trials)
		return 0;
	if (result->trial[0].evicted.count < 0)
		fprintf(stderr, "hcstall: evicted_ms of KFD is not readable here\n");
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
	free(result.trial);
	return code;
}
