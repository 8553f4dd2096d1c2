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

static void missing_probe(FILE *f, const struct hcw_probe_info *p)
{
	char raw[256], line[512];

	snprintf(raw, sizeof(raw), "not traced: %s (%s)", p->point, p->reason);
	fmt_wrap(f, "           ", hcw_escape(line, sizeof(line), raw, strlen(raw)));
}

static void completeness(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m)
{
	size_t i;

	if (!report_incomplete(info, m)) {
		fprintf(f, "complete   every needed probe was on, nothing lost\n");
		return;
	}
	fprintf(f, "INCOMPLETE counts are \"at least\"; no pool is cleared by what was not seen\n");
	for (i = 0; i < info->n_probes; i++)
		if (!info->probe[i].active)
			missing_probe(f, &info->probe[i]);
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

static void answer(FILE *f, const struct hcw_trace_info *info, const struct hcw_model *m)
{
	__u64 total = 0;
	char buf[FMT_LEN];
	size_t i;

	if (!m->n_episodes && report_incomplete(info, m)) {
		fprintf(f,
			"\nNo episode was seen, but not everything was: this says nothing either way.\n");
		return;
	}
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

static int episode_pool(char *buf, size_t size, const struct hcw_model *m,
			const struct hcw_episode *e)
{
	char bytes[FMT_LEN];

	if (e->pool >= 0)
		return snprintf(buf, size, " of pool #%d (%s, %s)", e->pool + 1,
				hcw_backing_name(m->pools[e->pool].backing),
				fmt_bytes(bytes, m->pools[e->pool].bytes));
	if (e->hi > e->lo)
		return snprintf(buf, size, " of the registered range 0x%" PRIx64 " (%s)",
				(uint64_t)e->lo, fmt_bytes(bytes, e->hi - e->lo));
	return 0;
}

static void episode_text(FILE *f, size_t n, const struct hcw_trace_info *info,
			 const struct hcw_model *m, const struct hcw_episode *e)
{
	const struct hcw_attempt *a = e->attempt >= 0 ? &m->attempts[e->attempt] : NULL;
	char at[FMT_LEN], len[FMT_LEN], stall[FMT_LEN], comm[64], line[512];
	int n_line;

	fprintf(f, "\n%zu  %s  %s%s  process %u  %s\n", n,
		fmt_clock(at, e->start, info->realtime_offset), fmt_duration(len, episode_ns(m, e)),
		e->killed ? " (killed while evicted)"
		: e->end  ? ""
			  : " so far (still open)",
		e->victim, hcw_episode_code(e));
	n_line = snprintf(
		line, sizeof(line), "%s by %s (%u)", hcw_cause_name(e->cause),
		hcw_escape(comm, sizeof(comm), e->started_by.comm, strlen(e->started_by.comm)),
		e->started_by.tgid);
	if (a && a->migrated)
		n_line += snprintf(line + n_line, sizeof(line) - (size_t)n_line,
				   " migrated %" PRIu64 " pages", (uint64_t)a->migrated);
	n_line += episode_pool(line + n_line, sizeof(line) - (size_t)n_line, m, e);
	n_line += snprintf(line + n_line, sizeof(line) - (size_t)n_line,
			   ": every queue stopped for %u restore pass%s, %u thrown away", e->passes,
			   e->passes == 1 ? "" : "es", e->passes_thrown);
	if (e->invalidations)
		n_line += snprintf(line + n_line, sizeof(line) - (size_t)n_line,
				   "; %" PRIu64 " invalidations", (uint64_t)e->invalidations);
	if (e->worst_stall)
		snprintf(line + n_line, sizeof(line) - (size_t)n_line,
			 "; the iteration under way took %s", fmt_duration(stall, e->worst_stall));
	fmt_wrap(f, "   ", line);
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
	if (!t)
		return;
	fprintf(f, "\n%s  %s\n", t->code, t->title);
	fmt_wrap(f, "   do      ", t->remedy);
	fmt_wrap(f, "   leaves  ", t->leaves);
}

void report_text(FILE *f, const char *path, const struct hcw_trace_info *info,
		 const struct hcw_chain *chain)
{
	const struct hcw_model *m = hcw_chain_model(chain);
	size_t i;

	heading(f, path, info, m);
	completeness(f, info, m);
	answer(f, info, m);
	for (i = 0; i < m->n_episodes && i < MAX_EPISODES_SHOWN; i++)
		episode_text(f, i + 1, info, m, &m->episodes[i]);
	if (m->n_episodes > MAX_EPISODES_SHOWN)
		fprintf(f, "\n   ... and %zu more\n", m->n_episodes - MAX_EPISODES_SHOWN);
	pools(f, m);
	iterations(f, chain, m);
	next_step(f, m);
}
