/* SPDX-License-Identifier: BSD-2-Clause */
/* `hcwatch report --json`, schema 1. Names are stable: add, never rename. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "../base/escape.h"
#include "../chain/findings.h"
#include "report_internal.h"
#include "report_json.h"

static void put(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *text(const char *s, size_t max)
{
	char buf[1024];

	return json_string(hcw_utf8(buf, sizeof(buf), s, strnlen(s, max)));
}

static void put_text(json_t *o, const char *key, const char *s)
{
	put(o, key, text(s, strlen(s)));
}

static void put_u64(json_t *o, const char *key, __u64 v)
{
	put(o, key, json_integer((json_int_t)v));
}

static json_t *ms(__u64 ns)
{
	return json_real((double)ns / 1e6);
}

json_t *report_json_missing(const struct hcw_trace_info *info)
{
	struct report_missing missing[REPORT_MISSING];
	size_t i, n = report_missing(info, missing);
	json_t *list = json_array();

	for (i = 0; i < n; i++) {
		json_t *o = json_object();

		put_text(o, "point", missing[i].point);
		put_text(o, "reason", missing[i].reason);
		put(o, "needed", json_boolean(missing[i].needed));
		json_array_append_new(list, o);
	}
	return list;
}

static const char *hole_cause(__u32 cause)
{
	static const char *const names[] = {
		[HCW_HOLE_RING_FULL] = "ring-full",
		[HCW_HOLE_MAP_FULL] = "map-full",
		[HCW_HOLE_DAMAGED_FRAME] = "damaged-frame",
		[HCW_HOLE_DRIVER_ABSENT] = "driver-absent",
		[HCW_HOLE_SKIPPED] = "skipped",
	};

	return cause < sizeof(names) / sizeof(names[0]) && names[cause] ? names[cause] : "unknown";
}

static json_t *holes_json(const struct hcw_model *m)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->n_holes; i++) {
		const struct hcw_hole_info *h = &m->holes[i];
		json_t *o = json_object();

		put_text(o, "source", report_source_name(h->source));
		put_text(o, "cause", hole_cause(h->cause));
		put_u64(o, "from_ns", h->from);
		put_u64(o, "to_ns", h->to);
		put_u64(o, "count", h->count);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *gpus_json(const struct hcw_trace_info *info)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < info->n_gpus; i++) {
		json_t *o = json_object();

		put_u64(o, "render", info->gpu[i].render);
		put_text(o, "driver", info->gpu[i].driver);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *actor_json(const struct hcw_actor *a)
{
	json_t *o;

	if (!a->tid)
		return json_null();
	o = json_object();
	put_u64(o, "pid", a->tgid);
	put_u64(o, "tid", a->tid);
	put(o, "comm", text(a->comm, sizeof(a->comm)));
	return o;
}

static json_t *process_json(const struct hcw_model *m, __u32 tgid, __u64 mm)
{
	const struct hcw_victim *v = report_victim(m, tgid, mm);
	json_t *o = json_object();

	put_u64(o, "pid", tgid);
	put(o, "comm", v ? text(v->comm, sizeof(v->comm)) : json_string(""));
	return o;
}

static json_t *range_json(__u64 lo, __u64 hi)
{
	json_t *o;

	if (hi <= lo)
		return json_null();
	o = json_object();
	put_u64(o, "lo", lo);
	put_u64(o, "hi", hi);
	return o;
}

static json_t *prolongers_json(const struct hcw_episode *e)
{
	json_t *list = json_array();
	__u32 i;

	for (i = 0; i < e->n_prolonged && i < HCW_MAX_PROLONGERS; i++) {
		const struct hcw_prolonger *p = &e->prolonged_by[i];
		json_t *o = json_object();

		put(o, "actor", actor_json(&p->actor));
		put_text(o, "cause", hcw_cause_name(p->cause));
		put_text(o, "code", hcw_cause_code(p->cause));
		put_u64(o, "invalidations", p->invalidations);
		put(o, "passes", json_real(isfinite(p->passes) ? p->passes : 0));
		put(o, "ms", ms(p->ns));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *stack_json(const struct hcw_chain *chain, __s32 id)
{
	__u32 depth = 0, i;
	const char *name = id < 0 ? NULL : hcw_chain_stack(chain, id, &depth);
	json_t *list = json_array();

	for (i = 0; name && i < depth && i < HCW_STACK_DEPTH; i++) {
		json_array_append_new(list, text(name, strlen(name)));
		name += strlen(name) + 1;
	}
	return list;
}

static json_t *nested_json(__u32 causes)
{
	json_t *list = json_array();
	int c;

	for (c = 0; c < HCW_CAUSE_COUNT; c++)
		if (causes & (1u << c))
			json_array_append_new(list, json_string(hcw_cause_name(c)));
	return list;
}

/* Who, what and why of an episode. */
static void put_start(json_t *o, const struct hcw_model *m, const struct hcw_episode *e)
{
	const struct hcw_attempt *a = e->attempt >= 0 ? &m->attempts[e->attempt] : NULL;

	put_u64(o, "start_ns", e->start);
	put(o, "end_ns", e->end ? json_integer((json_int_t)e->end) : json_null());
	put(o, "ms", ms(report_episode_ns(m, e)));
	put(o, "open", json_boolean(!e->end));
	put(o, "began_before", json_boolean(e->before));
	put(o, "killed", json_boolean(e->killed));
	put(o, "victim", process_json(m, e->victim, e->mm));
	put_text(o, "code", hcw_episode_code(e));
	put_text(o, "cause", hcw_cause_name(e->cause));
	put(o, "trigger", e->before ? json_null() : json_integer(e->trigger));
	put(o, "started_by", actor_json(&e->started_by));
	put(o, "direct_compaction", json_boolean(e->direct_compaction));
	put(o, "initiator", actor_json(&e->initiator));
	put(o, "initiator_unknown", json_boolean(e->initiator_unknown));
	put(o, "pages_moved", a ? json_integer((json_int_t)a->migrated) : json_null());
}

