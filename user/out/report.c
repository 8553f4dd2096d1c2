/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of `hcwatch report`: the answer first, then the evidence, what was not seen, and the
 * next step. */
#include <inttypes.h>
#include <string.h>
#include "../base/escape.h"
#include "../chain/findings.h"
#include "fmt.h"
#include "report.h"

#define MAX_EPISODES_SHOWN 20

static bool probe_missing(const struct hcw_trace_info *info)
{
	static const char *const needed[] = {"move_pages", "migrate", "notifier", "quiesce",
					     "resume"};
	size_t i, j;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		for (j = 0; j < info->n_probes; j++)
			if (info->probe[j].active && !strcmp(info->probe[j].point, needed[i]))
				break;
		if (j == info->n_probes)
			return true;
	}
	return false;
}

bool report_incomplete(const struct hcw_trace_info *info, const struct hcw_model *m)
{
	return m->lost || m->n_holes || m->dropped || info->cut || !m->ended || probe_missing(info);
}

static void heading(FILE *f, const char *path, const struct hcw_trace_info *info,
		    const struct hcw_model *m)
{
	char name[256], host[80], kernel[80], span[FMT_LEN], driver[48] = "no GPU";

	if (info->n_gpus)
		hcw_escape(driver, sizeof(driver), info->gpu[0].driver,
			   strlen(info->gpu[0].driver));
	fprintf(f, "%s   %s · %s · kernel %s\n", hcw_escape(name, sizeof(name), path, strlen(path)),
		hcw_escape(host, sizeof(host), info->host, strlen(info->host)),
		fmt_duration(span, m->last_ts - m->first_ts),
		hcw_escape(kernel, sizeof(kernel), info->kernel, strlen(info->kernel)));
	fprintf(f, "device     %zu x %s%s\n", info->n_gpus, driver,
		info->simulated ? "  (simulated: stall lengths are the model's)" : "");
}

static void completeness(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m)
{
	char reason[200];
	size_t i;

	if (!report_incomplete(info, m)) {
		fprintf(f, "complete   every needed probe was on, nothing lost\n");
		return;
	}
	fprintf(f, "INCOMPLETE counts are \"at least\"; no pool is cleared by what was not seen\n");
	for (i = 0; i < info->n_probes; i++)
		if (!info->probe[i].active)
			fprintf(f, "           not traced: %s (%s)\n", info->probe[i].point,
				hcw_escape(reason, sizeof(reason), info->probe[i].reason,
					   strlen(info->probe[i].reason)));
	if (m->lost)
		fprintf(f, "           %" PRIu64 " records lost in %zu places\n", (uint64_t)m->lost,
			m->n_holes);
	if (m->damaged)
		fprintf(f, "           %" PRIu64 " damaged parts of the file skipped\n",
			(uint64_t)m->damaged);
	if (m->dropped)
		fprintf(f, "           %" PRIu64 " attempts or episodes not kept: tables full\n",
			(uint64_t)m->dropped);
	if (info->cut || !m->ended)
		fprintf(f, "           the recording was cut: it has no end\n");
}

static __u64 episode_ns(const struct hcw_model *m, const struct hcw_episode *e)
{
	return (e->end ? e->end : m->last_ts) - e->start;
}

static void answer(FILE *f, const struct hcw_model *m)
{
	__u64 total = 0;
	char buf[FMT_LEN];
	size_t i;

	if (!m->n_episodes) {
		fprintf(f,
			"\nNo episode: nothing stopped the GPU queues while this was recorded.\n");
		return;
	}
	for (i = 0; i < m->n_episodes; i++)
		total += episode_ns(m, &m->episodes[i]);
	fprintf(f, "\nThe GPU queues stood still for %s in %zu episode%s.\n",
		fmt_duration(buf, total), m->n_episodes, m->n_episodes == 1 ? "" : "s");
}

static void episode_pool(FILE *f, const struct hcw_model *m, const struct hcw_episode *e)
{
	char buf[FMT_LEN];

	if (e->pool >= 0)
		fprintf(f, " of pool #%d (%s, %s)", e->pool + 1,
			hcw_backing_name(m->pools[e->pool].backing),
			fmt_bytes(buf, m->pools[e->pool].bytes));
	else if (e->hi > e->lo)
		fprintf(f, " of the registered range 0x%" PRIx64 " (%s)", (uint64_t)e->lo,
			fmt_bytes(buf, e->hi - e->lo));
}

