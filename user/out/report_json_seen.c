/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a trace can be trusted: counters, limits and clocks, as JSON. */
#include "report_internal.h"
#include "report_json.h"

static void put_u64(json_t *o, const char *key, __u64 v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *one_total(const struct hcw_totals *t)
{
	json_t *o = json_object();

	json_object_set_new(o, "source", json_string(report_source_name(t->source)));
	put_u64(o, "record", t->source);
	put_u64(o, "emitted", t->emitted);
	put_u64(o, "lost", t->lost);
	put_u64(o, "ring_full", t->ring_full);
	put_u64(o, "map_full", t->map_full);
	put_u64(o, "skipped", t->skipped);
	put_u64(o, "unbegun", t->unbegun);
	return o;
}

/* Sources that said nothing are left out. */
json_t *report_json_totals(const struct hcw_model *m)
{
	json_t *list = json_array();
	size_t i;

	for (i = 1; i < HCW_R_BPF_COUNT; i++)
		if (m->totals[i].emitted || m->totals[i].lost || m->totals[i].unbegun)
			json_array_append_new(list, one_total(&m->totals[i]));
	return list;
}

json_t *report_json_lost_by(const struct hcw_model *m)
{
	__u64 ring = 0, map = 0, skipped = 0;
	json_t *o = json_object();
	size_t i;

	for (i = 1; i < HCW_R_BPF_COUNT; i++) {
		ring += m->totals[i].ring_full;
		map += m->totals[i].map_full;
		skipped += m->totals[i].skipped;
	}
	put_u64(o, "ring_full", ring);
	put_u64(o, "map_full", map);
	put_u64(o, "skipped", skipped);
	return o;
}

json_t *report_json_limits(const struct hcw_model *m)
{
	json_t *o = json_object();
	int l;

	for (l = 0; l < HCW_LIMIT_COUNT; l++)
		put_u64(o, hcw_limit_name(l), m->limits.count[l]);
	return o;
}

static json_t *one_change(const struct hcw_model *m, size_t i)
{
	json_t *o = json_object();

	put_u64(o, "from_ns", m->clocks[i - 1].to);
	put_u64(o, "to_ns", m->clocks[i].from);
	json_object_set_new(o, "realtime_step_ns", json_integer(hcw_clock_stepped(m, i)));
	put_u64(o, "suspended_ns", hcw_clock_suspended(m, i));
	json_object_set_new(o, "realtime_offset_ns", json_integer(m->clocks[i].realtime));
	json_object_set_new(o, "monotonic_offset_ns", json_integer(m->clocks[i].monotonic));
	return o;
}

/* Which clock the times are of, and how to get the others from it. */
json_t *report_json_clock(const struct hcw_model *m)
{
	json_t *o = json_object(), *changes = json_array();
	size_t i;

	for (i = 1; i < m->n_clocks; i++)
		json_array_append_new(changes, one_change(m, i));
	json_object_set_new(o, "ns", json_string("CLOCK_BOOTTIME"));
	json_object_set_new(o, "realtime_offset_ns",
			    m->n_clocks ? json_integer(m->clocks[0].realtime) : json_null());
	json_object_set_new(o, "monotonic_offset_ns",
			    m->n_clocks ? json_integer(m->clocks[0].monotonic) : json_null());
	json_object_set_new(o, "changes", changes);
	put_u64(o, "changes_more", m->clock_changes_more);
	return o;
}
