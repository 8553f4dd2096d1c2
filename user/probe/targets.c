/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "prototype.h"
#include "targets.h"

#define SLOTS 256 /* a power of two, well above the number of functions */

/* Functions looked for in one BTF, so that its many types are gone through once. */
struct wanted {
	const char *name[SLOTS]; /* hashed, open addressing */
	__u32 id[SLOTS];	 /* 0 = not found */
};

static size_t slot_of(const struct wanted *w, const char *name)
{
	uint32_t h = 2166136261u; /* FNV-1a */
	const char *s;
	size_t i;

	for (s = name; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	for (i = h & (SLOTS - 1); w->name[i] && strcmp(w->name[i], name); i = (i + 1) % SLOTS)
		;
	return i;
}

/* Only the types of `btf` itself, not those of the kernel a module's is based on. Of several
 * functions of one name the first. */
static void find_functions(struct wanted *w, const struct btf *btf)
{
	const struct btf *base = btf__base_btf(btf);
	__u32 id = base ? btf__type_cnt(base) : 1;
	__u32 end = btf__type_cnt(btf);
	const struct btf_type *type;
	size_t slot;

	for (; id < end; id++) {
		type = btf__type_by_id(btf, id);
		if (!btf_is_func(type))
			continue;
		slot = slot_of(w, btf__name_by_offset(btf, type->name_off));
		if (w->name[slot] && !w->id[slot])
			w->id[slot] = id;
	}
}

/* fd of a module's BTF in the kernel, or -errno. */
static int module_fd(const char *module)
{
	struct bpf_btf_info info;
	char name[64] = "";
	__u32 id = 0, size;
	int fd;

	while (!bpf_btf_get_next_id(id, &id)) {
		fd = bpf_btf_get_fd_by_id(id);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		info.name = (__u64)(unsigned long)name;
		info.name_len = sizeof(name);
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.kernel_btf &&
		    !strcmp(name, module))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

/* What is looked up: the functions of one module, or those of the kernel (NULL). */
static bool in_scope(const struct hcw_calibration *c, enum hcw_point p, size_t i,
		     const char *module)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];
	const struct hcw_trial *t = &c->trial[hcw_candidate_index(p, i)];

	if (t->rejected || (d->tier != HCW_TIER_FENTRY && d->tier != HCW_TIER_KPROBE))
		return false;
	return module ? t->in_module && !strcmp(d->module, module) : !t->in_module;
}

struct lookup {
	struct hcw_targets *targets;
	struct hcw_calibration *calibration;
	const char *module;
	const struct btf *btf; /* NULL: there is none */
	int fd;		       /* of the module's, in the kernel; 0: not looked for yet */
	size_t functions;
	struct wanted wanted;
};

typedef void (*lookup_fn)(struct lookup *l, enum hcw_point p, size_t i);

static void each_in_scope(struct lookup *l, lookup_fn fn)
{
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (in_scope(l->calibration, p, i, l->module))
				fn(l, p, i);
}

static void want(struct lookup *l, enum hcw_point p, size_t i)
{
	const char *name = hcw_point_info(p)->candidate[i].function;

	l->wanted.name[slot_of(&l->wanted, name)] = name;
	l->functions++;
}

static void set_id(struct lookup *l, enum hcw_point p, size_t i, __u32 id)
{
	struct hcw_target *out = &l->targets->target[hcw_candidate_index(p, i)];
	int fd = 0;

	if (l->module && !l->fd)
		l->fd = module_fd(l->module);
	if (l->module)
		fd = l->fd < 0 ? l->fd : fcntl(l->fd, F_DUPFD_CLOEXEC, 1);
	if (fd < 0)
		hcw_reject(l->calibration, p, i, fd, "no BTF for it: %s",
			   strerror(l->fd < 0 ? -l->fd : errno));
	else
		*out = (struct hcw_target){.btf_id = id, .btf_fd = fd};
}

static void resolve(struct lookup *l, enum hcw_point p, size_t i)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];
	__u32 id = l->wanted.id[slot_of(&l->wanted, d->function)];
	bool fentry = d->tier == HCW_TIER_FENTRY;
	char why[96];

	if (id && hcw_prototype_check(l->btf, id, d->prototype, fentry, why, sizeof(why)))
		hcw_reject(l->calibration, p, i, 0, "%s", why);
	else if (fentry && !id)
		hcw_reject(l->calibration, p, i, 0, "no BTF for it");
	else if (fentry)
		set_id(l, p, i, id);
}

static void resolve_kernel(struct hcw_targets *t, struct hcw_calibration *c, struct btf *kernel)
{
	struct lookup l = {.targets = t, .calibration = c, .btf = kernel};

	each_in_scope(&l, want);
	find_functions(&l.wanted, kernel);
	each_in_scope(&l, resolve);
}