json_t *report_json_episode(const struct hcw_chain *chain, const struct hcw_episode *e)
{
	const struct hcw_model *m = hcw_chain_model(chain);
	json_t *o = json_object();

	put_start(o, m, e);
	put_u64(o, "passes", e->passes);
	put_u64(o, "passes_thrown", e->passes_thrown);
	put_u64(o, "nested", e->nested);
	put(o, "nested_causes", nested_json(e->nested_causes));
	put_u64(o, "invalidations", e->invalidations);
	put(o, "started_ms", ms(e->started_ns));
	put(o, "prolonged_by", prolongers_json(e));
	put(o, "prolonged_others_ms", ms(e->prolonged_others));
	put(o, "prolonged_rest_ms", ms(e->prolonged_rest));
	put(o, "pool", e->pool >= 0 ? json_integer(e->pool) : json_null());
	put(o, "range", range_json(e->lo, e->hi));
	put_u64(o, "stalls", e->stalls);
	put(o, "worst_iteration_ms", e->worst_stall ? ms(e->worst_stall) : json_null());
	put(o, "stack", stack_json(chain, e->stack));
	return o;
}

static json_t *episodes_json(const struct hcw_chain *chain)
{
	const struct hcw_model *m = hcw_chain_model(chain);
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->n_episodes; i++)
		json_array_append_new(list, report_json_episode(chain, &m->episodes[i]));
	return list;
}

static json_t *causes_json(const struct hcw_model *m)
{
	json_t *list = json_array();
	int c;

	for (c = 0; c < HCW_CAUSE_COUNT; c++) {
		const struct hcw_cause_total *t = &m->causes[c];
		json_t *o;

		if (!t->started && !t->prolonged)
			continue;
		o = json_object();
		put_text(o, "cause", hcw_cause_name(c));
		put_text(o, "code", hcw_cause_code(c));
		put_u64(o, "started", t->started);
		put(o, "started_ms", ms(t->started_ns));
		put(o, "worst_ms", ms(t->worst_ns));
		put_u64(o, "prolonged", t->prolonged);
		put(o, "prolonged_ms", ms(t->prolonged_ns));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *index_json(int i)
{
	return i >= 0 ? json_integer(i) : json_null();
}

json_t *report_json_stall(const struct hcw_stall *s)
{
	json_t *o = json_object();

	put_u64(o, "start_ns", s->start);
	put_u64(o, "end_ns", s->end);
	put(o, "ms", ms(s->end - s->start));
	put(o, "median_ms", ms(s->median));
	put_u64(o, "pid", s->victim);
	put(o, "episode", index_json(s->episode));
	put(o, "collateral", index_json(s->collateral));
	return o;
}

static json_t *stalls_json(const struct hcw_model *m)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->n_stalls; i++)
		json_array_append_new(list, report_json_stall(&m->stalls[i]));
	return list;
}

static json_t *calm_json(const struct hcw_chain *chain, __u32 tgid)
{
	json_t *o = json_object();
	__u64 max = 0;

	put(o, "p50_ms", ms(hcw_chain_percentile_calm(chain, tgid, 50, &max)));
	put(o, "p99_ms", ms(hcw_chain_percentile_calm(chain, tgid, 99, NULL)));
	put(o, "p999_ms", ms(hcw_chain_percentile_calm(chain, tgid, 99.9, NULL)));
	put(o, "max_ms", ms(max));
	return o;
}

