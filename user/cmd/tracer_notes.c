/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../sys/kfd.h"
#include "budget.h"
#include "header.h"
#include "tracer_internal.h"

#define READ_MS	      200
#define CLOCK_TRIES   8
#define CLOCK_NEAR_NS 2000 /* three clocks read one after the other without an interruption */

int note_put(struct tracer *r, enum hcw_record_type type, const void *body, size_t len)
{
	char padded[TRACER_NOTE_MAX];
	struct hcw_rec rec = {.ts = hcs_boot_ns(), .type = type};
	size_t full = (len + 7) & ~(size_t)7;

	if (full > sizeof(padded))
		full = sizeof(padded);
	if (len > full)
		len = full;
	memset(padded, 0, full);
	memcpy(padded, body, len);
	rec.len = (__u16)full;
	return tracer_put(r, &rec, padded);
}

int note_header(struct tracer *r)
{
	pid_t target = target_shown(r);
	bool quiet = !target || quiet_process(r, target);
	char *json = header_make(hcw_session_plan(r->session), target, quiet, &r->opts->filter,
				 r->named);
	int ret;

	r->told_target = quiet;
	if (!json)
		return hcw_err_set(r->err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	if (strlen(json) >= TRACER_NOTE_MAX)
		ret = hcw_err_set(r->err, -E2BIG, HCW_EXIT_UNSUPPORTED,
				  "the trace's header does not fit: %zu bytes", strlen(json));
	else
		ret = note_put(r, HCW_R_HEADER, json, strlen(json));
	free(json);
	return ret;
}

int note_target(struct tracer *r)
{
	return r->told_target || !quiet_process(r, target_shown(r)) ? 0 : note_header(r);
}

static __u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (__u64)t.tv_sec * 1000000000u + (__u64)t.tv_nsec;
}

/*
 * The three clocks at one moment, so that a step can be told from our being interrupted between
 * them: of a few tries the one that took least.
 */
static __u64 read_clocks(struct hcw_clock *best)
{
	__u64 before, took, shortest = UINT64_MAX, at = 0;
	struct hcw_clock c;
	int i;

	for (i = 0; i < CLOCK_TRIES && shortest > CLOCK_NEAR_NS; i++) {
		before = hcs_boot_ns();
		c.monotonic = clock_ns(CLOCK_MONOTONIC);
		c.realtime = clock_ns(CLOCK_REALTIME);
		took = hcs_boot_ns() - before;
		if (took >= shortest)
			continue;
		shortest = took;
		at = before + took / 2;
		*best = c;
	}
	return at;
}

int note_clock(struct tracer *r)
{
	struct hcw_clock c = {0};
	struct hcw_rec rec = {.type = HCW_R_CLOCK, .len = sizeof(c)};

	rec.ts = read_clocks(&c);
	return tracer_put(r, &rec, &c);
}

int note_end(struct tracer *r, enum hcw_end_reason reason)
{
	struct hcw_end e = {.records = r->records, .reason = reason};

	return note_put(r, HCW_R_END, &e, sizeof(e));
}

/* Records of one source lost for one reason between the last look and `now`; none is no hole. */
static int note_hole(struct tracer *r, __u32 source, __u32 cause, __u64 count, __u64 now)
{
	struct hcw_hole h = {
		.from = r->last_look,
		.to = now,
		.count = count,
		.source = source,
		.cause = cause,
	};

	return count ? note_put(r, HCW_R_HOLE, &h, sizeof(h)) : 0;
}

static int note_holes(struct tracer *r, const struct hcw_totals *now, __u64 at)
{
	const struct hcw_totals *last = &r->last[now->source];
	int ret;

	ret = note_hole(r, now->source, HCW_HOLE_RING_FULL, now->ring_full - last->ring_full, at);
	if (!ret)
		ret = note_hole(r, now->source, HCW_HOLE_MAP_FULL, now->map_full - last->map_full,
				at);
	if (!ret)
		ret = note_hole(r, now->source, HCW_HOLE_SKIPPED, now->skipped - last->skipped, at);
	return ret;
}

static int read_counters(struct tracer *r, struct hcw_totals *totals, struct hcw_limits *limits)
{
	int ret = hcw_session_totals(r->session, totals);

	if (!ret)
		ret = hcw_session_limits(r->session, limits);
	return ret ? hcw_err_set(r->err, ret, HCW_EXIT_INCOMPLETE,
				 "cannot read the probes' counters: %s", strerror(-ret))
		   : 0;
}

int note_totals(struct tracer *r, bool write_totals, unsigned long long *lost)
{
	struct hcw_totals now[HCW_R_BPF_COUNT] = {0};
	struct hcw_limits limits = {0};
	__u64 before = hcs_boot_ns(), after;
	size_t i;
	int ret;

	ret = read_counters(r, now, &limits);
	after = hcs_boot_ns();
	*lost = limits.count[HCW_LIMIT_WATCHED];
	for (i = 1; i < HCW_R_BPF_COUNT && !ret; i++) {
		*lost += now[i].lost;
		ret = note_holes(r, &now[i], after);
		if (!ret && write_totals)
			ret = note_put(r, HCW_R_TOTALS, &now[i], sizeof(now[i]));
	}
	if (!ret && write_totals)
		ret = note_put(r, HCW_R_LIMITS, &limits, sizeof(limits));
	if (ret < 0)
		return ret;
	memcpy(r->last, now, sizeof(r->last));
	/* what is lost next was lost after this reading began, at the earliest */
	r->last_look = before;
	return 0;
}

void symbols_fit(struct tracer *r)
{
	size_t share = budget_of(r->opts->mem_bytes).symbols;
	size_t bytes = r->symbols ? hcs_kallsyms_bytes(r->symbols) : 0;

	if (bytes <= share)
		return;
	fprintf(stderr,
		"hcwatch: stacks are told without names: those of the kernel take %zu KiB,\n"
		"  their share of --mem is %zu KiB\n",
		bytes >> 10, share >> 10);
	hcs_kallsyms_free(r->symbols);
	r->symbols = NULL;
}

int note_unread(struct tracer *r, __u64 from, __u64 to)
{
	struct hcw_hole h = {.from = from, .to = to, .cause = HCW_HOLE_RING_FULL};

	return note_put(r, HCW_R_HOLE, &h, sizeof(h));
}

int note_samples(struct tracer *r)
{
	struct hcs_evicted gpu[HCS_KFD_MAX_GPUS];
	size_t i;
	int j, n, ret;

	for (i = 0; i < r->watched.n; i++) {
		n = hcs_kfd_evicted(r->root, (pid_t)r->watched.process[i].tgid, gpu,
				    HCS_KFD_MAX_GPUS, hcs_deadline_ms(READ_MS));
		for (j = 0; j < n; j++) {
			struct hcw_sample s = {
				.evicted_ms = gpu[j].evicted_ms,
				.pid = r->watched.process[i].tgid,
				.gpuid = gpu[j].gpuid,
			};

			ret = note_put(r, HCW_R_SAMPLE, &s, sizeof(s));
			if (ret)
				return ret;
		}
	}
	return 0;
}
