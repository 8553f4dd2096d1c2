/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A system call that does nothing, many times: for each line on stdin prints what one cost, in ns
 * of this thread's own time. CALLS calls a line.
 *   bench_getppid CALLS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long calls = argc == 2 ? strtol(argv[1], NULL, 10) : 0, i;
	char line[16];
	double start;

	if (calls <= 0) {
		fprintf(stderr, "Usage: bench_getppid CALLS\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		start = cpu_ns();
		for (i = 0; i < calls; i++)
			syscall(SYS_getppid);
		printf("%.3f\n", (cpu_ns() - start) / (double)calls);
		fflush(stdout);
	}
	return 0;
}