static bool has_btf(const char *module)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	return !access(path, F_OK);
}

static void resolve_module(struct hcw_targets *t, struct hcw_calibration *c, struct btf *kernel,
			   const char *module)
{
	struct lookup l = {.targets = t, .calibration = c, .module = module};
	struct btf *btf;

	each_in_scope(&l, want);
	if (!l.functions || !has_btf(module))
		return;
	btf = btf__load_module_btf(module, kernel);
	if (btf)
		find_functions(&l.wanted, btf);
	l.btf = btf;
	each_in_scope(&l, resolve);
	btf__free(btf);
	if (l.fd > 0)
		close(l.fd);
}

static void resolve_modules(struct hcw_targets *t, struct hcw_calibration *c, struct btf *kernel)
{
	size_t i;

	for (i = 0; hcw_module_name(i); i++)
		resolve_module(t, c, kernel, hcw_module_name(i));
}

static int load_kernel_btf(struct btf **out)
{
	*out = btf__load_vmlinux_btf();
	if (*out)
		return 0;
	return access("/sys/kernel/btf/vmlinux", F_OK) ? -ENODATA : -EBADMSG;
}

static const struct hcw_target *target_of(const struct hcw_targets *t, const char *program)
{
	const struct hcw_point_info *info;
	size_t i;
	int p, h;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		info = hcw_point_info(p);
		for (i = 0; i < info->count; i++)
			for (h = 0; h < HCW_HOOKS && info->candidate[i].hook[h].program; h++)
				if (!strcmp(info->candidate[i].hook[h].program, program))
					return &t->target[hcw_candidate_index(p, i)];
	}
	return NULL;
}

/* Called by libbpf for each program of the sections just before it is loaded. */
static int set_target(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	const struct hcw_target *target =
		target_of((const struct hcw_targets *)cookie, bpf_program__name(prog));

	if (!target || !target->btf_id)
		return -ENOENT;
	opts->attach_btf_id = target->btf_id;
	opts->attach_btf_obj_fd = (__u32)target->btf_fd;
	return 0;
}

static int register_handlers(struct hcw_targets *t)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)t,
		    .prog_prepare_load_fn = set_target);
	int ret;

	/* libbpf 1.1 uses its table of handlers after the last one is gone; this one stays and is
	 * never called. */
	ret = libbpf_register_prog_handler("hcwatch", BPF_PROG_TYPE_UNSPEC, 0, NULL);
	if (ret < 0)
		return ret;
	t->handler[0] = libbpf_register_prog_handler("fentry", BPF_PROG_TYPE_TRACING,
						     BPF_TRACE_FENTRY, &opts);
	t->handler[1] = libbpf_register_prog_handler("fexit", BPF_PROG_TYPE_TRACING,
						     BPF_TRACE_FEXIT, &opts);
	if (t->handler[0] < 0)
		return t->handler[0];
	return t->handler[1] < 0 ? t->handler[1] : 0;
}

int hcw_targets_open(struct hcw_targets *t, struct hcw_calibration *c)
{
	struct btf *kernel;
	int ret;

	memset(t, 0, sizeof(*t));
	ret = load_kernel_btf(&kernel);
	if (ret)
		return ret;
	resolve_kernel(t, c, kernel);
	resolve_modules(t, c, kernel);
	btf__free(kernel);
	return register_handlers(t);
}

static void forget_module(struct hcw_targets *t, const char *module)
{
	const struct hcw_point_info *info;
	struct hcw_target *target;
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		info = hcw_point_info(p);
		for (i = 0; i < info->count; i++) {
			target = &t->target[hcw_candidate_index(p, i)];
			if (!info->candidate[i].module || strcmp(info->candidate[i].module, module))
				continue;
			if (target->btf_fd > 0)
				close(target->btf_fd);
			*target = (struct hcw_target){0};
		}
	}
}

int hcw_targets_module(struct hcw_targets *t, struct hcw_calibration *c, const char *module)
{
	struct btf *kernel;
	int ret;

	forget_module(t, module);
	if (!has_btf(module))
		return 0; /* then its fentry candidates are rejected already */
	ret = load_kernel_btf(&kernel);
	if (ret)
		return ret;
	resolve_module(t, c, kernel, module);
	btf__free(kernel);
	return 0;
}

void hcw_targets_close(struct hcw_targets *t)
{
	size_t i;
	int h;

	for (h = 0; h < HCW_HOOKS; h++)
		if (t->handler[h] > 0)
			libbpf_unregister_prog_handler(t->handler[h]);
	for (i = 0; i < HCW_MAX_CANDIDATES; i++)
		if (t->target[i].btf_fd > 0)
			close(t->target[i].btf_fd);
	memset(t, 0, sizeof(*t));
}
