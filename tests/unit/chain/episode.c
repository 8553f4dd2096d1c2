/* SPDX-License-Identifier: BSD-2-Clause */
#include "episode.h"

void assert_close(double a, double b)
{
	if (a - b > 1e-9 * (1 + b) || b - a > 1e-9 * (1 + b))
		fail_msg("%.12g is not %.12g", a, b);
}

void check_sum(const struct hcw_episode *e, __u64 end)
{
	__u64 ns = e->started_ns + e->prolonged_others + e->prolonged_rest;
	__u64 named = e->prolonged_others;
	double passes = 0;
	__u32 i;

	assert_true(e->n_prolonged <= HCW_MAX_PROLONGERS);
	for (i = 0; i < HCW_MAX_PROLONGERS; i++) {
		ns += e->prolonged_by[i].ns;
		named += e->prolonged_by[i].ns;
		passes += e->prolonged_by[i].passes;
		if (i >= e->n_prolonged)
			assert_int_equal(e->prolonged_by[i].actor.tid, 0);
		else if (i)
			assert_true(e->prolonged_by[i].ns <= e->prolonged_by[i - 1].ns);
	}
	assert_int_equal(ns, end - e->start);
	for (i = 0; i < HCW_CAUSE_COUNT; i++)
		named -= e->prolonged_ns[i];
	assert_int_equal(named, 0);
	assert_true(passes <= e->passes_thrown + 1e-9 * (1 + passes));
}

void check_prolonger(const struct hcw_prolonger *p, __u32 tid, enum hcw_cause cause,
		     __u64 invalidations, double passes, __u64 ns)
{
	assert_int_equal(p->actor.tid, tid);
	assert_string_equal(hcw_cause_name(p->cause), hcw_cause_name(cause));
	assert_int_equal(p->invalidations, invalidations);
	assert_close(p->passes, passes);
	assert_in_range(p->ns + 100, ns, ns + 200);
}

const struct stop cast_start = {
	.start = STOPPED,
	.attempt = AROUND,
	.reason = MR_SYSCALL,
	.trigger = BY_USERPTR,
	.lo = POOL,
	.hi = POOL + POOL_BYTES,
};

void cast_passes(struct stream *s, int from, int to)
{
	static const struct span {
		unsigned int start, end;
		bool resumed;
	} pass[] = {{102, 120, false}, {121, 140, false}, {141, 160, true}};
	int i;

	for (i = from; i < to; i++) {
		if (pass[i].resumed)
			stream_restart(s, MS(pass[i].end), SERVER, MM);
		stream_pass(s, MS(pass[i].start), MS(pass[i].end), MM, WORK, pass[i].resumed);
	}
}

void cast_scan(struct stream *s, unsigned int ms, __u32 tid, __u32 count)
{
	struct hit h = {
		.start = MS(ms),
		.last = MS(ms),
		.tid = tid,
		.count = count,
		.via = HCW_VIA_NUMA_SCAN,
	};

	stream_hit(s, MS(ms), &h);
}

void cast_begin(struct stream *s)
{
	stream_open(s, ALL_SOURCES);
	stream_server(s, HCW_BACKING_REGISTERED);
	stream_task(s, 4000, SCANNER, SERVER, MM, "scanned");
	stream_task(s, 4000, THIRD, THIRD, MM + 0x5000, "third");
	stream_stop(s, &cast_start);
}
