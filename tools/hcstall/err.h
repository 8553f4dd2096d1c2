/* SPDX-License-Identifier: BSD-2-Clause */
/* How an error travels in hcstall: functions return -1 and fill this; only main prints it. */
#ifndef HCSTALL_ERR_H
#define HCSTALL_ERR_H

struct stall_err {
	int code; /* enum hcw_exit to end with, 0 = no error */
	char what[512];
	char hint[512]; /* may be "", may hold several lines */
};

/* Fills err and returns -1. */
int stall_fail(struct stall_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the hint of an error already filled. */
void stall_hint(struct stall_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
