/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of a trace as strings, the same on every machine: UTC, and only the file's name as path.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

/* The text, or with `json` the JSON, of the trace at `path`; malloc'ed. NULL when it cannot be
 * read; *exit_code (may be NULL) is that of `hcwatch report`. */
char *golden_report(const char *path, int json, int *exit_code);

/* Contents of a file, malloc'ed and NUL terminated; NULL when it cannot be read. */
char *golden_read(const char *path);

#endif