static void episode_text(FILE *f, size_t n, const struct hcw_trace_info *info,
			 const struct hcw_model *m, const struct hcw_episode *e)
{
	const struct hcw_attempt *a = e->attempt >= 0 ? &m->attempts[e->attempt] : NULL;
	char at[FMT_LEN], len[FMT_LEN], stall[FMT_LEN], comm[64];

	fprintf(f, "\n%zu  %s  %s%s  process %u  %s\n", n,
		fmt_clock(at, e->start, info->realtime_offset), fmt_duration(len, episode_ns(m, e)),
		e->killed ? " (killed while evicted)"
		: e->end  ? ""
			  : " so far (still open)",
		e->victim, hcw_episode_code(e));
	fprintf(f, "   %s by %s (%u)", hcw_cause_name(e->cause),
		hcw_escape(comm, sizeof(comm), e->started_by.comm, strlen(e->started_by.comm)),
		e->started_by.tgid);
	if (a && a->migrated)
		fprintf(f, " migrated %" PRIu64 " pages", (uint64_t)a->migrated);
	episode_pool(f, m, e);
	fprintf(f, ":\n   every queue stopped for %u restore pass%s, %u thrown away", e->passes,
		e->passes == 1 ? "" : "es", e->passes_thrown);
	if (e->invalidations)
		fprintf(f, "; %" PRIu64 " invalidations", (uint64_t)e->invalidations);
	if (e->worst_stall)
		fprintf(f, "\n   the iteration under way took %s",
			fmt_duration(stall, e->worst_stall));
	fputc('\n', f);
}

static void reasons(FILE *f, unsigned int why)
{
	unsigned int i;
	const char *sep = "";

	for (i = 0; i < HCW_WHY_COUNT; i++)
		if (why & (1u << i)) {
			fprintf(f, "%s%s", sep, hcw_reason_name(1u << i));
			sep = ", ";
		}
}

static void pools(FILE *f, const struct hcw_model *m)
{
	const struct hcw_pool_info *p;
	const char *code;
	char size[FMT_LEN];
	size_t i;

	if (!m->n_pools) {
		fprintf(f, "\nNo pool was announced (hcpool:alloc): verdicts need one.\n");
		return;
	}
	fprintf(f, "\npool  backing     size       hit  verdict\n");
	for (i = 0; i < m->n_pools; i++) {
		p = &m->pools[i];
		code = hcw_pool_code(p);
		fprintf(f, "#%-4zu %-10s %9s %6" PRIu64 "  %s, by %s%s%s\n      ", i + 1,
			hcw_backing_name(p->backing), fmt_bytes(size, p->bytes),
			(uint64_t)p->episodes, hcw_verdict_name(p->verdict),
			hcw_evidence_name(p->evidence), code ? "  " : "", code ? code : "");
		reasons(f, p->reasons);
		fputc('\n', f);
	}
}

static void iterations(FILE *f, const struct hcw_chain *chain, const struct hcw_model *m)
{
	char p50[FMT_LEN], p99[FMT_LEN], max[FMT_LEN];
	size_t i;

	for (i = 0; i < m->n_victims; i++) {
		const struct hcw_victim *v = &m->victims[i];

		if (!v->iterations)
			continue;
		fprintf(f,
			"\niterations of %u: %" PRIu64
			"   p50 %s   p99 %s   max %s ms (percentiles ± 6 %%)\n",
			v->tgid, (uint64_t)v->iterations,
			fmt_ms(p50, hcw_chain_percentile(chain, v->tgid, 50)),
			fmt_ms(p99, hcw_chain_percentile(chain, v->tgid, 99)),
			fmt_ms(max, v->iteration_max));
	}
}

/* What to do about the first finding that has a code. */
static void next_step(FILE *f, const struct hcw_model *m)
{
	const struct hcw_finding_text *t;

	if (!m->n_episodes)
		return;
	t = hcw_finding_by_code(hcw_episode_code(&m->episodes[0]));
	if (t)
		fprintf(f, "\n%s  %s\n   do      %s\n   leaves  %s\n", t->code, t->title, t->remedy,
			t->leaves);
}

void report_text(FILE *f, const char *path, const struct hcw_trace_info *info,
		 const struct hcw_chain *chain)
{
	const struct hcw_model *m = hcw_chain_model(chain);
	size_t i;

	heading(f, path, info, m);
	completeness(f, info, m);
	answer(f, m);
	for (i = 0; i < m->n_episodes && i < MAX_EPISODES_SHOWN; i++)
		episode_text(f, i + 1, info, m, &m->episodes[i]);
	if (m->n_episodes > MAX_EPISODES_SHOWN)
		fprintf(f, "\n   ... and %zu more\n", m->n_episodes - MAX_EPISODES_SHOWN);
	pools(f, m);
	iterations(f, chain, m);
	next_step(f, m);
}
