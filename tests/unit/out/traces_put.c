/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "traces_put.h"

#define REALTIME_OFFSET 1788515840000000000ll
#define KWORKER		7u
#define FRAME_RECORDS	128

#define MAX_RECORDS	4096

struct made {
	struct hcw_rec rec;
	size_t order; /* as put: equal times stay in this order */
	void *body;
};

struct trace {
	struct made made[MAX_RECORDS];
	size_t n;
};

struct trace *trace_new(void)
{
	struct trace *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	return w;
}

static int by_time(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->rec.ts != y->rec.ts)
		return x->rec.ts < y->rec.ts ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

int trace_close(struct trace *w, const char *path)
{
	struct hcw_writer *out;
	int ret = hcw_writer_open(&out, path, NULL);
	size_t i;

	qsort(w->made, w->n, sizeof(w->made[0]), by_time);
	for (i = 0; i < w->n; i++) {
		if (!ret)
			ret = hcw_writer_put(out, &w->made[i].rec, w->made[i].body, NULL);
		/* several frames, so that a cut leaves some of them */
		if (!ret && i % FRAME_RECORDS == FRAME_RECORDS - 1)
			ret = hcw_writer_flush(out, NULL);
		free(w->made[i].body);
	}
	free(w);
	return ret ? ret : hcw_writer_close(out, NULL);
}

void put(struct trace *w, enum hcw_record_type type, __u64 ts, __u32 tid, const void *body,
	 size_t size)
{
	struct made *m = &w->made[w->n];
	size_t len = (size + 7) & ~(size_t)7;

	if (w->n >= MAX_RECORDS)
		abort();
	m->rec = (struct hcw_rec){.ts = ts, .tid = tid, .type = (__u16)type, .len = (__u16)len};
	m->order = w->n++;
	m->body = calloc(1, len + 1);
	if (!m->body)
		abort();
	memcpy(m->body, body, size);
}

#define PUT(w, type, ts, tid, ...)                             \
	do {                                                   \
		const typeof(__VA_ARGS__) body_ = __VA_ARGS__; \
		put(w, type, ts, tid, &body_, sizeof(body_));  \
	} while (0)

static size_t add_probes(char *json, size_t size, const char *missing, const char *why)
{
	static const char *const points[] = {
		"move_pages", "migrate",   "notifier", "hsa_callback", "kfd_open",	"quiesce",
		"resume",     "evict",	   "restore",  "restore_pass", "restore_fault", "iteration",
		"pool",	      "numa_scan", "request",  "task_fork",    "task_exit",
	};
	size_t n = 0, i;
	char word[40];

	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		bool off;

		snprintf(word, sizeof(word), " %s ", points[i]);
		off = strstr(missing, word) != NULL;
		n += (size_t)snprintf(json + n, size - n,
				      "%s{\"point\":\"%s\",\"tier\":\"%s\",\"target\":\"%s\","
				      "\"active\":%s,\"reason\":\"%s\"}",
				      i ? "," : "", points[i], off ? "off" : "fentry", points[i],
				      off ? "false" : "true", off ? why : "");
	}
	return n;
}

void put_header(struct trace *w, const char *driver, unsigned int gpus, __u32 target,
		const char *missing, const char *why)
{
	char json[4096];
	size_t n;
	unsigned int i;

	n = (size_t)snprintf(
		json, sizeof(json),
		"{\"format\":1,\"abi\":1,\"tool\":\"hcwatch 0.1.0\",\"host\":\"node17\","
		"\"kernel\":\"6.1.0-57-amd64\",\"cpus\":2,\"numa_nodes\":2,"
		"\"realtime_offset_ns\":%lld,\"gpus\":[",
		REALTIME_OFFSET);
	for (i = 0; i < gpus; i++)
		n += (size_t)snprintf(json + n, sizeof(json) - n,
				      "%s{\"render\":%u,\"driver\":\"%s\",\"simulated\":%s}",
				      i ? "," : "", 128 + i, driver,
				      strcmp(driver, "amdgpu") ? "true" : "false");
	n += (size_t)snprintf(json + n, sizeof(json) - n, "],\"target\":");
	n += (size_t)(target ? snprintf(json + n, sizeof(json) - n,
					"{\"pid\":%u,\"comm\":\"\",\"cmdline\":\"server\"}", target)
			     : snprintf(json + n, sizeof(json) - n, "null"));
	n += (size_t)snprintf(json + n, sizeof(json) - n, ",\"probes\":[");
	n += add_probes(json + n, sizeof(json) - n, missing, why);
	n += (size_t)snprintf(json + n, sizeof(json) - n, "]}");
	put(w, HCW_R_HEADER, T0, 0, json, n);
	PUT(w, HCW_R_CLOCK, T0, 0,
	    (struct hcw_clock){.monotonic = T0, .realtime = T0 + REALTIME_OFFSET});
}