static json_t *iterations_json(const struct hcw_chain *chain)
{
	const struct hcw_model *m = hcw_chain_model(chain);
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->n_victims; i++) {
		const struct hcw_victim *v = &m->victims[i];
		json_t *o;

		if (!v->iterations)
			continue;
		o = json_object();
		put_u64(o, "pid", v->tgid);
		put(o, "comm", text(v->comm, sizeof(v->comm)));
		put_u64(o, "count", v->iterations);
		put_u64(o, "unpaired", v->iterations_unpaired);
		put(o, "p50_ms", ms(hcw_chain_percentile(chain, v->tgid, 50)));
		put(o, "p99_ms", ms(hcw_chain_percentile(chain, v->tgid, 99)));
		put(o, "p999_ms", ms(hcw_chain_percentile(chain, v->tgid, 99.9)));
		put(o, "max_ms", ms(v->iteration_max));
		put(o, "calm", calm_json(chain, v->tgid));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *reasons_json(unsigned int why)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < HCW_WHY_COUNT; i++)
		if (why & (1u << i))
			json_array_append_new(list, json_string(hcw_reason_name(1u << i)));
	return list;
}

static json_t *pool_json(const struct hcw_pool_info *p)
{
	const char *code = hcw_pool_code(p);
	json_t *o = json_object();

	put_u64(o, "ptr", p->ptr);
	put_u64(o, "bytes", p->bytes);
	put_text(o, "backing", hcw_backing_name(p->backing));
	put_u64(o, "pid", p->tgid);
	put(o, "path", text(p->path, sizeof(p->path)));
	put_text(o, "verdict", hcw_verdict_name(p->verdict));
	put_text(o, "evidence", hcw_evidence_name(p->evidence));
	put(o, "reasons", reasons_json(p->reasons));
	put(o, "code", code ? json_string(code) : json_null());
	put_u64(o, "hit", p->episodes);
	put(o, "hit_ms", ms(p->episode_ns));
	put_u64(o, "residual", p->residual);
	put(o, "residual_ms", ms(p->residual_ns));
	put_u64(o, "attempts", p->attempts);
	put_u64(o, "pages_asked", p->asked);
	put_u64(o, "pages_moved", p->moved);
	put_u64(o, "pages_refused", p->efault + p->enoent);
	put_u64(o, "pages_stayed", p->stayed);
	return o;
}

static json_t *pools_json(const struct hcw_model *m)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->n_pools; i++)
		json_array_append_new(list, pool_json(&m->pools[i]));
	return list;
}

/* How far the trace can be trusted. */
static void put_completeness(json_t *o, const struct hcw_trace_info *info,
			     const struct hcw_model *m)
{
	put_text(o, "verdict", report_verdict(info, m));
	put(o, "complete", json_boolean(!report_incomplete(info, m)));
	put(o, "closed", json_boolean(m->ended && !info->cut));
	put(o, "missing", report_json_missing(info));
	put_u64(o, "lost", m->lost);
	put_u64(o, "dropped", m->dropped);
	put_u64(o, "damaged", m->damaged);
	put_u64(o, "unpaired_restores", m->unpaired_restores);
	put_u64(o, "unattributed_passes", m->unattributed_passes);
	put_u64(o, "noise", m->noise);
	put(o, "seen_at_kfd",
	    info->target ? json_boolean(!report_not_at_kfd(info, m)) : json_null());
	put(o, "holes", holes_json(m));
	put(o, "totals", report_json_totals(m));
	put(o, "limits", report_json_limits(m));
	put_u64(o, "late", m->late);
	put_u64(o, "unpaired_marks", report_unpaired_marks(m));
}

static void put_machine(json_t *o, const struct hcw_trace_info *info, const struct hcw_model *m)
{
	put_text(o, "host", info->host);
	put_text(o, "kernel", info->kernel);
	put_text(o, "tool", info->tool);
	put(o, "gpus", gpus_json(info));
	put(o, "simulated", json_boolean(info->simulated));
	put(o, "target", info->target ? process_json(m, info->target, 0) : json_null());
	put_u64(o, "first_ns", m->first_ts);
	put_u64(o, "last_ns", m->last_ts);
	put(o, "realtime_offset_ns", json_integer(info->realtime_offset));
	put(o, "clock", report_json_clock(m));
}

int report_json(FILE *f, const char *path, const struct hcw_trace_info *info,
		const struct hcw_chain *chain)
{
	const struct hcw_model *m = hcw_chain_model(chain);
	json_t *o = json_object();
	int ret;

	put(o, "schema", json_integer(1));
	put_text(o, "trace", path);
	put_completeness(o, info, m);
	put_machine(o, info, m);
	put(o, "stalled_ms", ms(report_stalled_ns(m)));
	put(o, "episodes", episodes_json(chain));
	put(o, "causes", causes_json(m));
	put(o, "stalls", stalls_json(m));
	put(o, "iterations", iterations_json(chain));
	put(o, "pools", pools_json(m));
	ret = json_dumpf(o, f, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) ? -EIO : 0;
	json_decref(o);
	if (fputc('\n', f) == EOF || fflush(f))
		ret = -EIO;
	return ret;
}
