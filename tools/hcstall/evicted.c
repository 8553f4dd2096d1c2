/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "evicted.h"
#include "refusal.h"

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

static int read_of(int root, pid_t pid, struct stall_evicted *out)
{
	return hcs_kfd_evicted(root, pid, out->gpu, HCS_KFD_MAX_GPUS, hcs_deadline_ms(DEADLINE_MS));
}

void stall_evicted_read(int root, pid_t kfd_pid, struct stall_evicted *out)
{
	out->count = -1;
	if (kfd_pid || sees_host_pids())
		out->count = read_of(root, kfd_pid ? kfd_pid : getpid(), out);
	if (out->count < 0)
		out->count = -1;
}

static int not_ours(struct stall_err *err)
{
	stall_hint(err,
		   "--kfd-pid is the number that this very process has on the host (NSpid in its "
		   "/proc/PID/status\nthere); outside containers leave the option away");
	return -1;
}

int stall_kfd_pid_before(int root, pid_t kfd_pid, struct stall_err *err)
{
	struct stall_evicted known;

	if (!kfd_pid)
		return 0;
	if (sees_host_pids()) {
		if (stall_check_pid(root, kfd_pid, err))
			return not_ours(err);
		if (kfd_pid == getpid())
			return 0;
		stall_fail(err, HCW_EXIT_USAGE, "process %d is another one, this is %d",
			   (int)kfd_pid, (int)getpid());
		return not_ours(err);
	}
	if (read_of(root, kfd_pid, &known) < 0)
		return 0;
	stall_fail(err, HCW_EXIT_USAGE,
		   "KFD knew process %d before this one opened the GPU: it is another one",
		   (int)kfd_pid);
	return not_ours(err);
}

int stall_kfd_pid_after(int root, pid_t kfd_pid, struct stall_err *err)
{
	struct stall_evicted known;

	if (!kfd_pid || read_of(root, kfd_pid, &known) >= 0)
		return 0;
	stall_fail(err, HCW_EXIT_USAGE,
		   "KFD knows no process %d although this one has opened the GPU (stale or wrong "
		   "number, or no\n/sys/class/kfd here)",
		   (int)kfd_pid);
	return not_ours(err);
}