void put_end(struct trace *w, double ts)
{
	PUT(w, HCW_R_END, AT(ts), 0, (struct hcw_end){.records = w->n, .reason = HCW_END_COMMAND});
}

void put_thread(struct trace *w, double ts, const struct mover *m)
{
	struct hcw_task t = {
		.start_time = 1000000 + m->tid, .mm = m->mm, .tid = m->tid, .tgid = m->tgid};

	snprintf(t.comm, sizeof(t.comm), "%s", m->comm);
	put(w, HCW_R_TASK, AT(ts), m->tid, &t, sizeof(t));
}

void put_process(struct trace *w, double ts, const struct process *p)
{
	put_thread(w, ts,
		   &(struct mover){.tid = p->pid, .tgid = p->pid, .mm = p->mm, .comm = p->comm});
}

void put_pool(struct trace *w, double ts, const struct process *p, __u64 ptr, __u64 bytes,
	      enum hcw_backing backing)
{
	bool gtt = backing == HCW_BACKING_GTT;
	struct {
		struct hcw_mapping m;
		char path[32];
	} b = {.m = {.lo = ptr,
		     .hi = ptr + bytes,
		     .pool = ptr,
		     .tgid = p->pid,
		     .vmflags = HCW_VM_SHARED | (gtt ? HCW_VM_IO | HCW_VM_PFNMAP : 0)}};

	strcpy(b.path, gtt ? "/dev/dri/renderD128" : "/dev/zero (deleted)");
	PUT(w, HCW_R_POOL_ALLOC, AT(ts), p->pid,
	    (struct hcw_pool){.ptr = ptr, .bytes = bytes, .backing = backing, .tgid = p->pid});
	put(w, HCW_R_MAPPING, AT(ts) + 1000, 0, &b, sizeof(b));
}

void put_stack(struct trace *w, double ts, __s32 id, const char *const names[])
{
	struct {
		struct hcw_stack s;
		char names[1024];
	} b = {.s = {.id = id}};
	size_t n = 0;

	for (; names[b.s.depth]; b.s.depth++)
		n += (size_t)snprintf(b.names + n, sizeof(b.names) - n, "%s", names[b.s.depth]) + 1;
	put(w, HCW_R_STACK, AT(ts), 0, &b, sizeof(b.s) + n);
}

void put_stop(struct trace *w, const struct stop *s)
{
	__u64 start = AT(s->start), end = AT(s->start + s->took);

	PUT(w, HCW_R_EVICT, end - 1000, s->by->tid,
	    (struct hcw_evict){.start = start + 1000,
			       .mm = s->victim->mm,
			       .victim = s->victim->pid,
			       .trigger = s->trigger,
			       .stack = -1});
	if (s->trigger > 1)
		return; /* the driver's own evictions pass no notifier */
	PUT(w, HCW_R_QUIESCE, end, s->by->tid,
	    (struct hcw_quiesce){.start = start,
				 .mm = s->victim->mm,
				 .attempt = s->attempt < 0 ? 0 : AT(s->attempt),
				 .lo = s->lo,
				 .hi = s->hi,
				 .trigger = s->trigger,
				 .stack = s->stack,
				 .victim = s->victim->pid,
				 .reason = s->attempt < 0 ? HCW_REASON_NONE : s->reason,
				 .via = s->via});
}

