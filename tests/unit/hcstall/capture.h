/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs something that prints or exits in a child, and keeps both outputs. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct captured {
	int code; /* exit code */
	char out[16384], err[4096];
};

static inline void read_back(FILE *f, char *text, size_t size)
{
	size_t len;

	rewind(f);
	len = fread(text, 1, size - 1, f);
	text[len] = '\0';
	fclose(f);
}

/* fn's return value is the exit code when it returns. */
static inline struct captured capture(int (*fn)(const void *arg), const void *arg)
{
	FILE *out = tmpfile(), *err = tmpfile();
	struct captured c = {0};
	int status;
	pid_t pid;

	assert_non_null(out);
	assert_non_null(err);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		status = fn(arg);
		fflush(NULL);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	c.code = WEXITSTATUS(status);
	read_back(out, c.out, sizeof(c.out));
	read_back(err, c.err, sizeof(c.err));
	return c;
}

#endif
