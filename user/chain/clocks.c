/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other clocks, from the pairs in the trace. Slewing changes all clocks alike; what changes the
 * distance between two of them is a step of CLOCK_REALTIME or a suspend, in which CLOCK_MONOTONIC
 * stands still.
 */
#include <stdint.h>
#include "internal.h"

/* Further apart than two clocks that are read one after the other on a busy machine. */
#define CHANGE_NS 20000000

static bool differs(__s64 a, __s64 b)
{
	return a > b ? (__u64)a - (__u64)b > CHANGE_NS : (__u64)b - (__u64)a > CHANGE_NS;
}

void chain_clock(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_model *m = &c->model;
	struct hcw_clock_span *last = m->n_clocks ? &m->clocks[m->n_clocks - 1] : NULL;
	struct hcw_clock_span now = {.from = rec->ts, .to = rec->ts};
	struct hcw_clock clock;

	if (rec->len < sizeof(clock))
		return;
	chain_body(rec, &clock, sizeof(clock));
	now.realtime = (__s64)(clock.realtime - rec->ts);
	now.monotonic = (__s64)(clock.monotonic - rec->ts);
	if (last && !differs(last->realtime, now.realtime) &&
	    !differs(last->monotonic, now.monotonic)) {
		if (rec->ts > last->to)
			last->to = rec->ts;
		return;
	}
	if (last && rec->ts < last->to)
		return; /* out of order: it says nothing about what came later */
	if (m->n_clocks == HCW_MAX_CLOCKS) {
		m->clock_changes_more++;
		*last = now; /* the newest is right, the one it replaces is not known */
		return;
	}
	m->clocks[m->n_clocks++] = now;
}

/* Between two spans, when the change came is not known: times there belong to either, but those of
 * a sleep to none. */
static bool span_holds(const struct hcw_model *m, size_t i, __u64 boot)
{
	__u64 from = i ? m->clocks[i - 1].to + hcw_clock_suspended(m, i) : 0;
	__u64 to = INT64_MAX;

	if (i + 1 < m->n_clocks)
		to = m->clocks[i + 1].from - hcw_clock_suspended(m, i + 1);
	return boot >= from && boot <= to;
}

static __s64 offset_of(const struct hcw_clock_span *s, enum hcw_clock_id id)
{
	return id == HCW_CLOCK_REALTIME ? s->realtime : s->monotonic;
}

size_t hcw_clock_to_boot(const struct hcw_model *m, enum hcw_clock_id id, __u64 t, __u64 *boot)
{
	size_t i, n = 0;

	for (i = 0; i < m->n_clocks; i++) {
		__u64 at = t - (__u64)offset_of(&m->clocks[i], id);

		if (!span_holds(m, i, at))
			continue;
		if (!n++)
			*boot = at;
	}
	return n;
}

__s64 hcw_clock_stepped(const struct hcw_model *m, size_t i)
{
	__s64 by = m->clocks[i].realtime - m->clocks[i - 1].realtime;

	return differs(by, 0) ? by : 0;
}

__u64 hcw_clock_suspended(const struct hcw_model *m, size_t i)
{
	__s64 by = m->clocks[i - 1].monotonic - m->clocks[i].monotonic;

	return by > CHANGE_NS ? (__u64)by : 0;
}
