/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of progress for long work: redrawn in place on a terminal, nothing at all elsewhere.
 *
 *	struct hcw_progress p;
 *
 *	hcw_progress_start(&p, stderr);
 *	while (...)
 *		hcw_progress_show(&p, "trial %d of %d", i, n);
 *	hcw_progress_end(&p);
 *
 * Not thread safe. Call hcw_progress_end() before anything else is printed there.
 */
#ifndef HCW_PROGRESS_H
#define HCW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hcw_progress {
	FILE *f;	   /* NULL: not a terminal, stay silent */
	uint64_t drawn_ns; /* CLOCK_MONOTONIC of the last redraw, 0 = nothing on the screen */
};

/* Active when f is a terminal that can redraw a line (TERM set and not "dumb"). */
void hcw_progress_start(struct hcw_progress *p, FILE *f);

/* Shows the text, escaped and cut to the width of the terminal. Calls within 100 ms of the last
 * redraw do nothing. */
void hcw_progress_show(struct hcw_progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Erases the line. The next hcw_progress_show() draws at once. */
void hcw_progress_end(struct hcw_progress *p);

#endif
