/* SPDX-License-Identifier: BSD-2-Clause */
/* `hcwatch live --json`: NDJSON. Names are stable: add, never rename. */
#include <errno.h>
#include <jansson.h>
#include "live.h"
#include "report_internal.h"
#include "report_json.h"

static const char *kind_name(enum live_kind k)
{
	static const char *const names[] = {
		[LIVE_WATCHING] = "watching", [LIVE_EVICTED] = "evicted", [LIVE_SO_FAR] = "so_far",
		[LIVE_RESTORED] = "restored", [LIVE_STALL] = "stall",	  [LIVE_LOST] = "lost",
		[LIVE_TOTALS] = "totals",
	};

	return names[k];
}

static void put_watching(json_t *o, const struct hcw_trace_info *info)
{
	size_t i, active = 0;

	for (i = 0; i < info->n_probes; i++)
		active += info->probe[i].active;
	json_object_set_new(o, "pid", info->target ? json_integer(info->target) : json_null());
	json_object_set_new(o, "probes", json_integer((json_int_t)info->n_probes));
	json_object_set_new(o, "active", json_integer((json_int_t)active));
	json_object_set_new(o, "missing", report_json_missing(info));
	json_object_set_new(o, "simulated", json_boolean(info->simulated));
}

static void put_totals(json_t *o, const struct hcw_trace_info *info, const struct hcw_model *m)
{
	json_object_set_new(o, "verdict", json_string(report_verdict(info, m)));
	json_object_set_new(o, "complete", json_boolean(!report_incomplete(info, m)));
	json_object_set_new(o, "episodes", json_integer((json_int_t)m->n_episodes));
	json_object_set_new(o, "evicted_ms", json_real((double)report_stalled_ns(m) / 1e6));
	json_object_set_new(o, "stalls", json_integer((json_int_t)m->n_stalls));
	json_object_set_new(o, "lost", json_integer((json_int_t)m->lost));
	json_object_set_new(o, "lost_by", report_json_lost_by(m));
	json_object_set_new(o, "limits", report_json_limits(m));
	json_object_set_new(o, "late", json_integer((json_int_t)m->late));
	json_object_set_new(o, "clock", report_json_clock(m));
}

static void put_event(json_t *o, const struct hcw_trace_info *info, const struct hcw_chain *chain,
		      const struct live_event *e)
{
	const struct hcw_model *m = hcw_chain_model(chain);

	switch (e->kind) {
	case LIVE_WATCHING:
		put_watching(o, info);
		break;
	case LIVE_SO_FAR:
		json_object_set_new(
			o, "so_far_ms",
			json_real((double)(e->now - m->episodes[e->index].start) / 1e6));
		/* fall through */
	case LIVE_EVICTED:
	case LIVE_RESTORED:
		json_object_set_new(o, "index", json_integer((json_int_t)e->index));
		json_object_set_new(o, "episode",
				    report_json_episode(chain, &m->episodes[e->index]));
		break;
	case LIVE_STALL:
		json_object_set_new(o, "stall", report_json_stall(&m->stalls[e->index]));
		json_object_set_new(o, "count", json_integer((json_int_t)e->count));
		break;
	case LIVE_LOST:
		json_object_set_new(o, "lost", json_integer((json_int_t)e->count));
		json_object_set_new(o, "lost_by", report_json_lost_by(m));
		json_object_set_new(o, "limits", report_json_limits(m));
		break;
	case LIVE_TOTALS:
		put_totals(o, info, m);
		break;
	}
}

int live_json(FILE *f, const struct hcw_trace_info *info, const struct hcw_chain *chain,
	      const struct live_event *e)
{
	json_t *o = json_object();
	int ret;

	json_object_set_new(o, "event", json_string(kind_name(e->kind)));
	json_object_set_new(o, "time_ns", json_integer((json_int_t)e->now));
	put_event(o, info, chain, e);
	ret = json_dumpf(o, f, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(o);
	return ret || fputc('\n', f) == EOF || fflush(f) ? -EIO : 0;
}
