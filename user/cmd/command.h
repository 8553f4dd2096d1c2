/* SPDX-License-Identifier: BSD-2-Clause */
/* A command of hcwatch; the table is in main.c, one file per command. */
#ifndef HCW_COMMAND_H
#define HCW_COMMAND_H

struct hcw_command {
	const char *name;
	const char *summary;		   /* one line for --help */
	int (*run)(int argc, char **argv); /* argv[0] is "hcwatch NAME"; returns an enum hcw_exit */
};

int cmd_doctor(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);

#endif
