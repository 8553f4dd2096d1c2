/* SPDX-License-Identifier: BSD-2-Clause */
/* What the text and the JSON of a report both need: what is missing, who ranks first, what it is
 * called. */
#include <string.h>
#include "../chain/findings.h"
#include "report_internal.h"

static const char *const needed[] = {"move_pages", "migrate", "notifier", "quiesce", "resume"};
#define N_NEEDED (sizeof(needed) / sizeof(needed[0]))

bool report_point_needed(const char *point)
{
	size_t i;

	for (i = 0; i < N_NEEDED; i++)
		if (!strcmp(needed[i], point))
			return true;
	return false;
}

static bool in_plan(const struct hcw_trace_info *info, const char *point)
{
	size_t i;

	for (i = 0; i < info->n_probes; i++)
		if (!strcmp(info->probe[i].point, point))
			return true;
	return false;
}

bool report_traced(const struct hcw_trace_info *info, const char *point)
{
	size_t i;

	for (i = 0; i < info->n_probes; i++)
		if (info->probe[i].active && !strcmp(info->probe[i].point, point))
			return true;
	return false;
}

size_t report_missing(const struct hcw_trace_info *info, struct report_missing out[REPORT_MISSING])
{
	size_t i, n = 0;

	for (i = 0; i < N_NEEDED; i++)
		if (!in_plan(info, needed[i]))
			out[n++] = (struct report_missing){
				.point = needed[i],
				.reason = "the trace does not speak of it",
				.needed = true,
			};
	for (i = 0; i < info->n_probes; i++)
		if (!info->probe[i].active)
			out[n++] = (struct report_missing){
				.point = info->probe[i].point,
				.reason = info->probe[i].reason,
				.needed = report_point_needed(info->probe[i].point),
			};
	return n;
}

bool report_not_at_kfd(const struct hcw_trace_info *info, const struct hcw_model *m)
{
	return info->target && !m->kfd_samples && !m->n_episodes && !m->n_pools &&
	       !m->unpaired_restores && !m->unattributed_passes && !m->noise;
}

/* Queues ran again, or were about to, and their stop is in no episode. */
static bool start_unseen(const struct hcw_model *m)
{
	return m->unpaired_restores || (m->unattributed_passes && !m->n_episodes);
}

bool report_incomplete(const struct hcw_trace_info *info, const struct hcw_model *m)
{
	struct report_missing missing[REPORT_MISSING];
	size_t i, n = report_missing(info, missing);

	for (i = 0; i < n; i++)
		if (missing[i].needed)
			return true;
	if (report_not_at_kfd(info, m) || start_unseen(m))
		return true;
	return m->lost || hcw_limits_hide(&m->limits) || m->n_holes || m->dropped || info->cut ||
	       !m->ended || m->end_reason == HCW_END_ERROR;
}

const char *report_verdict(const struct hcw_trace_info *info, const struct hcw_model *m)
{
	if (m->n_episodes)
		return "stalled";
	return report_incomplete(info, m) ? "cannot-tell" : "clean";
}

enum hcw_exit report_exit(const struct hcw_trace_info *info, const struct hcw_model *m)
{
	size_t i;

	if (report_incomplete(info, m))
		return HCW_EXIT_INCOMPLETE;
	if (m->n_episodes)
		return HCW_EXIT_FINDING;
	for (i = 0; i < m->n_pools; i++)
		if (hcw_pool_code(&m->pools[i]))
			return HCW_EXIT_FINDING;
	return HCW_EXIT_OK;
}

/* Inserted by time: there are few. */
static void rank(struct report_cause *out, size_t *n, struct report_cause c)
{
	size_t i;

	if (!c.episodes)
		return;
	for (i = (*n)++; i > 0 && out[i - 1].ns < c.ns; i--)
		out[i] = out[i - 1];
	out[i] = c;
}

