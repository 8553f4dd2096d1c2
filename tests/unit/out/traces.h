/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fixture traces in fixtures/traces: each made record by record from the values written in
 * traces.c. make_traces writes them and their golden reports; test_golden compares.
 */
#ifndef TEST_TRACES_H
#define TEST_TRACES_H

struct trace;

struct trace_maker {
	const char *name; /* file name without .hcw */
	void (*make)(struct trace *w);
};

extern const struct trace_maker trace_makers[]; /* name NULL behind the last */

/* Makes the trace and writes it into a file that does not exist yet. 0 or a negative errno. */
int trace_write(const struct trace_maker *t, const char *path);

#endif
