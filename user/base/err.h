/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How an error travels: functions return a negative errno and fill a struct hcw_err, which main
 * prints as hcwatch: <what> <hint> `what` says what failed and why, `hint` what to do. Libraries
 * never print or exit.
 */
#ifndef HCW_ERR_H
#define HCW_ERR_H

#include <stdio.h>
#include "../../bpf/hcwatch_abi.h"

struct hcw_err {
	int code; /* enum hcw_exit the program should end with */
	char what[512];
	char hint[512]; /* may be "", may hold several lines */
};

/* Fills err (which may be NULL) and returns `ret`, so callers can `return hcw_err_set(...)`. */
int hcw_err_set(struct hcw_err *err, int ret, enum hcw_exit code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Sets the hint of an error already filled. */
void hcw_err_hint(struct hcw_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Exit code that fits an errno: not permitted 4; what a user names wrongly (no such file, exists
 * already, ...) 2; else 3. */
enum hcw_exit hcw_err_exit_of(int err);

/* Prints it in the form above; strings are escaped for a terminal. Returns err->code. */
int hcw_err_print(FILE *f, const char *program, const struct hcw_err *err);

#endif
