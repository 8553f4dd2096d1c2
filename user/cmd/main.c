/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "../base/escape.h"
#include "command.h"

static const struct hcw_command commands[] = {
	{"lab", "measure each allocator: does a page migration stop the GPUs?", cmd_lab},
	{"live", "tell what stops the GPUs while it happens", cmd_live},
	{"record", "trace page migrations, KFD evictions and iterations into a file", cmd_record},
	{"report", "say what stopped the GPUs in a recorded trace", cmd_report},
	{"doctor", "say which settings of this host can stop GPUs", cmd_doctor},
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

static const struct hcw_command *find(const char *name)
{
	size_t i;

	for (i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int run(const struct hcw_command *c, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), "hcwatch %s", c->name);
	argv[0] = name;
	return c->run(argc, argv);
}

static bool is(const char *arg, const char *a, const char *b)
{
	return !strcmp(arg, a) || !strcmp(arg, b);
}

/* A file that is opened must not become what messages are written to. */
static void open_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static int written(void)
{
	return fflush(stdout) || ferror(stdout) ? HCW_EXIT_INCOMPLETE : HCW_EXIT_OK;
}

int main(int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : "";
	bool help = is(first, "help", "--help") || !strcmp(first, "-h");
	const struct hcw_command *c = find(help && argc > 2 ? argv[2] : first);
	char *ask[] = {NULL, "--help", NULL};
	char safe[64];

	open_standard_files();
	argp_err_exit_status = HCW_EXIT_USAGE;
	if (c)
		return help ? run(c, 2, ask) : run(c, argc - 1, argv + 1);
	if (help && argc == 2) {
		usage(stdout);
		return written();
	}
	if (is(first, "--version", "-V")) {
		puts("hcwatch " HCW_VERSION);
		return written();
	}
	if (argc > 1)
		fprintf(stderr, "hcwatch: no such command: %s\n\n",
			hcw_escape(safe, sizeof(safe), argv[argc > 2 && help ? 2 : 1], SIZE_MAX));
	usage(stderr);
	return HCW_EXIT_USAGE;
}
