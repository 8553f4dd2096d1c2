/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that does nothing but mark iterations, for tests of the recorder: marks SECONDS
 * [PAUSE_US]. Ends with 0 on SIGTERM too.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "hcpool/iteration.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = sig;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double until = seconds() + (argc > 1 ? atof(argv[1]) : 1);
	useconds_t pause_us = argc > 2 ? (useconds_t)atoi(argv[2]) : 100;
	uint64_t id;

	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	for (id = 1; !stop && seconds() < until; id++) {
		hcwatch_iteration_begin(id);
		if (pause_us)
			usleep(pause_us);
		hcwatch_iteration_end(id);
	}
	return 0;
}
