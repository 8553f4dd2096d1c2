/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "../base/escape.h"
#include "../chain/findings.h"
#include "live.h"
#include "report_internal.h"

#define INDENT "              " /* under the text behind a time */

static void add_pool(struct line *l, const struct hcw_model *m, int pool)
{
	char size[FMT_LEN];

	if (pool >= 0)
		line_add(l, " of pool #%d (%s, %s)", pool + 1,
			 hcw_backing_name(m->pools[pool].backing),
			 fmt_bytes(size, m->pools[pool].bytes));
}

static void watching(FILE *f, const struct hcw_trace_info *info)
{
	struct line l = {.n = 0};
	char cmd[300];
	size_t i, active = 0;

	for (i = 0; i < info->n_probes; i++)
		active += info->probe[i].active;
	line_add(&l, "hcwatch live · ");
	if (info->target)
		line_add(&l, "%s (%u)",
			 hcw_escape(cmd, 60, info->target_cmdline, strlen(info->target_cmdline)),
			 info->target);
	else if (info->filter[0])
		line_add(&l, "nobody yet of %s",
			 hcw_escape(cmd, 60, info->filter, strlen(info->filter)));
	else
		line_add(&l, "every process that uses KFD");
	line_add(&l, " · probes %zu/%zu%s", active, info->n_probes,
		 info->simulated ? " · simulated GPU" : "");
	fmt_wrap(f, "", l.text);
}

static void head(char *buf, size_t size, const struct hcw_trace_info *info, __u64 ts)
{
	char at[FMT_LEN];

	snprintf(buf, size, "%s  ", fmt_clock(at, ts, info->realtime_offset));
}

static void add_start(struct line *l, const struct hcw_episode *e)
{
	char who[128];

	if (e->before)
		line_add(l, "who stopped them was not seen, it began before we watched");
	else
		line_add(l, "%s by %s%s", hcw_cause_name(e->cause),
			 report_actor(who, sizeof(who), &e->started_by),
			 e->direct_compaction ? ", direct compaction" : "");
}

/* Its length is more than was watched of it. */
static const char *at_least(const struct hcw_episode *e)
{
	return e->before ? "at least " : "";
}

static void evicted(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m,
		    const struct hcw_episode *e)
{
	struct line l = {.n = 0};
	char at[FMT_LEN + 2], who[128];

	head(at, sizeof(at), info, e->start);
	line_add(&l, "EVICTED  ");
	line_add(&l, "%s", report_process(who, sizeof(who), m, e->victim, 0));
	if (e->before) {
		line_add(&l, " since before we watched: who stopped them was not seen");
	} else {
		line_add(&l, ": ");
		add_start(&l, e);
		add_pool(&l, m, e->pool);
	}
	fmt_wrap(f, at, l.text);
}

static void so_far(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m,
		   const struct hcw_episode *e, __u64 now)
{
	struct line l = {.n = 0};
	char at[FMT_LEN + 2], who[128];

	head(at, sizeof(at), info, now);
	line_add(&l, "EVICTED %s%.1f s so far  ", at_least(e), (double)(now - e->start) / 1e9);
	line_add(&l, "%s: ", report_process(who, sizeof(who), m, e->victim, 0));
	add_start(&l, e);
	if (e->passes)
		line_add(&l, "; restore passes %u, thrown away %u", e->passes, e->passes_thrown);
	fmt_wrap(f, at, l.text);
}

static void add_prolongers(struct line *l, const struct hcw_episode *e)
{
	char ms[FMT_LEN], who[128];
	__u32 i;

	for (i = 0; i < e->n_prolonged; i++) {
		const struct hcw_prolonger *p = &e->prolonged_by[i];

		line_add(l, "; %.1f pass%s (%s) redone because of %s by ", p->passes,
			 p->passes == 1 ? "" : "es", fmt_duration(ms, p->ns),
			 hcw_cause_name(p->cause));
		line_add(l, "%s", report_actor(who, sizeof(who), &p->actor));
	}
}

