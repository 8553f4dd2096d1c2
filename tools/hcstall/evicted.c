/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "evicted.h"

#define DEADLINE_MS 1000
/* PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h, the same in every kernel */
#define HOST_PID_NS "pid:[4026531836]"

static bool sees_host_pids(void)
{
	char ns[64];
	ssize_t len = readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1);

	if (len < 0)
		return false;
	ns[len] = '\0';
	return !strcmp(ns, HOST_PID_NS);
}

void stall_evicted_read(int root, struct stall_evicted *out)
{
	out->count = -1;
	if (sees_host_pids())
		out->count = hcs_kfd_evicted(root, getpid(), out->gpu, HCS_KFD_MAX_GPUS,
					     hcs_deadline_ms(DEADLINE_MS));
	if (out->count < 0)
		out->count = -1;
}
