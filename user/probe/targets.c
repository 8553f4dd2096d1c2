/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "targets.h"

/* BTF of the kernel and of the module looked at last. */
struct types {
	struct btf *kernel;
	struct btf *module;
	const char *module_name;
};

/* 0 when there is none. Only the types of `btf` itself, not those of the kernel a module's is based
 * on. */
static __u32 find_function(const struct btf *btf, const char *name)
{
	const struct btf *base = btf__base_btf(btf);
	__u32 id = base ? btf__type_cnt(base) : 1;
	__u32 end = btf__type_cnt(btf);
	const struct btf_type *type;

	for (; id < end; id++) {
		type = btf__type_by_id(btf, id);
		if (btf_is_func(type) && !strcmp(btf__name_by_offset(btf, type->name_off), name))
			return id;
	}
	return 0;
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

static const struct btf *module_types(struct types *t, const char *module)
{
	if (t->module && !strcmp(t->module_name, module))
		return t->module;
	btf__free(t->module);
	t->module = btf__load_module_btf(module, t->kernel);
	t->module_name = module;
	return t->module;
}

static int resolve(struct hcw_target *out, struct types *t, const struct hcw_candidate *d)
{
	const struct btf *module;

	out->btf_id = find_function(t->kernel, d->function);
	if (out->btf_id)
		return 0;
	module = d->module ? module_types(t, d->module) : NULL;
	out->btf_id = module ? find_function(module, d->function) : 0;
	if (!out->btf_id)
		return -ENOENT;
	out->btf_fd = module_fd(d->module);
	return out->btf_fd < 0 ? out->btf_fd : 0;
}

static bool wanted(const struct hcw_calibration *c, enum hcw_point p, size_t i)
{
	return hcw_point_info(p)->candidate[i].tier == HCW_TIER_FENTRY &&
	       !c->trial[hcw_candidate_index(p, i)].rejected;
}

static void resolve_all(struct hcw_targets *t, struct hcw_calibration *c)
{
	struct types types = {.kernel = btf__load_vmlinux_btf()};
	int p, ret;
	size_t i;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++) {
			if (!wanted(c, p, i))
				continue;
			ret = types.kernel ? resolve(&t->target[hcw_candidate_index(p, i)], &types,
						     &hcw_point_info(p)->candidate[i])
					   : -ENOENT;
			if (ret)
				hcw_reject(c, p, i, ret == -ENOENT ? 0 : ret, "no BTF for it%s%s",
					   ret == -ENOENT ? "" : ": ",
					   ret == -ENOENT ? "" : strerror(-ret));
		}
	btf__free(types.module);
	btf__free(types.kernel);
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
	memset(t, 0, sizeof(*t));
	resolve_all(t, c);
	return register_handlers(t);
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
