/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands in the way of tracing on this host and for this process. What can be tried was tried
 * (struct doctor_attempt); the rest is read, and unread is unknown, not blocked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "../out/fmt.h"
#include "../sys/module.h"
#include "../sys/num.h"
#include "../sys/rights.h"
#include "doctor_internal.h"

struct reading {
	struct doctor_probes *out;
	int root;
	const struct doctor_attempt *tried;
	struct hcs_rights rights;
	int rights_error;
	int first_ns; /* hcs_first_user_ns() */
};

static uint64_t deadline(void)
{
	return hcs_deadline_ms(DOCTOR_READ_MS);
}

static __attribute__((format(printf, 6, 7))) void add(struct reading *r, const char *name,
						      enum doctor_bearing bearing,
						      const char *value, const char *code,
						      const char *fmt, ...)
{
	struct doctor_check *c = &r->out->check[r->out->n_checks];
	va_list args;

	if (r->out->n_checks == DOCTOR_MAX_CHECKS)
		return;
	r->out->n_checks++;
	*c = (struct doctor_check){.name = name, .bearing = bearing, .code = code};
	snprintf(c->value, sizeof(c->value), "%s", value);
	va_start(args, fmt);
	vsnprintf(c->means, sizeof(c->means), fmt, args);
	va_end(args);
}

static bool may(const struct reading *r, enum hcs_cap cap)
{
	return !r->rights_error && r->first_ns != 0 && hcs_has_cap(&r->rights, cap);
}

static bool admin(const struct reading *r)
{
	return may(r, HCS_CAP_SYS_ADMIN);
}

/* A number of /proc/sys/kernel; its error, which is what the text is then. */
static int number(const struct reading *r, const char *name, char *text, size_t size,
		  uint64_t *value)
{
	char path[96];
	int ret;

	snprintf(path, sizeof(path), "proc/sys/kernel/%s", name);
	ret = hcs_setting(r->root, path, "proc/sys/kernel/osrelease", text, size, deadline());
	/* perf_event_paranoid may be -1 */
	if (!ret && !strcmp(text, "-1"))
		*value = 0;
	else if (!ret && hcs_num_u64(text, 0, 1000, value))
		ret = -EBADMSG;
	if (ret)
		text[0] = '\0';
	return ret;
}

