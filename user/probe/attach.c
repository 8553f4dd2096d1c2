/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "attach.h"
#include "kprobe.h"

#define LOG_BYTES 4096

/* The verifier writes to the log of the program it refuses, and to no other: that names the
 * culprit. */
struct logs {
	char text[HCW_MAX_CANDIDATES][HCW_HOOKS][LOG_BYTES];
};

typedef int (*candidate_fn)(struct hcw_attached *a, struct hcw_calibration *c, enum hcw_point p,
			    size_t i, void *ctx);

bool hcw_libbpf_debug(void)
{
	const char *value = getenv("HCW_LIBBPF_DEBUG");

	return value && !strcmp(value, "1");
}

bool hcw_attached_has(const struct hcw_attached *a, const struct hcw_calibration *c,
		      enum hcw_point p, size_t i)
{
	const struct hcw_trial *t = &c->trial[hcw_candidate_index(p, i)];

	if (!a->module)
		return !t->in_module;
	return t->in_module && !strcmp(hcw_point_info(p)->candidate[i].module, a->module);
}

/* Calls fn for each candidate of `a` chosen now; the first non-zero return ends the walk. */
static int each_chosen(struct hcw_attached *a, struct hcw_calibration *c, candidate_fn fn,
		       void *ctx)
{
	struct hcw_calibration chosen = *c; /* fn may reject */
	int p, ret = 0;
	size_t i;

	for (p = 0; p < HCW_POINT_COUNT && !ret; p++)
		for (i = 0; i < hcw_point_info(p)->count && !ret; i++)
			if (hcw_chosen(&chosen, p, i) && hcw_attached_has(a, &chosen, p, i))
				ret = fn(a, c, p, i, ctx);
	return ret;
}

struct bpf_program *hcw_hook_program(const struct hcw_attached *a, const struct hcw_hook *hook)
{
	return bpf_object__find_program_by_name(a->skel->obj, hook->program);
}

/* Not in <errno.h>: of the kernel only, include/linux/errno.h. */
#define KERNEL_ENOTSUPP 524

const char *hcw_refusal(enum hcw_tier tier, int error, char *buf, size_t size)
{
	if (error == -KERNEL_ENOTSUPP)
		snprintf(buf, size, "%s not supported by this kernel (ENOTSUPP)",
			 hcw_tier_name(tier));
	else if (error == -EPERM || error == -EACCES)
		snprintf(buf, size, "the kernel refuses it here (%s)",
			 error == -EPERM ? "EPERM" : "EACCES");
	else
		snprintf(buf, size, "%s", strerror(-error));
	return buf;
}

static void reject(struct hcw_calibration *c, enum hcw_point p, size_t i, const char *step,
		   int error)
{
	enum hcw_tier tier = hcw_point_info(p)->candidate[i].tier;
	char why[64];

	hcw_reject(c, p, i, error, "%s: %s", step, hcw_refusal(tier, error, why, sizeof(why)));
}

/* ctx: struct logs, or NULL to leave the log to libbpf. */
static int enable(struct hcw_attached *a, struct hcw_calibration *c, enum hcw_point p, size_t i,
		  void *ctx)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];
	struct logs *logs = ctx;
	struct bpf_program *prog;
	int h, ret = 0;

	for (h = 0; h < HCW_HOOKS && d->hook[h].program && !ret; h++) {
		prog = hcw_hook_program(a, &d->hook[h]);
		if (!prog)
			return -EINVAL;
		if (d->tier == HCW_TIER_TP_BTF) /* for fentry see targets.h */
			ret = bpf_program__set_attach_target(prog, 0, d->hook[h].target);
		if (!ret)
			ret = bpf_program__set_autoload(prog, true);
		if (!ret && logs)
			ret = bpf_program__set_log_buf(
				prog, logs->text[hcw_candidate_index(p, i)][h], LOG_BYTES);
	}
	if (!ret)
		return 0;
	for (h = 0; h < HCW_HOOKS && d->hook[h].program; h++)
		bpf_program__set_autoload(hcw_hook_program(a, &d->hook[h]), false);
	reject(c, p, i, "no BTF for it", ret);
	return 0;
}

