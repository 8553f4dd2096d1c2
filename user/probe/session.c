/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "denied.h"
#include "internal.h"
#include "usdt.h"

#define DEFAULT_RING_BYTES (16u << 20)
#define MAX_RING_BYTES	   (1u << 30)
#define MAX_MARKS	   1024
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

static int fail_open(struct hcw_err *err, int ret, int root)
{
	if (ret == -EPERM || ret == -EACCES || ret == -ENOSYS)
		return hcw_bpf_denied(err, ret, root);
	if (ret == -ENODATA || ret == -EBADMSG)
		return hcw_btf_missing(err, ret);
	hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED, "BPF programs cannot be loaded: %s",
		    strerror(-ret));
	hcw_err_hint(err, "HCW_LIBBPF_DEBUG=1 shows the messages of libbpf.");
	return ret;
}

static int calibrate(struct hcw_session *s, const struct hcw_session_opts *opts, int root,
		     struct hcw_err *err)
{
	struct hcw_calibrate_opts co = {
		.root = root,
		.symbols = opts->symbols,
		.long_running = opts->long_running,
		.choices = &opts->choices,
	};
	struct hcs_kallsyms *own = NULL;
	int ret = 0;

	if (!co.symbols) {
		ret = hcs_kallsyms_load(&own, root, hcs_deadline_ms(HCW_KALLSYMS_MS));
		co.symbols = own;
	}
	if (ret) {
		hcw_err_set(err, ret, hcw_err_exit_of(-ret), "cannot read /proc/kallsyms: %s",
			    strerror(-ret));
		hcw_err_hint(err, "It lists the kernel's functions (CONFIG_KALLSYMS).");
		return ret;
	}
	hcw_calibrate(&s->calibration, &co);
	hcs_kallsyms_free(own);
	return 0;
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
int hcw_session_attach_stage(struct hcw_session *s, struct hcw_attached *stage, const char *module,
			     size_t ring_bytes)
{
	const struct hcw_attached *shared = module ? &s->attached : NULL;
	struct rlimit limit, raised;
	int ret;

	getrlimit(RLIMIT_NOFILE, &limit);
	raised = limit;
	if (raised.rlim_cur < WANTED_FDS)
		raised.rlim_cur = raised.rlim_max < WANTED_FDS ? raised.rlim_max : WANTED_FDS;
	setrlimit(RLIMIT_NOFILE, &raised);
	do
		ret = hcw_attach_chosen(stage, &s->calibration, module, shared, ring_bytes);
	while (ret == -EAGAIN);
	setrlimit(RLIMIT_NOFILE, &limit);
	return ret;
}

static int attach_all(struct hcw_session *s, size_t ring_bytes, int root)
{
	int ret = hcw_bpf_try();

	if (!ret)
		ret = hcw_targets_open(&s->targets, &s->calibration);
	if (!ret)
		ret = hcw_session_attach_stage(s, &s->attached, NULL, ring_bytes);
	if (ret)
		return ret;
	hcw_drivers_open(s, root);
	return all_refused(&s->calibration);
}

static int set_watch_mode(struct hcw_session *s, enum hcw_watch_mode mode)
{
	__u32 key = 0, value = mode;

	return bpf_map__update_elem(s->attached.skel->maps.watch_all, &key, sizeof(key), &value,
				    sizeof(value), BPF_ANY);
}

static int open_calibrated(struct hcw_session *s, const struct hcw_session_opts *opts, int root,
			   struct hcw_err *err)
{
	int ret;

	libbpf_set_print(hcw_libbpf_debug() ? libbpf_debug : NULL);
	s->long_running = opts->long_running;
	ret = attach_all(s, ring_size(opts->ring_bytes), root);
	if (!ret)
		ret = set_watch_mode(s, opts->watch_all	 ? HCW_WATCH_ALL
					: opts->announce ? HCW_WATCH_ANNOUNCE
							 : HCW_WATCH_LISTED);
	if (!ret)
		ret = hcw_pump_open(s);
	return ret ? fail_open(err, ret, root) : 0;
}

static int with_root(int *root, struct hcw_err *err)
{
	*root = hcs_root();
	if (*root >= 0)
		return 0;
	return hcw_err_set(err, *root, HCW_EXIT_UNSUPPORTED, "cannot open /: %s", strerror(-*root));
}

int hcw_session_open(struct hcw_session **out, const struct hcw_session_opts *opts,
		     struct hcw_err *err)
{
	struct hcw_session *s = calloc(1, sizeof(*s));
	int ret, root;

	*out = NULL;
	if (!s)
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	ret = with_root(&root, err);
	if (!ret)
		ret = calibrate(s, opts, root, err);
	if (!ret)
		ret = open_calibrated(s, opts, root, err);
	if (root >= 0)
		close(root);
	if (ret) {
		hcw_session_close(s);
		return ret;
	}
	hcw_plan_build(&s->plan, &s->calibration);
	*out = s;
	return 0;
}

/* What could be probed by its name, and is not for this reason; or by the user's wish, as it
 * stands. */
static void plan_refused(struct hcw_plan *plan, const char *why)
{
	struct hcw_plan_entry *e;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		e = &plan->entry[p];
		if (e->forced && !e->active)
			continue;
		e->tier = HCW_TIER_OFF;
		e->active = false;
		e->target[0] = '\0';
		snprintf(e->reason, sizeof(e->reason), "%.*s", (int)sizeof(e->reason) - 1, why);
	}
}

int hcw_probe_plan(struct hcw_plan *plan, const struct hcw_session_opts *opts, struct hcw_err *err)
{
	struct hcw_session *s = calloc(1, sizeof(*s));
	struct hcw_err own = {0};
	int ret, root;

	if (!s)
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	ret = with_root(&root, &own);
	if (!ret)
		ret = calibrate(s, opts, root, &own);
	if (!ret)
		ret = open_calibrated(s, opts, root, &own);
	hcw_plan_build(plan, &s->calibration);
	if (ret)
		plan_refused(plan, own.what);
	if (ret && err)
		*err = own;
	if (root >= 0)
		close(root);
	hcw_session_close(s);
	return ret;
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

/* Marks that were there, but would not attach; another file's may have. */
static void plan_mark_refused(struct hcw_plan_entry *e, int error)
{
	char why[64];

	if (!e->active)
		snprintf(e->reason, sizeof(e->reason), "usdt: attach: %s",
			 hcw_refusal(HCW_TIER_USDT, error, why, sizeof(why)));
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
		if (ret) {
			plan_mark_refused(e, ret);
			return ret;
		}
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
	int p, n, one, ret = 0, attached = 0;

	if (!marks)
		return -ENOMEM;
	n = hcw_usdt_scan(path, marks, MAX_MARKS);
	for (p = 0; p < HCW_POINT_COUNT && n > 0; p++) {
		one = attach_point(s, p, marks, n, path);
		if (one < 0)
			ret = one;
		else
			attached += one;
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
	hcw_drivers_close(s);
	hcw_detach(&s->attached);
	hcw_targets_close(&s->targets);
	free(s->file);
	free(s);
}
