/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "internal.h"
#include "usdt.h"

#define DEFAULT_RING_BYTES (16u << 20)
#define MAX_RING_BYTES	   (1u << 30)
#define MAX_MARKS	   1024
#define KALLSYMS_MS	   60000 /* half a second, but an emulated or busy machine may take its time */
/* libbpf 1.1.2 loses the fds of all module BTFs with each tracepoint that has no BTF. */
#define WANTED_FDS 65536

static int libbpf_debug(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return vfprintf(stderr, format, args);
}

static size_t ring_size(size_t wanted)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	if (!wanted)
		wanted = DEFAULT_RING_BYTES;
	while (size < wanted && size < MAX_RING_BYTES)
		size *= 2;
	return size;
}

static int fail_permission(struct hcw_err *err, int ret)
{
	hcw_err_set(err, ret, HCW_EXIT_PERMISSION, "BPF programs cannot be loaded: %s",
		    strerror(-ret));
	hcw_err_hint(
		err,
		"Run it as root, or give it CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before 5.8).\n"
		"As root it is refused by kernel lockdown (/sys/kernel/security/lockdown: "
		"confidentiality),\nor in a container without these capabilities or with a "
		"seccomp filter on bpf(2).");
	return ret;
}

static int fail_open(struct hcw_err *err, int ret)
{
	if (ret == -EPERM || ret == -EACCES)
		return fail_permission(err, ret);
	hcw_err_set(err, ret, hcw_err_exit_of(-ret), "BPF programs cannot be loaded: %s",
		    strerror(-ret));
	hcw_err_hint(err, "HCW_LIBBPF_DEBUG=1 shows the messages of libbpf.");
	return ret;
}

static int calibrate(struct hcw_session *s, bool long_running, struct hcw_err *err)
{
	struct hcs_kallsyms *symbols = NULL;
	int root = hcs_root();
	int ret = root;

	if (root >= 0)
		ret = hcs_kallsyms_load(&symbols, root, hcs_deadline_ms(KALLSYMS_MS));
	if (ret < 0) {
		hcw_err_set(err, ret, hcw_err_exit_of(-ret), "cannot read /proc/kallsyms: %s",
			    strerror(-ret));
		hcw_err_hint(err, "It lists the kernel's functions (CONFIG_KALLSYMS).");
	} else {
		hcw_calibrate(&s->calibration, root, symbols, long_running);
		hcs_kallsyms_free(symbols);
	}
	if (root >= 0)
		close(root);
	return ret < 0 ? ret : 0;
}

/* -EPERM or -EACCES when the kernel refused all that was tried for want of a right, else 0. */
static int all_refused(const struct hcw_calibration *c)
{
	int p, denied = 0;
	size_t i;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++) {
			int error = c->trial[hcw_candidate_index(p, i)].error;

			if (hcw_chosen(c, p, i))
				return 0;
			if (error == -EPERM || error == -EACCES)
				denied = error;
		}
	return denied;
}

/* Each refusal rules out one candidate at least, so this ends. */
static int attach_all(struct hcw_session *s, size_t ring_bytes)
{
	struct rlimit limit, raised;
	int ret;

	getrlimit(RLIMIT_NOFILE, &limit);
	raised = limit;
	if (raised.rlim_cur < WANTED_FDS)
		raised.rlim_cur = raised.rlim_max < WANTED_FDS ? raised.rlim_max : WANTED_FDS;
	setrlimit(RLIMIT_NOFILE, &raised);
	ret = hcw_targets_open(&s->targets, &s->calibration);
	if (!ret)
		do
			ret = hcw_attach_chosen(&s->attached, &s->calibration, ring_bytes);
		while (ret == -EAGAIN);
	setrlimit(RLIMIT_NOFILE, &limit);
	return ret ? ret : all_refused(&s->calibration);
}

static int set_watch_all(struct hcw_session *s, bool all)
{
	__u32 key = 0, value = all;

	return bpf_map__update_elem(s->attached.skel->maps.watch_all, &key, sizeof(key), &value,
				    sizeof(value), BPF_ANY);
}