/* All but those that belong to a program file: its constants. */
static int share_maps(struct bpf_object *obj, const struct bpf_object *with)
{
	struct bpf_map *map, *theirs;
	int ret = 0;

	bpf_object__for_each_map (map, obj) {
		theirs = bpf_object__find_map_by_name(with, bpf_map__name(map));
		if (theirs && !bpf_map__is_internal(map) && !ret)
			ret = bpf_map__reuse_fd(map, bpf_map__fd(theirs));
	}
	return ret;
}

static int open_skeleton(struct hcw_attached *a, const struct hcw_attached *shared,
			 size_t ring_bytes)
{
	struct bpf_program *prog;

	a->skel = hcw_bpf__open();
	if (!a->skel)
		return -errno;
	bpf_object__for_each_program (prog, a->skel->obj)
		bpf_program__set_autoload(prog, false);
	return shared ? share_maps(a->skel->obj, shared->skel->obj)
		      : bpf_map__set_max_entries(a->skel->maps.ring, (__u32)ring_bytes);
}

struct failed_load {
	const struct logs *logs;
	int error;
	const struct hcw_attached *shared;
	size_t ring_bytes;
};

static int reject_logged(struct hcw_attached *a, struct hcw_calibration *c, enum hcw_point p,
			 size_t i, void *ctx)
{
	const struct failed_load *f = ctx;
	size_t index = hcw_candidate_index(p, i);

	(void)a;
	if (!f->logs->text[index][0][0] && !f->logs->text[index][1][0])
		return 0;
	reject(c, p, i, "load", f->error);
	return -EAGAIN;
}

/* Loads one candidate alone. */
static int try_alone(struct hcw_attached *a, struct hcw_calibration *c, enum hcw_point p, size_t i,
		     void *ctx)
{
	const struct failed_load *f = ctx;
	struct hcw_attached alone = {0};
	int ret;

	(void)a;
	ret = open_skeleton(&alone, f->shared, f->ring_bytes);
	if (!ret)
		ret = enable(&alone, c, p, i, NULL);
	if (!ret)
		ret = hcw_bpf__load(alone.skel);
	hcw_detach(&alone);
	if (ret)
		reject(c, p, i, "load", ret);
	return 0;
}

/* -EAGAIN when the culprit was found and rejected, else the error of the load. */
static int find_culprit(struct hcw_attached *a, struct hcw_calibration *c, struct failed_load *f)
{
	struct hcw_calibration before = *c;

	if (each_chosen(a, c, reject_logged, f))
		return -EAGAIN;
	each_chosen(a, c, try_alone, f);
	return memcmp(&before, c, sizeof(before)) ? -EAGAIN : f->error;
}

static int load_chosen(struct hcw_attached *a, struct hcw_calibration *c,
		       const struct hcw_attached *shared, size_t ring_bytes)
{
	struct logs *logs = calloc(1, sizeof(*logs));
	struct failed_load failed = {.logs = logs, .shared = shared, .ring_bytes = ring_bytes};
	int ret;

	if (!logs)
		return -ENOMEM;
	ret = open_skeleton(a, shared, ring_bytes);
	if (!ret)
		ret = each_chosen(a, c, enable, hcw_libbpf_debug() ? NULL : logs);
	if (!ret) {
		failed.error = hcw_bpf__load(a->skel);
		if (failed.error)
			ret = find_culprit(a, c, &failed);
	}
	free(logs);
	return ret;
}

static int keep_link(struct hcw_attached *a, struct bpf_link *link)
{
	struct bpf_link **grown;

	if (!link)
		return -errno;
	if (a->links == a->room) {
		grown = realloc(a->link, (a->room + 32) * sizeof(*grown));
		if (!grown) {
			bpf_link__destroy(link);
			return -ENOMEM;
		}
		a->link = grown;
		a->room += 32;
	}
	a->link[a->links++] = link;
	return 0;
}