static void kernel_btf(struct reading *r)
{
	uint64_t bytes = 0;
	int ret = hcs_btf_check(r->root, "vmlinux", &bytes, deadline());
	char size[FMT_LEN] = "";

	switch (ret) {
	case 0:
		add(r, "kernel_btf", DOCTOR_FINE, fmt_bytes(size, bytes), NULL,
		    "the kernel's types are known");
		break;
	case -ENOENT:
		add(r, "kernel_btf", DOCTOR_BLOCKS, "", "HCW-506",
		    "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
		break;
	case -EBADMSG:
		add(r, "kernel_btf", DOCTOR_BLOCKS, "", "HCW-506",
		    "BTF present but not readable: /sys/kernel/btf/vmlinux is cut, or of a version "
		    "that is not known");
		break;
	default:
		add(r, "kernel_btf", DOCTOR_NOT_KNOWN, "", NULL, "%s", doctor_why(ret));
	}
}

static void driver(struct reading *r)
{
	struct hcs_module m;
	uint64_t bytes;
	int ret = hcs_module_read(r->root, "amdgpu", &m, deadline());

	if (ret) {
		add(r, "driver", DOCTOR_NOT_KNOWN, "", NULL, "amdgpu: %s", doctor_why(ret));
		return;
	}
	if (m.state == HCS_MODULE_ABSENT) {
		add(r, "driver", DOCTOR_LIMITS, "not loaded", "HCW-509",
		    "amdgpu is not loaded: nothing of KFD can be traced");
		return;
	}
	ret = hcs_btf_check(r->root, "amdgpu", &bytes, deadline());
	if (ret == -ENOENT && m.state == HCS_MODULE_LIVE)
		add(r, "driver", DOCTOR_LIMITS, "loaded", "HCW-507",
		    "amdgpu is loaded%s, and has no BTF of its own",
		    m.out_of_tree ? " (not of this kernel: DKMS)" : "");
	else if (ret && ret != -ENOENT)
		add(r, "driver", DOCTOR_NOT_KNOWN, "loaded", NULL, "its BTF: %s", doctor_why(ret));
	else if (!ret && !admin(r))
		add(r, "driver", DOCTOR_LIMITS, "loaded", NULL,
		    "amdgpu has BTF, but only CAP_SYS_ADMIN may use a module's: kprobes instead of "
		    "fentry there, and no evict and restore points");
	else
		add(r, "driver", DOCTOR_FINE, "loaded", NULL, "amdgpu is there, with its types");
}

static void lockdown(struct reading *r)
{
	static const char *const names[] = {"none", "integrity", "confidentiality"};
	enum hcs_lockdown level;
	int ret = hcs_lockdown_read(r->root, &level, deadline());

	if (ret == -ENOENT)
		add(r, "lockdown", DOCTOR_NOT_KNOWN, "", NULL,
		    "no lockdown file here: the kernel has none, or securityfs is not mounted");
	else if (ret)
		add(r, "lockdown", DOCTOR_NOT_KNOWN, "", NULL, "/sys/kernel/security/lockdown: %s",
		    doctor_why(ret));
	else if (level == HCS_LOCKDOWN_CONFIDENTIALITY)
		add(r, "lockdown", DOCTOR_BLOCKS, names[level], "HCW-501",
		    "blocked, SecureBoot/lockdown: programs may not read kernel memory");
	else
		add(r, "lockdown", DOCTOR_FINE, names[level], NULL, "does not forbid tracing");
}

/* Before 5.8 there is neither CAP_BPF nor CAP_PERFMON. */
static bool has_cap_bpf(const struct reading *r)
{
	uint64_t last;
	char text[32];

	return number(r, "cap_last_cap", text, sizeof(text), &last) || last >= HCS_CAP_BPF;
}

static void missing_caps(const struct reading *r, char *out, size_t size)
{
	bool bpf = may(r, HCS_CAP_BPF) || admin(r), perfmon = may(r, HCS_CAP_PERFMON) || admin(r);

	snprintf(out, size, "%s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? "" : "CAP_PERFMON");
	if (!has_cap_bpf(r) && !admin(r))
		snprintf(out, size, "CAP_SYS_ADMIN (a kernel before 5.8 has no CAP_BPF)");
}

static void capabilities(struct reading *r)
{
	char missing[80], value[32];

	if (r->rights_error) {
		add(r, "capabilities", DOCTOR_NOT_KNOWN, "", NULL, "/proc/self/status: %s",
		    doctor_why(r->rights_error));
		return;
	}
	snprintf(value, sizeof(value), "0x%016" PRIx64, r->rights.cap_effective);
	missing_caps(r, missing, sizeof(missing));
	if (!r->first_ns)
		add(r, "capabilities", DOCTOR_BLOCKS, value, "HCW-502",
		    "this is not the first user namespace (a rootless container?): capabilities "
		    "count inside it only");
	else if (missing[0])
		add(r, "capabilities", DOCTOR_BLOCKS, value, "HCW-502", "missing: %s", missing);
	else
		add(r, "capabilities", DOCTOR_FINE, value, NULL, "CAP_BPF and CAP_PERFMON are %s",
		    admin(r) ? "covered by CAP_SYS_ADMIN" : "there");
}

static void paranoid(struct reading *r)
{
	char text[32];
	uint64_t level;
	int ret = number(r, "perf_event_paranoid", text, sizeof(text), &level);

	if (ret == -ENOENT)
		add(r, "perf_event_paranoid", DOCTOR_LIMITS, "", NULL,
		    "this kernel has no perf events: no kprobes and no uprobes by them");
	else if (ret)
		add(r, "perf_event_paranoid", DOCTOR_NOT_KNOWN, "", NULL, "%s", doctor_why(ret));
	else if (level > 2 && !admin(r) && r->tried->kprobe && r->tried->uprobe)
		add(r, "perf_event_paranoid", DOCTOR_LIMITS, text, "HCW-503",
		    "fentry and raw tracepoints work; attaching kprobes, uprobes and tracepoints "
		    "needs a level of 2 or less, or CAP_SYS_ADMIN, on this distribution");
	else if (level > 2)
		add(r, "perf_event_paranoid", DOCTOR_FINE, text, NULL,
		    admin(r) ? "above 2, which does not bind CAP_SYS_ADMIN"
			     : "above 2, but this kernel does not refuse probes for it");
	else
		add(r, "perf_event_paranoid", DOCTOR_FINE, text, NULL,
		    "with CAP_PERFMON it does not matter");
}

/* kprobes and uprobes, as tried. */
static void perf_probe(struct reading *r, const char *name, int tried, const char *lost,
		       const char *code)
{
	if (!tried)
		add(r, name, DOCTOR_FINE, "", NULL, "may be attached");
	else if (tried == -ENOENT)
		add(r, name, DOCTOR_LIMITS, "", NULL, "this kernel has none: %s", lost);
	else if (tried == -EACCES || tried == -EPERM)
		add(r, name, DOCTOR_LIMITS, "", code, "refused (%s): %s",
		    tried == -EPERM ? "EPERM" : "EACCES", lost);
	else
		add(r, name, DOCTOR_NOT_KNOWN, "", NULL, "%s", doctor_why(tried));
}

/* Those who have the capabilities are never unprivileged, whatever it says. */
static void unprivileged_bpf(struct reading *r)
{
	static const char *const means[] = {
		"anybody may load simple programs; tracing needs CAP_BPF all the same",
		"BPF is for CAP_BPF, until the next boot",
		"BPF is for CAP_BPF",
	};
	char text[32];
	uint64_t v;
	int ret = number(r, "unprivileged_bpf_disabled", text, sizeof(text), &v);

	if (ret == -ENOENT)
		add(r, "unprivileged_bpf_disabled", DOCTOR_BLOCKS, "", NULL,
		    "this kernel has no bpf(2) (CONFIG_BPF_SYSCALL)");
	else if (ret || v > 2)
		add(r, "unprivileged_bpf_disabled", DOCTOR_NOT_KNOWN, text, NULL, "%s",
		    doctor_why(ret ? ret : -EBADMSG));
	else
		add(r, "unprivileged_bpf_disabled", DOCTOR_FINE, text, NULL, "%s", means[v]);
}

static void seccomp(struct reading *r)
{
	bool able = may(r, HCS_CAP_BPF) || admin(r);

	if (r->rights_error || r->rights.seccomp < 0)
		add(r, "seccomp", DOCTOR_NOT_KNOWN, "", NULL, "the kernel does not tell");
	else if (!r->rights.seccomp)
		add(r, "seccomp", DOCTOR_FINE, "none", NULL, "no filter on this process");
	else if (r->tried->denied && able)
		add(r, "seccomp", DOCTOR_BLOCKS, "filter", "HCW-504",
		    "BPF is refused although the capabilities are there: by this filter, as "
		    "containers have one");
	else
		add(r, "seccomp", r->tried->denied ? DOCTOR_NOT_KNOWN : DOCTOR_FINE, "filter", NULL,
		    r->tried->denied ? "a filter, which may refuse bpf(2) too"
				     : "a filter, which does not refuse bpf(2)");
}

static void kallsyms(struct reading *r)
{
	char level[32], text[64] = "";
	uint64_t restricted = 0;
	int ret = number(r, "kptr_restrict", level, sizeof(level), &restricted);

	if (!ret)
		snprintf(text, sizeof(text), "kptr_restrict %s", level);
	if (r->tried->symbols_error)
		add(r, "kallsyms", DOCTOR_BLOCKS, text, NULL,
		    "/proc/kallsyms, which says what functions there are: %s",
		    doctor_why(r->tried->symbols_error));
	else if (!r->tried->symbols_hidden)
		add(r, "kallsyms", DOCTOR_FINE, text, NULL, "names and addresses can be read");
	else if (!ret && restricted == 2)
		add(r, "kallsyms", DOCTOR_LIMITS, text, "HCW-505",
		    "kptr_restrict = 2 hides addresses from everybody: stacks stay without names, "
		    "functions are found by name, but for a driver's that has namesakes");
	else
		add(r, "kallsyms", DOCTOR_LIMITS, text, "HCW-505",
		    "addresses are hidden without CAP_SYSLOG: stacks stay without names, functions "
		    "are found by name, but for a driver's that has namesakes");
}

static void tracefs(struct reading *r)
{
	int ret = hcs_tracefs_check(r->root, deadline());

	add(r, "tracefs", DOCTOR_FINE,
	    !ret	     ? "readable"
	    : ret == -ENOENT ? "not mounted"
	    : ret == -EACCES ? "not readable"
			     : "unknown",
	    NULL, "not needed");
}

/* "5.10.0-28-amd64" is before 5.11. False where the text has no such numbers. */
static bool before_5_11(const char *release)
{
	unsigned int major, minor;

	return sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 11));
}

