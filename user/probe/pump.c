/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include "internal.h"

/* struct hcw_counter of bpf/maps.bpf.h */
struct counter {
	__u64 emitted, ring_full, map_full;
};

/* struct hcw_unpaired of bpf/maps.bpf.h */
struct unpaired {
	__u64 unended, unbegun;
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
	/* attaching takes more memory than all that follows: back with it before the ring comes */
	malloc_trim(0);
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

static void skipped_all(const struct hcw_session *s, struct hcw_skipped *out)
{
	size_t i;
	int p;

	*out = s->skipped;
	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (hcw_chosen(&s->calibration, p, i))
				hcw_skipped_add(out, hcw_session_stage(s, p, i), p, i);
}

/* Reads one value of a per-CPU array from every CPU; the words of each are added up in `sum`. */
static int sum_cpus(const struct bpf_map *map, __u32 key, __u64 *sum, size_t words)
{
	int cpu, cpus = libbpf_num_possible_cpus();
	__u64 *per_cpu;
	size_t i;
	int ret = 0;

	memset(sum, 0, words * sizeof(*sum));
	if (cpus < 0)
		return cpus;
	per_cpu = calloc((size_t)cpus * words, sizeof(*per_cpu));
	if (!per_cpu)
		return -ENOMEM;
	if (bpf_map__lookup_elem(map, &key, sizeof(key), per_cpu,
				 (size_t)cpus * words * sizeof(*per_cpu), 0))
		ret = -errno;
	for (cpu = 0; cpu < cpus && !ret; cpu++)
		for (i = 0; i < words; i++)
			sum[i] += per_cpu[(size_t)cpu * words + i];
	free(per_cpu);
	return ret;
}

static int total_of(const struct hcw_session *s, __u32 type, const struct hcw_skipped *skipped,
		    struct hcw_totals *t)
{
	struct unpaired u;
	struct counter c;
	int ret = sum_cpus(s->attached.skel->maps.counters, type, &c.emitted,
			   sizeof(c) / sizeof(__u64));

	if (!ret)
		ret = sum_cpus(s->attached.skel->maps.unpaired, type, &u.unended,
			       sizeof(u) / sizeof(__u64));
	if (ret)
		return ret;
	*t = (struct hcw_totals){
		.source = type,
		.emitted = c.emitted,
		.ring_full = c.ring_full,
		.map_full = c.map_full,
		.skipped = hcw_skipped_records(skipped, type, u.unended),
		.unbegun = u.unbegun,
	};
	t->lost = t->ring_full + t->map_full + t->skipped;
	return 0;
}

int hcw_session_totals(struct hcw_session *s, struct hcw_totals *totals)
{
	struct hcw_skipped skipped;
	__u32 type;
	int ret = 0;

	skipped_all(s, &skipped);
	totals[0] = (struct hcw_totals){0};
	for (type = 1; type < HCW_R_BPF_COUNT && !ret; type++)
		ret = total_of(s, type, &skipped, &totals[type]);
	return ret;
}

/* Of a table that forgets, the count is how many entries were made and not taken out: those it
 * cannot hold were forgotten. NULL: it is the number of times the table was full. */
static const struct bpf_map *forgetful(const struct hcw_session *s, enum hcw_limit l)
{
	switch (l) {
	case HCW_LIMIT_TASKS:
		return s->attached.skel->maps.seen_tasks;
	case HCW_LIMIT_KFD:
		return s->attached.skel->maps.kfd_mms;
	case HCW_LIMIT_INNER_PIDS:
		return s->attached.skel->maps.inner_pids;
	default:
		return NULL;
	}
}

int hcw_session_limits(struct hcw_session *s, struct hcw_limits *limits)
{
	const struct bpf_map *map;
	__u64 n, room;
	int l, ret;

	for (l = 0; l < HCW_LIMIT_COUNT; l++) {
		ret = sum_cpus(s->attached.skel->maps.limits, (__u32)l, &n, 1);
		if (ret)
			return ret;
		map = forgetful(s, l);
		room = map ? bpf_map__max_entries(map) : 0;
		n = (__s64)n > (__s64)room ? n - room : 0;
		/* entries that are taken out do not bring back what was forgotten */
		if (n > s->limits.count[l])
			s->limits.count[l] = n;
	}
	*limits = s->limits;
	return 0;
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
