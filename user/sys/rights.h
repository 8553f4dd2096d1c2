/* SPDX-License-Identifier: BSD-2-Clause */
/* What this process may do: capabilities, lockdown, seccomp, perf events, tracefs. */
#ifndef HCS_RIGHTS_H
#define HCS_RIGHTS_H

#include "sys.h"

/* include/uapi/linux/capability.h; CAP_PERFMON and CAP_BPF are new in 5.8. */
enum hcs_cap {
	HCS_CAP_DAC_READ_SEARCH = 2,
	HCS_CAP_SYS_PTRACE = 19,
	HCS_CAP_SYS_ADMIN = 21,
	HCS_CAP_SYS_RESOURCE = 24,
	HCS_CAP_SYSLOG = 34,
	HCS_CAP_PERFMON = 38,
	HCS_CAP_BPF = 39,
};

struct hcs_rights {
	uint64_t cap_effective, cap_bounding; /* bit n = capability n */
	int seccomp;	  /* 0 none, 1 strict, 2 filter; -1 a kernel that does not tell */
	int no_new_privs; /* 0, 1; -1 not told */
};

/* From /proc/<pid>/status (0 = self). -EBADMSG without CapEff. */
int hcs_rights_read(int root, pid_t pid, struct hcs_rights *out, uint64_t deadline);

int hcs_has_cap(const struct hcs_rights *r, enum hcs_cap cap);

/*
 * 1 when /proc/<pid>/uid_map maps every user id to itself, as in the first user namespace, whose
 * capabilities are the ones the kernel asks for; 0 in another; -ENOENT: a kernel without them.
 */
int hcs_first_user_ns(int root, pid_t pid, uint64_t deadline);

enum hcs_lockdown { HCS_LOCKDOWN_NONE, HCS_LOCKDOWN_INTEGRITY, HCS_LOCKDOWN_CONFIDENTIALITY };

/*
 * /sys/kernel/security/lockdown. -ENOENT when it is not there: no such module in this kernel, or
 * securityfs is not mounted here (a container), which cannot be told apart.
 */
int hcs_lockdown_read(int root, enum hcs_lockdown *out, uint64_t deadline);

/*
 * Whether tracefs is mounted where it belongs (/sys/kernel/tracing or debug/tracing) and may be
 * read. -ENOENT: not mounted; -EACCES: not for us, or that cannot be seen.
 */
int hcs_tracefs_check(int root, uint64_t deadline);

/*
 * Whether this process may open probes of a kind, "kprobe" or "uprobe", by perf_event_open(2):
 * tried with a target that cannot exist, so nothing is ever probed. 0; -EACCES or -EPERM: refused;
 * -ENOENT: this kernel has none (CONFIG_KPROBE_EVENTS, CONFIG_UPROBE_EVENTS), -ENODEV without
 * sysfs. uprobes want CAP_SYS_ADMIN from 6.16 and in the stable kernels since July 2025
 * (kernel/events/core.c perf_uprobe_event_init), CAP_PERFMON in those before.
 */
int hcs_perf_probe_right(int root, const char *kind, uint64_t deadline);

#endif
