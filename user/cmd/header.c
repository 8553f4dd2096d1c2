/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "../base/escape.h"
#include "../sys/drm.h"
#include "../sys/numa.h"
#include "../sys/proc.h"
#include "header.h"

#define READ_MS 500 /* for each look at the system; a header is never worth a stall */

static json_t *text(const char *s)
{
	char buf[512];

	return json_string(hcw_utf8(buf, sizeof(buf), s, strlen(s)));
}

static json_t *probes(const struct hcw_plan *plan)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < HCW_POINT_COUNT; i++) {
		const struct hcw_plan_entry *e = &plan->entry[i];
		json_t *o = json_object();

		json_object_set_new(o, "point", json_string(hcw_point_name(e->point)));
		json_object_set_new(o, "tier", json_string(hcw_tier_name(e->tier)));
		json_object_set_new(o, "target", text(e->target));
		json_object_set_new(o, "active", json_boolean(e->active));
		json_object_set_new(o, "forced", json_boolean(e->forced));
		json_object_set_new(o, "reason", text(e->reason));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *gpus(int root)
{
	struct hcs_drm_node node[HCS_DRM_MAX];
	int i, n = hcs_drm_nodes(root, node, HCS_DRM_MAX, hcs_deadline_ms(READ_MS));
	json_t *list = json_array();

	for (i = 0; i < n; i++) {
		json_t *o;

		/* a display adapter of somebody else's is no GPU this is about */
		if (!node[i].has_gtt && strcmp(node[i].driver, "amdgpu"))
			continue;
		o = json_object();
		json_object_set_new(o, "render", json_integer(node[i].minor));
		json_object_set_new(o, "driver", text(node[i].driver));
		json_object_set_new(o, "simulated", json_boolean(strcmp(node[i].driver, "amdgpu")));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *target_json(int root, pid_t pid, bool quiet)
{
	char cmdline[256] = "";
	struct hcs_proc p = {0};
	json_t *o;

	if (!pid)
		return json_null();
	/* one that has ended meanwhile is still whom the trace is about */
	if (!hcs_proc_read(root, pid, &p, hcs_deadline_ms(READ_MS)) && quiet)
		hcs_proc_cmdline(root, pid, cmdline, sizeof(cmdline), hcs_deadline_ms(READ_MS));
	o = json_object();
	json_object_set_new(o, "pid", json_integer(pid));
	json_object_set_new(o, "comm", text(p.comm));
	json_object_set_new(o, "cmdline", text(quiet ? cmdline : p.comm));
	return o;
}

static json_t *names(const char *const *name, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, text(name[i]));
	return list;
}

static json_t *process_json(const struct filter_pid *asked, const struct filter_process *is)
{
	json_t *o = json_object();

	json_object_set_new(o, "asked", json_integer(asked->number));
	json_object_set_new(o, "pid", json_integer(is->pid));
	json_object_set_new(o, "inner", is->inner ? json_integer(is->inner) : json_null());
	json_object_set_new(o, "namespace",
			    is->ns ? json_integer((json_int_t)is->ns) : json_null());
	json_object_set_new(o, "comm", text(is->comm));
	return o;
}

static json_t *filter_json(const struct filter *f, const struct filter_process *process)
{
	json_t *o, *list;
	char as_text[256];
	size_t i;

	if (!filter_named(f))
		return json_null();
	o = json_object();
	list = json_array();
	filter_text(f, as_text, sizeof(as_text));
	for (i = 0; i < f->n_pids; i++)
		json_array_append_new(list, process_json(&f->pid[i], &process[i]));
	json_object_set_new(o, "text", text(as_text));
	json_object_set_new(o, "processes", list);
	json_object_set_new(o, "comm", names(f->comm, f->n_comms));
	json_object_set_new(o, "cgroup", names(f->cgroup, f->n_cgroups));
	return o;
}

static json_int_t realtime_offset(void)
{
	struct timespec b, r;

	clock_gettime(CLOCK_BOOTTIME, &b);
	clock_gettime(CLOCK_REALTIME, &r);
	return (json_int_t)(r.tv_sec - b.tv_sec) * 1000000000 + (r.tv_nsec - b.tv_nsec);
}

/* False: nothing is left to cut. */
static bool halve(json_t *list)
{
	size_t n = json_array_size(list), keep = n / 2;

	while (json_array_size(list) > keep)
		json_array_remove(list, json_array_size(list) - 1);
	return n > 0;
}

/* The lists only say again what the command line of hcwatch said: no reason to fail. */
static char *dump(json_t *o)
{
	json_t *filter = json_object_get(o, "filter");
	char *s = json_dumps(o, JSON_COMPACT);
	bool cut = true;

	while (s && strlen(s) >= HEADER_MAX && cut) {
		cut = halve(json_object_get(filter, "processes"));
		cut |= halve(json_object_get(filter, "comm"));
		cut |= halve(json_object_get(filter, "cgroup"));
		if (cut)
			json_object_set_new(filter, "cut", json_true());
		free(s);
		s = json_dumps(o, JSON_COMPACT);
	}
	return s;
}

char *header_make(const struct hcw_plan *plan, pid_t target, bool quiet,
		  const struct filter *filter, const struct filter_process *process)
{
	int root = hcs_root(), node[HCS_NUMA_MAX], nodes;
	json_t *o = json_object();
	struct utsname u;
	char *s;

	uname(&u);
	nodes = hcs_numa_nodes(root, node, HCS_NUMA_MAX, hcs_deadline_ms(READ_MS));
	json_object_set_new(o, "format", json_integer(HCW_FORMAT));
	json_object_set_new(o, "abi", json_integer(HCW_ABI_VERSION));
	json_object_set_new(o, "tool", json_string("hcwatch " HCW_VERSION));
	json_object_set_new(o, "host", text(u.nodename));
	json_object_set_new(o, "kernel", text(u.release));
	json_object_set_new(o, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(o, "numa_nodes", nodes < 0 ? json_null() : json_integer(nodes));
	json_object_set_new(o, "realtime_offset_ns", json_integer(realtime_offset()));
	json_object_set_new(o, "gpus", gpus(root));
	json_object_set_new(o, "target", target_json(root, target, quiet));
	json_object_set_new(o, "filter", filter_json(filter, process));
	json_object_set_new(o, "probes", probes(plan));
	s = dump(o);
	json_decref(o);
	if (root >= 0)
		close(root);
	return s;
}

static void take_text(char *out, size_t size, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	snprintf(out, size, "%s", s ? s : "");
}

static void parse_probes(const json_t *list, struct hcw_trace_info *out)
{
	size_t i;
	json_t *p;

	json_array_foreach (list, i, p) {
		struct hcw_probe_info *info = &out->probe[out->n_probes];

		if (out->n_probes == HCW_MAX_PROBES)
			break;
		take_text(info->point, sizeof(info->point), p, "point");
		take_text(info->tier, sizeof(info->tier), p, "tier");
		take_text(info->target, sizeof(info->target), p, "target");
		take_text(info->reason, sizeof(info->reason), p, "reason");
		info->active = json_is_true(json_object_get(p, "active"));
		out->n_probes++;
	}
}

static void parse_gpus(const json_t *list, struct hcw_trace_info *out)
{
	size_t i;
	json_t *g;

	json_array_foreach (list, i, g) {
		struct hcw_gpu_info *info = &out->gpu[out->n_gpus];

		if (out->n_gpus == HCW_MAX_GPUS)
			break;
		info->render = (unsigned int)json_integer_value(json_object_get(g, "render"));
		take_text(info->driver, sizeof(info->driver), g, "driver");
		out->simulated |= strcmp(info->driver, "amdgpu") != 0;
		out->n_gpus++;
	}
}

int header_parse(const char *json, size_t len, struct hcw_trace_info *out, struct hcw_err *err)
{
	json_t *o = json_loadb(json, strnlen(json, len), 0, NULL), *target;
	json_int_t format, abi;

	if (!json_is_object(o)) {
		json_decref(o);
		return hcw_err_set(err, -EBADMSG, HCW_EXIT_TRACE, "the trace's header is damaged");
	}
	format = json_integer_value(json_object_get(o, "format"));
	if (format != HCW_FORMAT) {
		json_decref(o);
		hcw_err_set(err, -EBADMSG, HCW_EXIT_TRACE,
			    "the trace has format %lld, this hcwatch reads format %d", format,
			    HCW_FORMAT);
		hcw_err_hint(err, "read it with the hcwatch that recorded it, or a newer one");
		return -EBADMSG;
	}
	abi = json_integer_value(json_object_get(o, "abi"));
	if (abi != HCW_ABI_VERSION) {
		json_decref(o);
		hcw_err_set(err, -EBADMSG, HCW_EXIT_TRACE,
			    "the trace's records have version %lld, this hcwatch reads version %d",
			    abi, HCW_ABI_VERSION);
		hcw_err_hint(err, "read it with the hcwatch that recorded it, or a newer one");
		return -EBADMSG;
	}
	*out = (struct hcw_trace_info){.cut = out->cut};
	take_text(out->tool, sizeof(out->tool), o, "tool");
	take_text(out->host, sizeof(out->host), o, "host");
	take_text(out->kernel, sizeof(out->kernel), o, "kernel");
	out->realtime_offset = json_integer_value(json_object_get(o, "realtime_offset_ns"));
	target = json_object_get(o, "target");
	out->target = (__u32)json_integer_value(json_object_get(target, "pid"));
	take_text(out->target_cmdline, sizeof(out->target_cmdline), target, "cmdline");
	take_text(out->filter, sizeof(out->filter), json_object_get(o, "filter"), "text");
	parse_gpus(json_object_get(o, "gpus"), out);
	parse_probes(json_object_get(o, "probes"), out);
	json_decref(o);
	return 0;
}

bool header_active(const struct hcw_trace_info *info, enum hcw_point p)
{
	size_t i;

	for (i = 0; i < info->n_probes; i++)
		if (info->probe[i].active && !strcmp(info->probe[i].point, hcw_point_name(p)))
			return true;
	return false;
}

unsigned int header_sources(const struct hcw_trace_info *info)
{
	static const struct {
		enum hcw_point point;
		unsigned int types;
	} writes[] = {
		{HCW_POINT_MOVE_PAGES, 1u << HCW_R_MOVE_PAGES},
		{HCW_POINT_MIGRATE, 1u << HCW_R_MIGRATE},
		{HCW_POINT_NOTIFIER, 1u << HCW_R_INVAL},
		{HCW_POINT_QUIESCE, 1u << HCW_R_QUIESCE},
		{HCW_POINT_RESUME, 1u << HCW_R_RESUME},
		{HCW_POINT_EVICT, 1u << HCW_R_EVICT},
		{HCW_POINT_RESTORE, 1u << HCW_R_RESTORE},
		{HCW_POINT_RESTORE_PASS, 1u << HCW_R_PASS},
		{HCW_POINT_ITERATION, 1u << HCW_R_ITER_BEGIN | 1u << HCW_R_ITER_END},
		{HCW_POINT_POOL, 1u << HCW_R_POOL_ALLOC | 1u << HCW_R_POOL_FREE},
		{HCW_POINT_TASK_EXIT, 1u << HCW_R_TASK_EXIT},
		{HCW_POINT_REQUEST, 1u << HCW_R_REQUEST},
	};
	unsigned int mask = 0;
	size_t i;

	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
		if (header_active(info, writes[i].point))
			mask |= writes[i].types;
	return mask;
}