/* A name that is not the only one of its kind is told by its address, as found in kallsyms. */
static struct bpf_link *attach_kprobe(struct bpf_program *prog, const struct hcw_trial *t,
				      const struct hcw_hook *hook)
{
	struct bpf_link *link;
	int fd;

	if (!t->addr)
		return bpf_program__attach_kprobe(prog, hook->on_return, t->symbol);
	fd = hcw_kprobe_open(t->addr, hook->on_return);
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	link = bpf_program__attach_perf_event(prog, fd);
	if (!link)
		close(fd);
	return link;
}

static struct bpf_link *attach_hook(struct bpf_program *prog, enum hcw_tier tier,
				    const struct hcw_trial *t, const struct hcw_hook *hook)
{
	switch (tier) {
	case HCW_TIER_TP_BTF:
	case HCW_TIER_FENTRY:
		return bpf_program__attach_trace(prog);
	case HCW_TIER_RAW_TP:
		return bpf_program__attach_raw_tracepoint(prog, hook->target);
	case HCW_TIER_KPROBE:
		return attach_kprobe(prog, t, hook);
	default:
		errno = EINVAL;
		return NULL;
	}
}

static int attach_candidate(struct hcw_attached *a, struct hcw_calibration *c, enum hcw_point p,
			    size_t i, void *ctx)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];
	size_t links = a->links;
	int h, ret = 0;

	(void)ctx;
	if (d->tier == HCW_TIER_USDT)
		return 0;
	for (h = 0; h < HCW_HOOKS && d->hook[h].program && !ret; h++)
		ret = keep_link(a, attach_hook(hcw_hook_program(a, &d->hook[h]), d->tier,
					       hcw_trial_of(c, p, i), &d->hook[h]));
	if (!ret)
		return 0;
	while (a->links > links)
		bpf_link__destroy(a->link[--a->links]);
	reject(c, p, i, "attach", ret);
	return 0;
}

/* Whether a rejection left something else to try for its function or point. */
static bool alternative_left(const struct hcw_attached *a, const struct hcw_calibration *before,
			     const struct hcw_calibration *c)
{
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (hcw_chosen(c, p, i) && !hcw_chosen(before, p, i) &&
			    hcw_attached_has(a, c, p, i))
				return true;
	return false;
}

int hcw_attach_chosen(struct hcw_attached *a, struct hcw_calibration *c, const char *module,
		      const struct hcw_attached *shared, size_t ring_bytes)
{
	struct hcw_calibration before = *c;
	int ret;

	*a = (struct hcw_attached){.module = module};
	ret = load_chosen(a, c, shared, ring_bytes);
	if (!ret)
		ret = each_chosen(a, c, attach_candidate, NULL);
	if (!ret && alternative_left(a, &before, c))
		ret = -EAGAIN;
	if (ret)
		hcw_detach(a);
	return ret;
}

int hcw_attach_mark(struct hcw_attached *a, const struct hcw_hook *hook, const char *path)
{
	const char *colon = strchr(hook->target, ':');
	char provider[64];

	snprintf(provider, sizeof(provider), "%.*s", (int)(colon - hook->target), hook->target);
	return keep_link(a, bpf_program__attach_usdt(hcw_hook_program(a, hook), -1, path, provider,
						     colon + 1, NULL));
}

__u64 hcw_hook_skipped(const struct hcw_attached *a, const struct hcw_hook *hook)
{
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(hcw_hook_program(a, hook));

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	return info.recursion_misses;
}

void hcw_detach(struct hcw_attached *a)
{
	/* The entries were attached last: they go first, so that no entry is left without its
	 * return. */
	while (a->links)
		bpf_link__destroy(a->link[--a->links]);
	free(a->link);
	hcw_bpf__destroy(a->skel);
	memset(a, 0, sizeof(*a));
}
