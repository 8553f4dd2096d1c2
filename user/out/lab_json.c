/* SPDX-License-Identifier: BSD-2-Clause */
/* lab.json, schema 1. Names are stable: add, never rename. */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include "../base/escape.h"
#include "lab.h"

static json_t *text(const char *s)
{
	char buf[512];

	return json_string(hcw_utf8(buf, sizeof(buf), s, strlen(s)));
}

static void put_u64(json_t *o, const char *key, __u64 v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *device_json(const struct lab_result *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", text(r->device));
	json_object_set_new(o, "driver", text(r->driver));
	json_object_set_new(o, "simulated", json_boolean(r->simulated));
	put_u64(o, "gpus", r->n_gpus);
	json_object_set_new(o, "gemm", text(r->gemm));
	return o;
}

static json_t *probes_json(const struct hcw_trace_info *info)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < info->n_probes; i++) {
		const struct hcw_probe_info *p = &info->probe[i];
		json_t *o = json_object();

		json_object_set_new(o, "point", text(p->point));
		json_object_set_new(o, "tier", text(p->tier));
		json_object_set_new(o, "active", json_boolean(p->active));
		json_object_set_new(o, "target", text(p->target));
		json_object_set_new(o, "reason", text(p->reason));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *evicted_json(const struct lab_trial *t)
{
	json_t *o = json_object();
	char key[16];
	size_t i;

	if (!t->evicted_known) {
		json_decref(o);
		return json_null();
	}
	for (i = 0; i < t->n_evicted; i++) {
		snprintf(key, sizeof(key), "%u", t->evicted[i].gpuid);
		put_u64(o, key, t->evicted[i].ms);
	}
	return o;
}

static json_t *actor_json(const struct hcw_actor *a)
{
	json_t *o;

	if (!a->tid)
		return json_null();
	o = json_object();
	put_u64(o, "pid", a->tgid);
	put_u64(o, "tid", a->tid);
	json_object_set_new(o, "comm", text(a->comm));
	return o;
}

static json_t *trial_json(const struct lab_trial *t)
{
	json_t *o = json_object();

	put_u64(o, "attempted", t->attempted);
	put_u64(o, "moved", t->moved);
	put_u64(o, "efault", t->efault);
	put_u64(o, "other", t->other);
	json_object_set_new(o, "outcome", text(t->outcome));
	put_u64(o, "traced_moved", t->traced_moved);
	json_object_set_new(o, "max_iteration_ms", json_real(t->max_iteration_ms));
	json_object_set_new(o, "evicted_ms_delta", evicted_json(t));
	put_u64(o, "episodes", t->episodes);
	json_object_set_new(o, "episode_ms", json_real((double)t->episode_ns / 1e6));
	json_object_set_new(o, "open", json_boolean(t->open));
	json_object_set_new(o, "stalled_iteration_ms", json_real((double)t->stalled_ns / 1e6));
	put_u64(o, "passes", t->passes);
	json_object_set_new(o, "actor", actor_json(&t->actor));
	put_u64(o, "begin_ns", t->begin_ns);
	put_u64(o, "end_ns", t->end_ns);
	return o;
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

static json_t *arm_json(const struct lab_arm *a)
{
	json_t *o = json_object(), *trials = json_array();
	size_t i;

	for (i = 0; i < a->n_trials; i++)
		json_array_append_new(trials, trial_json(&a->trial[i]));
	json_object_set_new(o, "allocator", text(a->allocator));
	put_u64(o, "pool_bytes", a->pool_bytes);
	json_object_set_new(o, "control_median_ms", json_real(a->control_median_ms));
	json_object_set_new(o, "control_max_ms", json_real(a->control_max_ms));
	json_object_set_new(o, "mapping", text(a->path));
	json_object_set_new(o, "measured", json_boolean(a->measured));
	put_u64(o, "lost", a->lost);
	json_object_set_new(o, "trials", trials);
	json_object_set_new(o, "verdict", json_string(hcw_verdict_name(a->verdict)));
	json_object_set_new(o, "evidence", json_string(hcw_evidence_name(a->evidence)));
	json_object_set_new(o, "reasons", reasons_json(a->reasons));
	return o;
}

int lab_json(FILE *f, const struct lab_result *r)
{
	json_t *o = json_object(), *arms = json_array();
	size_t i;
	int ret;

	json_object_set_new(o, "schema", json_integer(1));
	json_object_set_new(o, "device", device_json(r));
	json_object_set_new(o, "kernel", text(r->info.kernel));
	json_object_set_new(o, "probes", probes_json(&r->info));
	json_object_set_new(o, "trigger", text(r->trigger));
	put_u64(o, "lost", r->lost);
	for (i = 0; i < r->n_arms; i++)
		json_array_append_new(arms, arm_json(r->arm[i]));
	json_object_set_new(o, "arms", arms);
	ret = json_dumpf(o, f, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) ? -EIO : 0;
	json_decref(o);
	if (fputc('\n', f) == EOF || fflush(f))
		ret = -EIO;
	return ret;
}
