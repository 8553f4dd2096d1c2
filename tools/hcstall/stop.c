/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include "stop.h"

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

void stall_stop_install(void)
{
	/* SA_RESTART: a submission to the GPU is finished, the loop looks afterwards. */
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

bool stall_stopped(void)
{
	return stopped;
}
