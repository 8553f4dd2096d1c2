/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "command.h"

static const struct hcw_command commands[] = {
	{"lab", "measure each allocator: does a page migration stop the GPUs?", cmd_lab},
	{"live", "tell what stops the GPUs while it happens", cmd_live},
	{"record", "trace page migrations, KFD evictions and iterations into a file", cmd_record},
	{"report", "say what stopped the GPUs in a recorded trace", cmd_report},
	{"explain", "say what a finding (HCW-101 ...) means and what to do", cmd_explain},
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *f)
{
	size_t i;

	fprintf(f,
		"Usage: hcwatch COMMAND [OPTION...]\n"
		"Which page migration stopped your GPUs, who asked for it, which pool it hit.\n\n");
	for (i = 0; i < N_COMMANDS; i++)
		fprintf(f, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fprintf(f, "\n  hcwatch COMMAND --help   the options of a command\n"
		   "  hcwatch --version\n");
}

int main(int argc, char **argv)
{
	char name[64];
	size_t i;

	argp_err_exit_status = HCW_EXIT_USAGE;
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
		usage(stdout);
		return HCW_EXIT_OK;
	}
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("hcwatch " HCW_VERSION);
		return HCW_EXIT_OK;
	}
	for (i = 0; argc > 1 && i < N_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		snprintf(name, sizeof(name), "hcwatch %s", commands[i].name);
		argv[1] = name;
		return commands[i].run(argc - 1, argv + 1);
	}
	if (argc > 1)
		fprintf(stderr, "hcwatch: no such command: %.40s\n\n", argv[1]);
	usage(stderr);
	return HCW_EXIT_USAGE;
}
