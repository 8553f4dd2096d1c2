/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include "internal.h"

/* struct hcw_counter of bpf/maps.bpf.h */
struct counter {
	__u64 emitted, lost;
};

static int on_record(void *ctx, void *data, size_t size)
{
	const struct hcw_rec *rec = data;
	struct hcw_session *s = ctx;
	int ret;

	if (size < sizeof(*rec) || size < sizeof(*rec) + rec->len)
		return -EBADMSG;
	ret = s->fn(rec, s->ctx);
	return ret < 0 ? ret : 0;
}

int hcw_pump_open(struct hcw_session *s)
{
	s->ring = ring_buffer__new(bpf_map__fd(s->attached.skel->maps.ring), on_record, s, NULL);
	return s->ring ? 0 : -errno;
}

void hcw_pump_close(struct hcw_session *s)
{
	ring_buffer__free(s->ring);
	s->ring = NULL;
}

int hcw_session_pump(struct hcw_session *s, int timeout_ms, hcw_record_fn fn, void *ctx)
{
	int ret;

	s->fn = fn;
	s->ctx = ctx;
	ret = ring_buffer__poll(s->ring, timeout_ms);
	/* A record written while the last one was being read wakes nobody: look once more. */
	if (!ret)
		ret = ring_buffer__consume(s->ring);
	return ret;
}

/* The kernel skips a program that would interrupt itself; what it would have told is lost. */
static __u64 skipped_runs(const struct hcw_session *s, const struct hcw_hook *hook)
{
	struct bpf_program *prog = hcw_hook_program(&s->attached, hook);
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(prog);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	return info.recursion_misses;
}

static void add_skipped(const struct hcw_session *s, struct hcw_totals *totals)
{
	const struct hcw_point_info *info;
	size_t i;
	int p, h;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		info = hcw_point_info(p);
		for (i = 0; i < info->count; i++)
			for (h = 0; h < HCW_HOOKS && hcw_chosen(&s->calibration, p, i); h++)
				if (info->candidate[i].hook[h].program)
					totals[info->record].lost +=
						skipped_runs(s, &info->candidate[i].hook[h]);
	}
}

static int sum_counter(const struct hcw_session *s, __u32 type, int cpus, struct counter *per_cpu,
		       struct hcw_totals *total)
{
	int cpu;

	if (bpf_map__lookup_elem(s->attached.skel->maps.counters, &type, sizeof(type), per_cpu,
				 (size_t)cpus * sizeof(*per_cpu), 0))
		return -errno;
	total->source = type;
	for (cpu = 0; cpu < cpus; cpu++) {
		total->emitted += per_cpu[cpu].emitted;
		total->lost += per_cpu[cpu].lost;
	}
	return 0;
}

int hcw_session_totals(struct hcw_session *s, struct hcw_totals *totals)
{
	int cpus = libbpf_num_possible_cpus();
	struct counter *per_cpu;
	__u32 type;
	int ret = 0;

	if (cpus < 0)
		return cpus;
	per_cpu = calloc((size_t)cpus, sizeof(*per_cpu));
	if (!per_cpu)
		return -ENOMEM;
	memset(totals, 0, HCW_R_BPF_COUNT * sizeof(*totals));
	for (type = 0; type < HCW_R_BPF_COUNT && !ret; type++)
		ret = sum_counter(s, type, cpus, per_cpu, &totals[type]);
	if (!ret)
		add_skipped(s, totals);
	free(per_cpu);
	return ret;
}

int hcw_session_stack(struct hcw_session *s, __s32 id, __u64 *ip, size_t max)
{
	__u64 frame[HCW_STACK_DEPTH] = {0};
	size_t n = 0;

	if (id < 0 || bpf_map__lookup_elem(s->attached.skel->maps.stacks, &id, sizeof(id), frame,
					   sizeof(frame), 0))
		return -ENOENT;
	while (n < HCW_STACK_DEPTH && n < max && frame[n]) {
		ip[n] = frame[n];
		n++;
	}
	return (int)n;
}
