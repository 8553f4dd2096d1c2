/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the recording saw everything, and what it did not see. */
#include <inttypes.h>
#include <string.h>
#include "../base/escape.h"
#include "report_internal.h"

#define MAX_HOLES_SHOWN 4

/* Points that miss for the same reason are one line. */
static void missing_probes(const struct report *r)
{
	struct report_missing missing[REPORT_MISSING];
	size_t i, j, n = report_missing(r->info, missing);
	bool told[REPORT_MISSING] = {false};
	char safe[256];

	for (i = 0; i < n; i++) {
		struct line l = {.n = 0};

		if (told[i])
			continue;
		for (j = i; j < n; j++) {
			if (strcmp(missing[i].reason, missing[j].reason))
				continue;
			told[j] = true;
			line_add(&l, "%s%s", j > i ? ", " : "",
				 hcw_escape(safe, NAME_MAX_SHOWN, missing[j].point,
					    strlen(missing[j].point)));
		}
		if (missing[i].reason[0])
			line_add(&l, ": %s",
				 hcw_escape(safe, sizeof(safe), missing[i].reason,
					    strlen(missing[i].reason)));
		report_labelled(r, "not traced", l.text);
	}
}

static void add_span(struct line *l, const struct report *r, const struct hcw_hole_info *h)
{
	char from[FMT_LEN], to[FMT_LEN], span[FMT_LEN];

	fmt_clock(from, h->from, r->info->realtime_offset);
	fmt_clock(to, h->to, r->info->realtime_offset);
	if (h->to > h->from)
		line_add(l, "%s-%s (%s)", from, to, fmt_duration(span, h->to - h->from));
	else
		line_add(l, "%s", from);
}

static void add_count(struct line *l, __u64 count)
{
	if (count)
		line_add(l, "%" PRIu64 " ", (uint64_t)count);
}

static const char *why_lost(__u32 cause)
{
	switch (cause) {
	case HCW_HOLE_RING_FULL:
		return "the buffer was full";
	case HCW_HOLE_MAP_FULL:
		return "a map was full";
	case HCW_HOLE_SKIPPED:
		return "a probe was not run";
	default:
		return "why is not known";
	}
}

static void one_hole(const struct report *r, const struct hcw_hole_info *h)
{
	struct line l = {.n = 0};

	switch (h->cause) {
	case HCW_HOLE_DRIVER_ABSENT:
		line_add(&l, "the driver was not loaded, evictions were not seen: ");
		break;
	case HCW_HOLE_DAMAGED_FRAME:
		line_add(&l, "the file is damaged, ");
		add_count(&l, h->count);
		line_add(&l, h->count == 1 ? "record is gone: " : "records are gone: ");
		break;
	default:
		add_count(&l, h->count);
		line_add(&l, "%s %s lost (%s): ", report_source_name(h->source),
			 h->count == 1 ? "record was" : "records were", why_lost(h->cause));
	}
	add_span(&l, r, h);
	report_labelled(r, "", l.text);
}

/* A driver that is away makes a hole of each source it has: one line is enough. */
static bool hole_told(const struct hcw_model *m, size_t i)
{
	size_t j;

	for (j = 0; j < i && m->holes[i].cause == HCW_HOLE_DRIVER_ABSENT; j++)
		if (m->holes[j].cause == HCW_HOLE_DRIVER_ABSENT &&
		    m->holes[j].from == m->holes[i].from && m->holes[j].to == m->holes[i].to)
			return true;
	return false;
}

static void holes(const struct report *r)
{
	const struct hcw_model *m = r->m;
	size_t i, shown = 0, more = 0;
	__u64 placed = 0;
	struct line l = {.n = 0};

	for (i = 0; i < m->n_holes; i++) {
		if (m->holes[i].cause != HCW_HOLE_DAMAGED_FRAME)
			placed += m->holes[i].count;
		if (report_hole_is_cut(r->info, m, i) || hole_told(m, i))
			continue;
		if (shown < MAX_HOLES_SHOWN) {
			one_hole(r, &m->holes[i]);
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		line_add(&l, "and %zu more such gap%s; ", more, PLURAL(more));
	if (m->lost > placed)
		line_add(&l, "%" PRIu64 " %s lost at times that are not known; ",
			 (uint64_t)(m->lost - placed),
			 m->lost - placed == 1 ? "record was" : "records were");
	if (m->dropped)
		line_add(&l, "%" PRIu64 " attempt, stall or pool records were too many to keep; ",
			 (uint64_t)m->dropped);
	if (m->limits.count[HCW_LIMIT_WATCHED])
		line_add(&l, "%" PRIu64 " process%s not be watched, there were too many; ",
			 (uint64_t)m->limits.count[HCW_LIMIT_WATCHED],
			 m->limits.count[HCW_LIMIT_WATCHED] == 1 ? " could" : "es could");
	if (l.n < 2)
		return;
	l.text[l.n - 2] = '\0';
	report_labelled(r, "", l.text);
}

static void end_of_file(const struct report *r)
{
	const struct hcw_model *m = r->m;
	struct line l = {.n = 0};

	if (!m->ended || r->info->cut) {
		line_add(&l, "the file ends early");
		if (r->info->file_bytes)
			line_add(&l, " at byte %" PRIu64, (uint64_t)r->info->file_bytes);
		line_add(&l, ", not closed properly: the recording has no end");
	} else if (m->end_reason == HCW_END_ERROR) {
		line_add(&l, "the recording was ended by an error");
	} else {
		return;
	}
	report_labelled(r, "", l.text);
}

static void add_item(struct line *l, __u64 n, const char *one, const char *many)
{
	if (n)
		line_add(l, "%s%" PRIu64 " %s", l->n ? "; " : "", (uint64_t)n, n == 1 ? one : many);
}

static __u64 unbegun(const struct hcw_model *m)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < HCW_R_BPF_COUNT; i++)
		sum += m->totals[i].unbegun;
	return sum;
}