static void memlock(struct reading *r)
{
	char release[72], limit[FMT_LEN];

	if (hcs_setting(r->root, "proc/sys/kernel/osrelease", "proc", release, sizeof(release),
			deadline()) ||
	    !before_5_11(release))
		return; /* the limit means nothing */
	if (may(r, HCS_CAP_SYS_RESOURCE) || r->tried->memlock == UINT64_MAX)
		return;
	add(r, "memlock", r->tried->denied ? DOCTOR_BLOCKS : DOCTOR_LIMITS,
	    fmt_bytes(limit, r->tried->memlock), "HCW-508",
	    "before 5.11 BPF maps count against this limit");
}

static void buys(struct reading *r, const char *name, enum hcs_cap cap, const char *what)
{
	r->out->cap[r->out->n_caps++] =
		(struct doctor_cap){.name = name, .have = may(r, cap), .buys = what};
}

static void capability_table(struct reading *r)
{
	buys(r, "CAP_BPF", HCS_CAP_BPF, "load programs and maps: nothing is traced without");
	buys(r, "CAP_PERFMON", HCS_CAP_PERFMON,
	     "read kernel memory, attach tracepoints, fentry and kprobes: nothing is traced without");
	buys(r, "CAP_SYS_ADMIN", HCS_CAP_SYS_ADMIN,
	     "uprobes on newer kernels, so iterations and pools (HCW-510); perf_event_paranoid "
	     "above 2; types of the driver: fentry there, the points evict and restore");
	buys(r, "CAP_SYSLOG", HCS_CAP_SYSLOG, "names of kernel functions in stacks");
	buys(r, "CAP_SYS_PTRACE", HCS_CAP_SYS_PTRACE,
	     "mappings of other users' processes: the kind of their pools, files with marks");
	buys(r, "CAP_DAC_READ_SEARCH", HCS_CAP_DAC_READ_SEARCH,
	     "marks in programs and libraries that only their owner may read");
	buys(r, "CAP_SYS_RESOURCE", HCS_CAP_SYS_RESOURCE,
	     "before 5.11: maps beyond the limit of locked memory; else nothing");
}

void doctor_read_checks(struct doctor_probes *out, int root, const struct doctor_attempt *tried)
{
	struct reading r = {.out = out, .root = root, .tried = tried};

	r.rights_error = hcs_rights_read(root, 0, &r.rights, deadline());
	r.first_ns = hcs_first_user_ns(root, 0, deadline());
	capabilities(&r);
	lockdown(&r);
	seccomp(&r);
	kernel_btf(&r);
	driver(&r);
	paranoid(&r);
	perf_probe(&r, "kprobes", tried->kprobe,
		   "functions of modules without BTF cannot be traced", NULL);
	perf_probe(&r, "uprobes", tried->uprobe, "iterations and pools cannot be seen",
		   may(&r, HCS_CAP_PERFMON) ? "HCW-510" : NULL);
	unprivileged_bpf(&r);
	kallsyms(&r);
	tracefs(&r);
	memlock(&r);
	capability_table(&r);
}
