/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "../sys/rights.h"
#include "denied.h"

#define READ_MS 1000

int hcw_bpf_try(void)
{
	/* r0 = 0; exit */
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "hcw_try", "GPL", nothing, 2, NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* From 5.11 on BPF memory is charged to the cgroup, and RLIMIT_MEMLOCK is no matter. */
static bool memlock_counts(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major < 5 || (major == 5 && minor < 11);
}

static bool has_rights(const struct hcs_rights *r)
{
	return hcs_has_cap(r, HCS_CAP_SYS_ADMIN) ||
	       (hcs_has_cap(r, HCS_CAP_BPF) && hcs_has_cap(r, HCS_CAP_PERFMON));
}

static bool own_user_ns(int root)
{
	return !hcs_first_user_ns(root, 0, hcs_deadline_ms(READ_MS));
}

static bool locked_down(int root)
{
	enum hcs_lockdown level;

	return !hcs_lockdown_read(root, &level, hcs_deadline_ms(READ_MS)) &&
	       level == HCS_LOCKDOWN_CONFIDENTIALITY;
}

static int no_rights(struct hcw_err *err, int ret, const struct hcs_rights *r)
{
	const char *lacking = hcs_has_cap(r, HCS_CAP_BPF)	? "CAP_PERFMON is"
			      : hcs_has_cap(r, HCS_CAP_PERFMON) ? "CAP_BPF is"
								: "CAP_BPF and CAP_PERFMON are";

	hcw_err_set(err, ret, HCW_EXIT_PERMISSION, "BPF programs cannot be loaded: %s missing",
		    lacking);
	hcw_err_hint(err,
		     "Run it as root, or give it CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before\n"
		     "Linux 5.8)%s",
		     r->seccomp == 2
			     ? ".\nIn a container its seccomp profile must allow bpf(2), too."
			     : ".");
	return ret;
}

static int denied_anyway(struct hcw_err *err, int ret, const struct hcs_rights *r, int root)
{
	if (locked_down(root)) {
		hcw_err_set(
			err, ret, HCW_EXIT_PERMISSION,
			"BPF programs cannot be loaded: kernel lockdown is \"confidentiality\"");
		hcw_err_hint(err,
			     "Boot without Secure Boot or with lockdown=integrity: that does not "
			     "forbid tracing.");
	} else if (own_user_ns(root)) {
		hcw_err_set(err, ret, HCW_EXIT_PERMISSION,
			    "BPF programs cannot be loaded: this is a user namespace of its own");
		hcw_err_hint(err,
			     "Its capabilities do not count for tracing: run hcwatch on the host.");
	} else if (r->seccomp == 2) {
		hcw_err_set(err, ret, HCW_EXIT_PERMISSION,
			    "BPF programs cannot be loaded: a seccomp filter refuses bpf(2)");
		hcw_err_hint(err, "That is usual in a container: run hcwatch on the host, or allow "
				  "bpf and\nperf_event_open in the container's seccomp profile.");
	} else if (memlock_counts()) {
		hcw_err_set(err, ret, HCW_EXIT_PERMISSION,
			    "BPF programs cannot be loaded: too little memory may be locked");
		hcw_err_hint(err, "Raise it before: ulimit -l unlimited (RLIMIT_MEMLOCK).");
	} else {
		hcw_err_set(err, ret, HCW_EXIT_PERMISSION, "BPF programs cannot be loaded: %s",
			    strerror(-ret));
		hcw_err_hint(err,
			     "A security module (SELinux, AppArmor) or the container's runtime "
			     "may\nrefuse it: see the audit log.");
	}
	return ret;
}

int hcw_bpf_denied(struct hcw_err *err, int ret, int root)
{
	struct hcs_rights r = {.seccomp = -1};
	bool told = root >= 0 && !hcs_rights_read(root, 0, &r, hcs_deadline_ms(READ_MS));

	if (ret == -ENOSYS && r.seccomp != 2) {
		hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED,
			    "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
		hcw_err_hint(err, HCW_WITHOUT_BPF);
		return ret;
	}
	if (told && !has_rights(&r))
		return no_rights(err, ret, &r);
	return denied_anyway(err, ret, &r, root);
}

int hcw_btf_missing(struct hcw_err *err, int ret)
{
	if (ret == -ENODATA)
		hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED,
			    "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	else
		hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED,
			    "BTF present but not readable: /sys/kernel/btf/vmlinux");
	hcw_err_hint(err, "%s" HCW_WITHOUT_BPF,
		     ret == -ENODATA ? "" : "It is cut, or newer than this hcwatch knows.\n");
	return ret;
}