size_t report_causes(const struct hcw_model *m, struct report_cause out[REPORT_CAUSES])
{
	const struct hcw_cause_total *t;
	size_t n = 0;
	int c;

	for (c = 0; c < HCW_CAUSE_COUNT; c++) {
		t = &m->causes[c];
		rank(out, &n,
		     (struct report_cause){.cause = c,
					   .episodes = t->started,
					   .ns = t->started_ns,
					   .worst = t->worst_ns});
		rank(out, &n,
		     (struct report_cause){.cause = c,
					   .prolonged = true,
					   .episodes = t->prolonged,
					   .ns = t->prolonged_ns});
	}
	return n;
}

static void add_code(const char **out, size_t *n, const char *code)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp(out[i], code))
			return;
	out[(*n)++] = code;
}

size_t report_codes(const struct hcw_model *m, const char *out[REPORT_CAUSES])
{
	struct report_cause cause[REPORT_CAUSES];
	size_t i, n = 0, n_causes = report_causes(m, cause);

	for (i = 0; i < n_causes; i++)
		add_code(out, &n, hcw_cause_code(cause[i].cause));
	for (i = 0; i < m->n_pools; i++)
		if (hcw_pool_code(&m->pools[i]))
			add_code(out, &n, hcw_pool_code(&m->pools[i]));
	return n;
}

__u64 report_episode_ns(const struct hcw_model *m, const struct hcw_episode *e)
{
	return (e->end ? e->end : m->last_ts) - e->start;
}

size_t report_begun_before(const struct hcw_model *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->n_episodes; i++)
		n += m->episodes[i].before;
	return n;
}

__u64 report_unpaired_marks(const struct hcw_model *m)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < m->n_victims; i++)
		sum += m->victims[i].iterations_unpaired;
	return sum;
}

__u64 report_stalled_ns(const struct hcw_model *m)
{
	__u64 total = 0;
	size_t i;

	for (i = 0; i < m->n_episodes; i++)
		total += report_episode_ns(m, &m->episodes[i]);
	return total;
}

const struct hcw_victim *report_victim(const struct hcw_model *m, __u32 tgid, __u64 mm)
{
	const struct hcw_victim *same_pid = NULL;
	size_t i;

	for (i = m->n_victims; i-- > 0;) {
		if (m->victims[i].tgid != tgid)
			continue;
		if (!mm || m->victims[i].mm == mm)
			return &m->victims[i];
		if (!same_pid)
			same_pid = &m->victims[i];
	}
	return same_pid;
}

bool report_hole_is_cut(const struct hcw_trace_info *info, const struct hcw_model *m, size_t hole)
{
	const struct hcw_hole_info *h = &m->holes[hole];

	return info->cut && hole + 1 == m->n_holes && h->cause == HCW_HOLE_DAMAGED_FRAME &&
	       h->to == m->last_ts;
}

const char *report_source_name(__u32 record_type)
{
	static const char *const names[HCW_R_BPF_COUNT] = {
		[HCW_R_MOVE_PAGES] = "move_pages",
		[HCW_R_MIGRATE] = "migration",
		[HCW_R_INVAL] = "notifier",
		[HCW_R_QUIESCE] = "quiesce",
		[HCW_R_RESUME] = "resume",
		[HCW_R_EVICT] = "evict",
		[HCW_R_RESTORE] = "restore",
		[HCW_R_PASS] = "restore pass",
		[HCW_R_ITER_BEGIN] = "iteration",
		[HCW_R_ITER_END] = "iteration",
		[HCW_R_POOL_ALLOC] = "pool",
		[HCW_R_POOL_FREE] = "pool",
		[HCW_R_TASK] = "task",
		[HCW_R_TASK_EXIT] = "task exit",
		[HCW_R_REQUEST] = "request",
	};

	if (!record_type)
		return "all";
	return record_type < HCW_R_BPF_COUNT && names[record_type] ? names[record_type] : "unknown";
}
