/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads every BPF program of the product alone and prints what the verifier had to do for it, as
 * CSV:
 *   program,kernel,tier,verified_insns,insns,limit
 * kernel is the series (6.1), limit the kernel's own. What cannot be loaded here is told on stderr
 * with the reason, and is no row: "skipped NAME: REASON" when its target is not in this kernel,
 * "refused NAME: REASON" else, with exit code 1.
 *   verifier_count
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <bpf/bpf.h>
#include "../../user/probe/attach.h"
#include "../../user/sys/kallsyms.h"

#define INSNS_LIMIT 1000000 /* BPF_COMPLEXITY_LIMIT_INSNS of kernel/bpf/verifier.c */
#define SKIPPED	    77
#define MAX_HOOKS   16
/* libbpf 1.1.2 loses the fds of all module BTFs with each fentry program. */
#define WANTED_FDS  65536
#define KALLSYMS_MS 60000

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return hcw_libbpf_debug() && level <= LIBBPF_DEBUG ? vfprintf(stderr, format, args) : 0;
}

static const char *kernel_series(void)
{
	static struct utsname name;
	char *dot;

	uname(&name);
	dot = strchr(name.release, '.');
	if (dot)
		dot[1 + strspn(dot + 1, "0123456789")] = '\0';
	return name.release;
}

static const char *tier_of(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);
	size_t len = strcspn(section, "/");

	if (!strncmp(section, "fentry", len) || !strncmp(section, "fexit", len))
		return "fentry";
	if (!strncmp(section, "kprobe", len) || !strncmp(section, "kretprobe", len))
		return "kprobe";
	return section;
}

/* The functions a program is for, by the table of points, in `hook`; their number. */
static size_t hooks_of(const char *program, const struct hcw_hook **hook, size_t max)
{
	const struct hcw_point_info *info;
	size_t i, n = 0;
	int p, h;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		info = hcw_point_info(p);
		for (i = 0; i < info->count; i++)
			for (h = 0; h < HCW_HOOKS && n < max; h++)
				if (info->candidate[i].hook[h].program &&
				    !strcmp(info->candidate[i].hook[h].program, program))
					hook[n++] = &info->candidate[i].hook[h];
	}
	return n;
}

static bool needs_target(const struct bpf_program *prog)
{
	return bpf_program__type(prog) == BPF_PROG_TYPE_TRACING;
}

/* 0 when it is loaded. */
static int load(struct hcw_bpf *skel, struct bpf_program *prog, const struct hcw_hook *hook)
{
	int ret = needs_target(prog) ? bpf_program__set_attach_target(prog, 0, hook->target) : 0;

	if (!ret)
		return hcw_bpf__load(skel);
	/* libbpf 1.1 frees the BTF it has looked in only when it loads */
	bpf_program__set_autoload(prog, false);
	hcw_bpf__load(skel);
	return ret;
}

/* Without its driver a kernel has not the types a program reads either. */
static bool has_target(const struct hcs_kallsyms *symbols, const struct bpf_program *prog,
		       const struct hcw_hook **hook, size_t n)
{
	size_t i;

	if (strcmp(tier_of(prog), "fentry") && strcmp(tier_of(prog), "kprobe"))
		return true;
	for (i = 0; i < n; i++)
		if (hcs_kallsyms_count(symbols, hook[i]->target, "*"))
			return true;
	return false;
}

static void print_row(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size)) {
		perror("verifier_count");
		exit(1);
	}
	printf("%s,%s,%s,%u,%zu,%d\n", bpf_program__name(prog), kernel_series(), tier_of(prog),
	       info.verified_insns, info.xlated_prog_len / sizeof(struct bpf_insn), INSNS_LIMIT);
}

static struct hcw_bpf *open_only(const char *name, struct bpf_program **prog)
{
	struct hcw_bpf *skel = hcw_bpf__open();
	struct bpf_program *other;

	*prog = NULL;
	if (!skel)
		return NULL;
	bpf_object__for_each_program (other, skel->obj) {
		bpf_program__set_autoload(other, !strcmp(bpf_program__name(other), name));
		if (bpf_program__autoload(other))
			*prog = other;
	}
	return skel;
}

static int tell(const char *verb, const char *name, const char *why, int error)
{
	fprintf(stderr, "%s %s: %s%s%s\n", verb, name, why, error ? ": " : "",
		error ? strerror(-error) : "");
	return *verb == 'r';
}

/* fentry is not there at all on some kernels, whatever the program: the host of the build is one.
 */
static bool fentry_refused(const struct bpf_program *prog, int error)
{
	return needs_target(prog) && !strcmp(tier_of(prog), "fentry") &&
	       (error == -EPERM || error == -ENOTSUP || error == -524);
}

/* 1 when it was refused. */
static int count(const struct hcs_kallsyms *symbols, const char *name)
{
	const struct hcw_hook *hook[MAX_HOOKS];
	size_t hooks = hooks_of(name, hook, MAX_HOOKS);
	struct bpf_program *prog;
	struct hcw_bpf *skel = open_only(name, &prog);
	int ret, bad = 0;

	if (!skel || !prog)
		return tell("refused", name, "cannot open", -errno);
	if (!hooks) {
		bad = tell("refused", name, "no point of points.c uses it", 0);
	} else if (!has_target(symbols, prog, hook, hooks)) {
		bad = tell("skipped", name, "its target is not in this kernel", 0);
	} else {
		ret = load(skel, prog, hook[0]);
		if (!ret)
			print_row(prog);
		else if (needs_target(prog) && (ret == -ESRCH || ret == -ENOENT))
			bad = tell("skipped", name, "this kernel has no BTF for its target", 0);
		else if (fentry_refused(prog, ret))
			bad = tell("skipped", name, "no fentry here", ret);
		else
			bad = tell("refused", name, "load", ret);
	}
	hcw_bpf__destroy(skel);
	return bad;
}

static int permitted(void)
{
	struct bpf_insn insns[] = {{.code = 0xb7}, {.code = 0x95}}; /* r0 = 0; exit */
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "hcw_try", "GPL", insns, 2, NULL);

	return fd < 0 ? -errno : 0;
}

int main(void)
{
	struct rlimit limit = {WANTED_FDS, WANTED_FDS};
	struct bpf_program *prog;
	struct hcs_kallsyms *symbols;
	struct hcw_bpf *skel;
	int bad = 0, ret;

	setrlimit(RLIMIT_NOFILE, &limit);
	libbpf_set_print(quiet);
	ret = permitted();
	if (ret) {
		fprintf(stderr, "SKIP verifier_count: BPF is not permitted here: %s\n",
			strerror(-ret));
		return SKIPPED;
	}
	skel = hcw_bpf__open();
	ret = hcs_kallsyms_load(&symbols, hcs_root(), hcs_deadline_ms(KALLSYMS_MS));
	if (!skel || ret) {
		fprintf(stderr, "verifier_count: cannot start: %s\n", strerror(ret ? -ret : errno));
		return 1;
	}
	printf("program,kernel,tier,verified_insns,insns,limit\n");
	bpf_object__for_each_program (prog, skel->obj)
		bad |= count(symbols, bpf_program__name(prog));
	hcs_kallsyms_free(symbols);
	hcw_bpf__destroy(skel);
	return bad;
}