static void restored(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m,
		     const struct hcw_episode *e)
{
	struct line l = {.n = 0};
	char at[FMT_LEN + 2], who[128], length[FMT_LEN], stall[FMT_LEN];
	__u64 end = e->end ? e->end : m->last_ts;

	head(at, sizeof(at), info, end);
	line_add(&l, "%s after %s%s  ",
		 e->killed ? "KILLED while evicted,"
		 : e->end  ? "RESTORED"
			   : "STILL EVICTED",
		 at_least(e), fmt_duration(length, end - e->start));
	line_add(&l, "%s", report_process(who, sizeof(who), m, e->victim, 0));
	line_add(&l, "  %s", hcw_episode_code(e));
	fmt_wrap(f, at, l.text);
	l = (struct line){.n = 0};
	add_start(&l, e);
	if (e->attempt >= 0 && m->attempts[e->attempt].migrated)
		line_add(&l, ", %" PRIu64 " page%s", (uint64_t)m->attempts[e->attempt].migrated,
			 PLURAL(m->attempts[e->attempt].migrated));
	add_pool(&l, m, e->pool);
	line_add(&l, "; %u restore pass%s, %u thrown away", e->passes, e->passes == 1 ? "" : "es",
		 e->passes_thrown);
	add_prolongers(&l, e);
	if (e->worst_stall)
		line_add(&l, "; the longest iteration that overlaps it took %s%s",
			 fmt_duration(stall, e->worst_stall), e->stalls ? " (a stall)" : "");
	fmt_wrap(f, INDENT, l.text);
}

static void stall(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m,
		  const struct hcw_stall *s, __u64 count)
{
	struct line l = {.n = 0};
	char at[FMT_LEN + 2], who[128], length[FMT_LEN], median[FMT_LEN];

	head(at, sizeof(at), info, s->end);
	line_add(&l, "STALL %s (median %s)  ", fmt_duration(length, s->end - s->start),
		 fmt_duration(median, s->median));
	line_add(&l, "%s", report_process(who, sizeof(who), m, s->victim, 0));
	if (s->collateral >= 0) {
		line_add(&l, ": collateral, waited for ");
		line_add(&l, "%s",
			 report_process(who, sizeof(who), m, m->episodes[s->collateral].victim, 0));
	} else {
		line_add(&l, ": no eviction was seen");
		if (count > 1)
			line_add(&l, "; the longest of %" PRIu64, (uint64_t)count);
	}
	fmt_wrap(f, at, l.text);
}

static void lost(FILE *f, const struct hcw_model *m, __u64 count)
{
	struct line l = {.n = 0};
	int limit;

	line_add(&l, "%" PRIu64 " record%s lost: details are \"at least\", totals are exact",
		 (uint64_t)count, PLURAL(count));
	for (limit = 0; limit <= HCW_LIMIT_STATUSES; limit++)
		if (m->limits.count[limit])
			line_add(&l, "; full: %s (%" PRIu64 ")", hcw_limit_name(limit),
				 (uint64_t)m->limits.count[limit]);
	fmt_wrap(f, "", l.text);
}

static void totals(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m)
{
	struct line l = {.n = 0};
	__u64 ns = 0;
	char total[FMT_LEN];
	size_t i;

	for (i = 0; i < m->n_episodes; i++)
		ns += (m->episodes[i].end ? m->episodes[i].end : m->last_ts) - m->episodes[i].start;
	line_add(&l, "total: %zu episode%s, %s%s evicted, %zu stall%s, %" PRIu64 " record%s lost",
		 m->n_episodes, PLURAL(m->n_episodes), report_begun_before(m) ? "at least " : "",
		 fmt_duration(total, ns), m->n_stalls, PLURAL(m->n_stalls), (uint64_t)m->lost,
		 PLURAL(m->lost));
	fmt_wrap(f, "", l.text);
	if (m->limits.count[HCW_LIMIT_WATCHED])
		lost(f, m, m->lost);
	if (report_incomplete(info, m))
		fmt_wrap(
			f, "INCOMPLETE  ",
			"not everything was watched: figures are \"at least\", and what was not seen clears nobody");
}

int live_text(FILE *f, const struct hcw_trace_info *info, const struct hcw_chain *chain,
	      const struct live_event *e)
{
	const struct hcw_model *m = hcw_chain_model(chain);

	switch (e->kind) {
	case LIVE_WATCHING:
		watching(f, info);
		break;
	case LIVE_EVICTED:
		evicted(f, info, m, &m->episodes[e->index]);
		break;
	case LIVE_SO_FAR:
		so_far(f, info, m, &m->episodes[e->index], e->now);
		break;
	case LIVE_RESTORED:
		restored(f, info, m, &m->episodes[e->index]);
		break;
	case LIVE_STALL:
		stall(f, info, m, &m->stalls[e->index], e->count);
		break;
	case LIVE_LOST:
		lost(f, m, e->count);
		break;
	case LIVE_TOTALS:
		totals(f, info, m);
		break;
	}
	return fflush(f) || ferror(f) ? -EIO : 0;
}
