/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a report: what each cause cost, what iterations took with and without it, pools. */
#include <inttypes.h>
#include <string.h>
#include "../base/escape.h"
#include "../chain/findings.h"
#include "report_internal.h"

#define MAX_POOLS_SHOWN	    20
#define MAX_PROCESSES_SHOWN 16

static void cause_row(const struct report *r, const struct report_cause *c, __u64 whole)
{
	char name[64], ns[FMT_LEN], worst[FMT_LEN] = "-";

	snprintf(name, sizeof(name), "%s%s", hcw_cause_name(c->cause),
		 c->prolonged ? " (prolonged)" : "");
	if (c->worst)
		fmt_duration(worst, c->worst);
	fprintf(r->f, "%-36s %6" PRIu64 " %12s %5.0f %% %12s\n", name, (uint64_t)c->episodes,
		fmt_duration(ns, c->ns), whole ? 100.0 * (double)c->ns / (double)whole : 0, worst);
}

void report_cause_table(const struct report *r)
{
	struct report_cause cause[REPORT_CAUSES];
	size_t i, n = report_causes(r->m, cause);
	__u64 whole = report_stalled_ns(r->m), rest = 0, with_rest = 0;
	char ns[FMT_LEN];

	if (!n)
		return;
	fputc('\n', r->f);
	report_bold(r, "cause", 36);
	fprintf(r->f, " %6s %12s %7s %12s\n", "stalls", "stalled", "share", "worst");
	for (i = 0; i < n; i++)
		cause_row(r, &cause[i], whole);
	for (i = 0; i < r->m->n_episodes; i++) {
		rest += r->m->episodes[i].prolonged_rest;
		with_rest += r->m->episodes[i].prolonged_rest > 0;
	}
	if (rest)
		fprintf(r->f, "%-36s %6" PRIu64 " %12s %5.0f %% %12s\n",
			"not charged to anybody (prolonged)", (uint64_t)with_rest,
			fmt_duration(ns, rest), whole ? 100.0 * (double)rest / (double)whole : 0,
			"-");
}

/* Milliseconds, with as many digits as the bucket precision is worth. */
static const char *ms(char *buf, __u64 ns)
{
	double v = (double)ns / 1e6;

	snprintf(buf, FMT_LEN, "%.*f", v < 100 ? 2 : v < 1000 ? 1 : 0, v);
	return buf;
}

static void quantiles(const struct report *r, const char *label, const __u64 v[4])
{
	char p50[FMT_LEN], p99[FMT_LEN], p999[FMT_LEN], max[FMT_LEN];

	fprintf(r->f, "   %-22s p50 %s · p99 %s · p99.9 %s · max %s ms\n", label, ms(p50, v[0]),
		ms(p99, v[1]), ms(p999, v[2]), ms(max, v[3]));
}

static void iterations_of(const struct report *r, const struct hcw_victim *v)
{
	char comm[NAME_MAX_SHOWN], label[64];
	__u64 all[4] = {
		hcw_chain_percentile(r->chain, v->tgid, 50),
		hcw_chain_percentile(r->chain, v->tgid, 99),
		hcw_chain_percentile(r->chain, v->tgid, 99.9),
		v->iteration_max,
	};
	__u64 calm[4];

	hcw_escape(comm, sizeof(comm), v->comm, sizeof(v->comm));
	snprintf(label, sizeof(label), "iterations of %u", v->tgid);
	report_bold(r, label, 0);
	fprintf(r->f, "%s%s%s: %" PRIu64 " (percentiles ± 6 %%)\n", comm[0] ? " (" : "", comm,
		comm[0] ? ")" : "", (uint64_t)v->iterations);
	quantiles(r, r->m->n_episodes ? "with the stalls" : "as they were", all);
	calm[0] = hcw_chain_percentile_calm(r->chain, v->tgid, 50, &calm[3]);
	/* one that had no stall may have waited for another's */
	if (!v->episodes && calm[3] == v->iteration_max)
		return;
	calm[1] = hcw_chain_percentile_calm(r->chain, v->tgid, 99, NULL);
	calm[2] = hcw_chain_percentile_calm(r->chain, v->tgid, 99.9, NULL);
	quantiles(r, "without these", calm);
}

void report_iterations(const struct report *r)
{
	size_t i, shown = 0, more = 0;

	for (i = 0; i < r->m->n_victims; i++) {
		if (!r->m->victims[i].iterations)
			continue;
		if (shown == MAX_PROCESSES_SHOWN) {
			more++;
			continue;
		}
		if (!shown++)
			fputc('\n', r->f);
		iterations_of(r, &r->m->victims[i]);
	}
	if (more)
		fprintf(r->f, "and %zu more process%s with iterations\n", more,
			more == 1 ? "" : "es");
	if (!shown)
		fprintf(r->f, "\nNo iteration was marked: how long the application waited is not "
			      "known.\n");
}

