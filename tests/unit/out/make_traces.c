/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the fixture traces and their golden reports anew: make_traces DIRECTORY. Look at what
 * git diff says of DIRECTORY/NAME.txt and .json before it is committed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "golden.h"
#include "traces.h"

static int write_report(const char *trace, const char *path, int json)
{
	char *text = golden_report(trace, json, NULL);
	FILE *f = fopen(path, "w");
	int ret = -1;

	if (text && f && fputs(text, f) >= 0)
		ret = 0;
	if (f && fclose(f))
		ret = -1;
	free(text);
	return ret;
}

static int make(const struct trace_maker *t, const char *folder)
{
	char trace[512], text[520], json[520];
	int ret;

	snprintf(trace, sizeof(trace), "%s/%s.hcw", folder, t->name);
	snprintf(text, sizeof(text), "%s/%s.txt", folder, t->name);
	snprintf(json, sizeof(json), "%s/%s.json", folder, t->name);
	unlink(trace);
	ret = trace_write(t, trace);
	if (ret) {
		fprintf(stderr, "make_traces: %s: %s\n", trace, strerror(-ret));
		return 1;
	}
	chmod(trace, 0644);
	if (write_report(trace, text, 0) || write_report(trace, json, 1)) {
		fprintf(stderr, "make_traces: no report of %s\n", trace);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	size_t i;

	if (argc != 2) {
		fputs("Usage: make_traces DIRECTORY\n", stderr);
		return 2;
	}
	for (i = 0; trace_makers[i].name; i++)
		failed |= make(&trace_makers[i], argv[1]);
	return failed;
}