int hcw_session_open(struct hcw_session **out, const struct hcw_session_opts *opts,
		     struct hcw_err *err)
{
	struct hcw_session *s = calloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	if (!s)
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	libbpf_set_print(hcw_libbpf_debug() ? libbpf_debug : NULL);
	ret = calibrate(s, opts->long_running, err);
	if (ret) {
		free(s);
		return ret;
	}
	ret = attach_all(s, ring_size(opts->ring_bytes));
	if (!ret)
		ret = set_watch_all(s, opts->watch_all);
	if (!ret)
		ret = hcw_pump_open(s);
	if (ret) {
		hcw_session_close(s);
		return fail_open(err, ret);
	}
	hcw_plan_build(&s->plan, &s->calibration);
	*out = s;
	return 0;
}

const struct hcw_plan *hcw_session_plan(const struct hcw_session *s)
{
	return &s->plan;
}

int hcw_session_watch(struct hcw_session *s, pid_t tgid, struct hcw_err *err)
{
	__u32 key = (__u32)tgid, value = 1;
	int ret;

	ret = bpf_map__update_elem(s->attached.skel->maps.watched, &key, sizeof(key), &value,
				   sizeof(value), BPF_ANY);
	if (!ret)
		return 0;
	hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED, "cannot watch process %d: %s", (int)tgid,
		    ret == -E2BIG ? "too many processes are watched" : strerror(-ret));
	hcw_err_hint(err, "Watch fewer processes, or all that use a GPU.");
	return ret;
}

static bool has_mark(const struct hcw_mark *marks, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(marks[i].name, name))
			return true;
	return false;
}

/* Number of marks of one point attached, or -errno. */
static int attach_point(struct hcw_session *s, enum hcw_point p, const struct hcw_mark *marks,
			int n, const char *path)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[0];
	struct hcw_plan_entry *e = &s->plan.entry[p];
	int h, ret, attached = 0;

	if (d->tier != HCW_TIER_USDT || !hcw_chosen(&s->calibration, p, 0))
		return 0;
	for (h = 0; h < HCW_HOOKS && d->hook[h].program; h++) {
		if (!has_mark(marks, n, d->hook[h].target))
			continue;
		ret = hcw_attach_mark(&s->attached, &d->hook[h], path);
		if (ret)
			return ret;
		attached++;
	}
	if (attached && !e->active) {
		e->active = true;
		e->tier = HCW_TIER_USDT;
		snprintf(e->target, sizeof(e->target), "%s", d->function);
		e->reason[0] = '\0';
	}
	return attached;
}

static int attach_marks(struct hcw_session *s, const char *path)
{
	struct hcw_mark *marks = calloc(MAX_MARKS, sizeof(*marks));
	int p, n, ret = 0, attached = 0;

	if (!marks)
		return -ENOMEM;
	n = hcw_usdt_scan(path, marks, MAX_MARKS);
	for (p = 0; p < HCW_POINT_COUNT && n > 0 && ret >= 0; p++) {
		ret = attach_point(s, p, marks, n, path);
		attached += ret;
	}
	free(marks);
	if (n < 0)
		return n;
	return ret < 0 ? ret : attached;
}

static bool known_file(const struct hcw_session *s, const struct stat *st)
{
	size_t i;

	for (i = 0; i < s->files; i++)
		if (s->file[i].dev == st->st_dev && s->file[i].ino == st->st_ino)
			return true;
	return false;
}

static int remember_file(struct hcw_session *s, const struct stat *st)
{
	struct hcw_marked_file *grown = realloc(s->file, (s->files + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	s->file = grown;
	s->file[s->files++] = (struct hcw_marked_file){st->st_dev, st->st_ino};
	return 0;
}

int hcw_session_attach_file(struct hcw_session *s, const char *path, struct hcw_err *err)
{
	struct stat st;
	int ret;

	ret = stat(path, &st) ? -errno : 0;
	if (!ret && known_file(s, &st))
		return 0;
	if (!ret) {
		ret = attach_marks(s, path);
		/* also one without marks, or whose marks will not attach: once is enough */
		if (remember_file(s, &st) && ret >= 0)
			ret = -ENOMEM;
	}
	if (ret >= 0)
		return ret;
	hcw_err_set(err, ret, hcw_err_exit_of(-ret), "cannot attach to the marks of %s: %s", path,
		    strerror(-ret));
	if (ret == -EPERM || ret == -EACCES)
		hcw_err_hint(err, "It needs CAP_PERFMON (or root) and a readable file.");
	return ret;
}

void hcw_session_close(struct hcw_session *s)
{
	if (!s)
		return;
	hcw_pump_close(s);
	hcw_detach(&s->attached);
	hcw_targets_close(&s->targets);
	free(s->file);
	free(s);
}