static void add_reasons(struct line *l, unsigned int why)
{
	unsigned int i;

	for (i = 0; i < HCW_WHY_COUNT; i++)
		if (why & (1u << i))
			line_add(l, "%s%s", l->n ? ", " : "", hcw_reason_name(1u << i));
}

static void pool_row(const struct report *r, size_t i)
{
	const struct hcw_pool_info *p = &r->m->pools[i];
	const char *code = hcw_pool_code(p);
	char size[FMT_LEN], path[NAME_MAX_SHOWN];
	struct line l = {.n = 0};

	fprintf(r->f, "#%-4zu %8u  %-10s %10s %5" PRIu64 "  %s, by %s%s%s\n", i + 1, p->tgid,
		hcw_backing_name(p->backing), fmt_bytes(size, p->bytes), (uint64_t)p->episodes,
		hcw_verdict_name(p->verdict), hcw_evidence_name(p->evidence), code ? "  " : "",
		code ? code : "");
	add_reasons(&l, p->reasons);
	if (p->path[0])
		line_add(&l, "; %s", hcw_escape(path, sizeof(path), p->path, sizeof(p->path)));
	fprintf(r->f, "%6s", "");
	fmt_wrap_at(r->f, 6, l.text);
}

/* Hit ones before exposed ones before those nobody can tell of. */
static int interest(const struct hcw_pool_info *p)
{
	if (p->episodes)
		return 3;
	if (p->verdict == HCW_VERDICT_EXPOSED)
		return 2;
	return p->verdict == HCW_VERDICT_INCONCLUSIVE;
}

static bool more_interesting(const struct hcw_pool_info *a, const struct hcw_pool_info *b)
{
	if (interest(a) != interest(b))
		return interest(a) > interest(b);
	return a->episode_ns > b->episode_ns;
}

/* Indices of the pools to show, best first; of equal ones the earlier first. */
static size_t most_interesting(const struct hcw_model *m, size_t out[MAX_POOLS_SHOWN])
{
	const struct hcw_pool_info *p = m->pools;
	size_t i, j, n = 0;

	for (i = 0; i < m->n_pools; i++) {
		if (n == MAX_POOLS_SHOWN && !more_interesting(&p[i], &p[out[n - 1]]))
			continue;
		if (n < MAX_POOLS_SHOWN)
			n++;
		for (j = n - 1; j > 0 && more_interesting(&p[i], &p[out[j - 1]]); j--)
			out[j] = out[j - 1];
		out[j] = i;
	}
	return n;
}

/* Stalls by a notifier that hit memory nobody announced as a pool: held against no pool. */
static void residual(const struct report *r)
{
	size_t i, n = 0, unseen = 0, before = report_begun_before(r->m);
	__u64 ns = 0;
	char total[FMT_LEN];
	struct line l = {.n = 0};

	for (i = 0; i < r->m->n_episodes; i++) {
		const struct hcw_episode *e = &r->m->episodes[i];

		if (e->before || e->trigger > 1 || e->pool >= 0)
			continue;
		n++;
		ns += report_episode_ns(r->m, e);
		unseen += e->hi <= e->lo;
	}
	if (n)
		line_add(&l, "%zu stall%s (%s) hit registered memory outside these pools", n,
			 n == 1 ? "" : "s", fmt_duration(total, ns));
	else
		line_add(&l, "no stall%s hit registered memory outside these pools",
			 before ? " that was seen from its start" : "");
	if (unseen)
		line_add(&l, "; of %zu the range was not seen", unseen);
	if (before)
		line_add(&l, "; what %zu hit that began before the recording is not known", before);
	fmt_wrap(r->f, "residual exposure: ", l.text);
}

void report_pools(const struct report *r)
{
	size_t pool[MAX_POOLS_SHOWN], shown, i;

	if (!r->m->n_pools) {
		fprintf(r->f, "\nNo pool was announced (hcpool:alloc): verdicts need one.\n");
		return;
	}
	fputc('\n', r->f);
	report_bold(r, "pool", 5);
	fprintf(r->f, " %8s  %-10s %10s %5s  %s\n", "process", "backing", "size", "hit",
		"verdict on page migration");
	shown = most_interesting(r->m, pool);
	for (i = 0; i < shown; i++)
		pool_row(r, pool[i]);
	if (r->m->n_pools > shown)
		fprintf(r->f, "and %zu more pool%s (all: hcwatch report --json)\n",
			r->m->n_pools - shown, PLURAL(r->m->n_pools - shown));
	residual(r);
}
