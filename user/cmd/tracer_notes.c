/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../sys/kfd.h"
#include "header.h"
#include "tracer_internal.h"

#define READ_MS 200

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
	pid_t target = r->opts->pid ? r->last_pid : r->child.pid;
	char *json = header_make(hcw_session_plan(r->session), target > 0 ? target : 0);
	int ret;

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

static __u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (__u64)t.tv_sec * 1000000000u + (__u64)t.tv_nsec;
}

int note_clock(struct tracer *r)
{
	struct hcw_clock c = {
		.monotonic = clock_ns(CLOCK_MONOTONIC),
		.realtime = clock_ns(CLOCK_REALTIME),
	};

	return note_put(r, HCW_R_CLOCK, &c, sizeof(c));
}

int note_end(struct tracer *r, enum hcw_end_reason reason)
{
	struct hcw_end e = {.records = r->records, .reason = reason};

	return note_put(r, HCW_R_END, &e, sizeof(e));
}

static int note_hole(struct tracer *r, __u32 source, __u64 count, __u64 now)
{
	struct hcw_hole h = {
		.from = r->last_look,
		.to = now,
		.count = count,
		.source = source,
		.cause = HCW_HOLE_RING_FULL,
	};

	return note_put(r, HCW_R_HOLE, &h, sizeof(h));
}

int note_totals(struct tracer *r, bool write_totals, unsigned long long *lost)
{
	struct hcw_totals now[HCW_R_BPF_COUNT] = {0};
	__u64 before = hcs_boot_ns(), after;
	size_t i;
	int ret;

	ret = hcw_session_totals(r->session, now);
	after = hcs_boot_ns();
	if (ret < 0)
		return hcw_err_set(r->err, ret, HCW_EXIT_INCOMPLETE,
				   "cannot read the probes' counters: %s", strerror(-ret));
	*lost = 0;
	for (i = 1; i < HCW_R_BPF_COUNT; i++) {
		*lost += now[i].lost;
		if (now[i].lost > r->last[i].lost) {
			ret = note_hole(r, (__u32)i, now[i].lost - r->last[i].lost, after);
			if (ret)
				return ret;
		}
		now[i].source = (__u32)i;
		if (write_totals)
			ret = note_put(r, HCW_R_TOTALS, &now[i], sizeof(now[i]));
		if (ret < 0)
			return ret;
	}
	memcpy(r->last, now, sizeof(r->last));
	/* what is lost next was lost after this reading began, at the earliest */
	r->last_look = before;
	return 0;
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