void put_restart(struct trace *w, double start, double took, const struct process *p)
{
	PUT(w, HCW_R_RESTORE, AT(start + took) - 1000, KWORKER,
	    (struct hcw_evict){
		    .start = AT(start) + 1000, .mm = p->mm, .victim = p->pid, .stack = -1});
	PUT(w, HCW_R_RESUME, AT(start + took), KWORKER,
	    (struct hcw_resume){.start = AT(start), .mm = p->mm});
}

void put_pass(struct trace *w, double start, double end, const struct process *p, bool thrown)
{
	PUT(w, HCW_R_PASS, AT(end), KWORKER,
	    (struct hcw_pass){.start = AT(start),
			      .mm = p->mm,
			      .work = p->mm + 0x100,
			      .faults = 1,
			      .resumed = !thrown});
}

void put_inval(struct trace *w, double start, double end, const struct stop *s, __u32 count)
{
	PUT(w, HCW_R_INVAL, AT(end) + 1000, s->by->tid,
	    (struct hcw_inval){.start = AT(start),
			       .mm = s->victim->mm,
			       .lo = s->lo,
			       .hi = s->lo + (2u << 20),
			       .attempt = s->attempt < 0 ? 0 : AT(s->attempt),
			       .count = count,
			       .event = s->via == HCW_VIA_NUMA_SCAN ? 2 : 1,
			       .victim = s->victim->pid,
			       .span = (__u32)(AT(end) - AT(start)),
			       .reason = s->attempt < 0 ? HCW_REASON_NONE : s->reason,
			       .via = s->via});
}

void put_migrate(struct trace *w, double attempt, double start, double end, const struct mover *m,
		 __u32 reason, __u64 pages)
{
	PUT(w, HCW_R_MIGRATE, AT(end), m->tid,
	    (struct hcw_migrate){.start = AT(start),
				 .attempt = AT(attempt),
				 .ok = pages,
				 .mode = 2,
				 .reason = reason});
}

void put_move_pages(struct trace *w, double start, double end, const struct mover *m, __u64 ptr,
		    __u32 pages, bool refused)
{
	PUT(w, HCW_R_MOVE_PAGES, AT(end), m->tid,
	    (struct hcw_move_pages){.start = AT(start),
				    .lo = ptr,
				    .hi = ptr + 4096ull * (pages - 1),
				    .requested = pages,
				    .read = pages,
				    .moved = refused ? 0 : pages,
				    .efault = refused ? pages : 0});
}

void put_iterations(struct trace *w, double start, double each, unsigned int n,
		    const struct process *p)
{
	struct hcw_iter it = {.tgid = p->pid};
	unsigned int i;

	for (i = 0; i < n; i++) {
		it.id = (__u64)(start * 1000) + i;
		put(w, HCW_R_ITER_BEGIN, AT(start + i * each), p->pid, &it, sizeof(it));
		put(w, HCW_R_ITER_END, AT(start + (i + 1) * each) - 1000, p->pid, &it, sizeof(it));
	}
}

void put_hole(struct trace *w, double from, double to, __u64 count, __u32 source,
	      enum hcw_hole_cause cause)
{
	PUT(w, HCW_R_HOLE, AT(to), 0,
	    (struct hcw_hole){.from = AT(from),
			      .to = AT(to),
			      .count = count,
			      .source = source,
			      .cause = cause});
}

void put_totals(struct trace *w, double ts, __u32 source, __u64 emitted, __u64 lost)
{
	PUT(w, HCW_R_TOTALS, AT(ts), 0,
	    (struct hcw_totals){
		    .source = source, .emitted = emitted, .lost = lost, .ring_full = lost});
}

void put_skipped(struct trace *w, double ts, __u32 source, __u64 emitted, __u64 skipped)
{
	PUT(w, HCW_R_TOTALS, AT(ts), 0,
	    (struct hcw_totals){.source = source,
				.emitted = emitted,
				.lost = skipped,
				.skipped = skipped,
				.unbegun = 1});
}

void put_limits(struct trace *w, double ts, const struct hcw_limits *l)
{
	PUT(w, HCW_R_LIMITS, AT(ts), 0, *l);
}