/* Records that are part of no episode, and why nobody is charged with them. */
static void not_matched(const struct report *r)
{
	struct line l = {.n = 0};

	add_item(&l, r->m->unpaired_restores, "restart of queues whose stop was not seen",
		 "restarts of queues whose stop was not seen");
	add_item(&l, r->m->unattributed_passes, "restore pass in no stall that was seen",
		 "restore passes in no stall that was seen");
	add_item(&l, unbegun(r->m), "migration whose start was not seen",
		 "migrations whose start was not seen");
	add_item(&l, r->m->noise, "stop that KFD refused (of a process at its end: harmless)",
		 "stops that KFD refused (of processes at their end: harmless)");
	add_item(&l, r->m->late, "record that came too late to be put in order",
		 "records that came too late to be put in order");
	if (l.n)
		report_labelled(r, "not matched", l.text);
}

/* Marks and charges that stand in no figure. */
static void not_counted(const struct report *r)
{
	const struct hcw_limits *full = &r->m->limits;
	struct line l = {.n = 0};

	add_item(&l, report_unpaired_marks(r->m), "mark of an iteration without its other one",
		 "marks of iterations without their other one");
	add_item(&l, r->m->dropped_stalls,
		 "iteration, unusually long one or stack too many to keep",
		 "iterations, unusually long ones or stacks too many to keep");
	add_item(&l, r->m->dropped_charges,
		 "invalidation or restore pass too many to charge to one thread",
		 "invalidations or restore passes too many to charge to one thread each");
	add_item(&l, full->count[HCW_LIMIT_THREADS], "call not followed, too many were under way",
		 "calls not followed, too many were under way");
	add_item(&l, full->count[HCW_LIMIT_STACKS], "stack not kept", "stacks not kept");
	add_item(&l, full->count[HCW_LIMIT_STATUSES],
		 "move_pages call with more answers than are read",
		 "move_pages calls with more answers than are read");
	if (l.n)
		report_labelled(r, "not counted", l.text);
}

/* Tables that forget: no record is missing for it. */
static void forgotten(const struct report *r)
{
	const struct hcw_limits *full = &r->m->limits;
	struct line l = {.n = 0};

	add_item(&l, full->count[HCW_LIMIT_TASKS], "thread", "threads");
	add_item(&l, full->count[HCW_LIMIT_KFD], "process at KFD", "processes at KFD");
	add_item(&l, full->count[HCW_LIMIT_INNER_PIDS], "pid of a container", "pids of containers");
	if (l.n)
		report_labelled(r, "forgotten", l.text);
}

static void one_clock_change(const struct report *r, size_t i)
{
	const struct hcw_clock_span *c = &r->m->clocks[i];
	char at[FMT_LEN], by[FMT_LEN];
	__s64 step = hcw_clock_stepped(r->m, i);
	__u64 slept = hcw_clock_suspended(r->m, i);
	struct line l = {.n = 0};

	fmt_clock(at, c->from, r->info->realtime_offset);
	if (slept)
		line_add(&l, "the machine slept for %s before %s", fmt_duration(by, slept), at);
	if (step)
		line_add(&l,
			 "%sthe wall clock was set %s by %s before %s; times here go on as if not",
			 slept ? "; " : "", step < 0 ? "back" : "forward",
			 fmt_duration(by, step < 0 ? -(__u64)step : (__u64)step), at);
	if (l.n)
		report_labelled(r, "clock", l.text);
}

static void clocks(const struct report *r)
{
	struct line l = {.n = 0};
	size_t i;

	for (i = 1; i < r->m->n_clocks; i++)
		one_clock_change(r, i);
	add_item(&l, r->m->clock_changes_more, "further change of a clock",
		 "further changes of a clock");
	if (l.n)
		report_labelled(r, "clock", l.text);
}

static void not_at_kfd(const struct report *r)
{
	struct line l = {.n = 0};

	if (!report_not_at_kfd(r->info, r->m))
		return;
	line_add(&l,
		 "no watched process was seen at KFD: neither process %u nor a child of it used a "
		 "GPU through ROCm while this was recorded",
		 r->info->target);
	report_labelled(r, "", l.text);
}

void report_seen(const struct report *r)
{
	if (report_incomplete(r->info, r->m)) {
		report_labelled(
			r, "INCOMPLETE",
			"figures are \"at least\"; no pool is cleared by what was not seen");
		not_at_kfd(r);
		end_of_file(r);
		holes(r);
	} else {
		report_labelled(r, "complete", "every needed probe was on, nothing lost");
	}
	missing_probes(r);
	not_matched(r);
	not_counted(r);
	forgotten(r);
	clocks(r);
}
