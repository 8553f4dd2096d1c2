/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of `hcwatch report`: what was recorded, what was not seen, the answer in sentences and
 * what to do; then the evidence (report_episode.c, report_tables.c) and the next step.
 */
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include "../base/escape.h"
#include "../chain/findings.h"
#include "report_internal.h"

#define LABEL_WIDTH 12

void line_add(struct line *l, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(l->text + l->n, sizeof(l->text) - l->n, fmt, args);
	va_end(args);
	if (n > 0)
		l->n += (size_t)n;
	if (l->n >= sizeof(l->text))
		l->n = sizeof(l->text) - 1;
}

void report_bold(const struct report *r, const char *word, int width)
{
	int pad = width - (int)strlen(word);

	fprintf(r->f, "%s%s%s%*s", r->bold ? "\033[1m" : "", word, r->bold ? "\033[0m" : "",
		pad > 0 ? pad : 0, "");
}

void report_labelled(const struct report *r, const char *label, const char *text)
{
	report_bold(r, label, LABEL_WIDTH);
	fmt_wrap_at(r->f, LABEL_WIDTH, text);
}

const char *report_actor(char *buf, size_t size, const struct hcw_actor *a)
{
	char comm[NAME_MAX_SHOWN];

	hcw_escape(comm, sizeof(comm), a->comm, sizeof(a->comm));
	if (!a->tid)
		snprintf(buf, size, "a thread that was not seen");
	else if (a->tid == a->tgid || !a->tgid)
		snprintf(buf, size, "%s (%u)", comm[0] ? comm : "process", a->tid);
	else
		snprintf(buf, size, "%s (thread %u of %u)", comm[0] ? comm : "a thread", a->tid,
			 a->tgid);
	return buf;
}

const char *report_process(char *buf, size_t size, const struct hcw_model *m, __u32 tgid, __u64 mm)
{
	const struct hcw_victim *v = report_victim(m, tgid, mm);
	char comm[NAME_MAX_SHOWN] = "";

	if (v)
		hcw_escape(comm, sizeof(comm), v->comm, sizeof(v->comm));
	snprintf(buf, size, "%s (%u)", comm[0] ? comm : "process", tgid);
	return buf;
}

const char *report_cause_words(const struct report *r, enum hcw_cause c)
{
	switch (c) {
	case HCW_CAUSE_UNKNOWN:
		return report_traced(r->info, "migrate")
			       ? "something that was not seen"
			       : "something that was not seen (migrations were not traced)";
	case HCW_CAUSE_OTHER_INVALIDATION:
		return "a change of the mapping (no migration)";
	default:
		return hcw_cause_name(c);
	}
}

/* "2 x amdgpu", one entry per driver. */
static void add_gpus(struct line *l, const struct hcw_trace_info *info)
{
	char driver[NAME_MAX_SHOWN];
	size_t i, j, same;

	for (i = 0; i < info->n_gpus; i++) {
		for (j = 0; j < i && strcmp(info->gpu[i].driver, info->gpu[j].driver);)
			j++;
		if (j < i)
			continue;
		for (same = 0; j < info->n_gpus; j++)
			same += !strcmp(info->gpu[i].driver, info->gpu[j].driver);
		line_add(l, " · %zu × %s", same,
			 hcw_escape(driver, sizeof(driver), info->gpu[i].driver,
				    strlen(info->gpu[i].driver)));
	}
	if (!info->n_gpus)
		line_add(l, " · no GPU seen");
}

static void add_whom(struct line *l, const struct report *r)
{
	char process[128];
	__u32 tgid = r->info->target;

	if (!tgid && r->m->n_victims == 1)
		tgid = r->m->victims[0].tgid;
	if (!tgid && !r->m->n_victims)
		line_add(l, " · no process seen");
	else if (tgid)
		line_add(l, " · %s", report_process(process, sizeof(process), r->m, tgid, 0));
	else
		line_add(l, " · %zu processes", r->m->n_victims);
}

/* When it began; the times below it are of this day and zone. */
static void add_date(struct line *l, const struct report *r)
{
	time_t s = (time_t)((__s64)(r->m->first_ts + (__u64)r->info->realtime_offset) / 1000000000);
	char date[64];
	struct tm tm;

	/* without a clock the times are since boot */
	if (!r->info->realtime_offset || !localtime_r(&s, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %Z", &tm))
		return;
	line_add(l, "%s · ", date);
}

static void heading(const struct report *r)
{
	char name[NAME_MAX_SHOWN], host[NAME_MAX_SHOWN], kernel[NAME_MAX_SHOWN], span[FMT_LEN];
	const char *slash = strrchr(r->path, '/');
	const char *base = slash && slash[1] ? slash + 1 : r->path;
	struct line l = {.n = 0};

	hcw_escape(name, sizeof(name), base, strlen(base));
	hcw_escape(host, sizeof(host), r->info->host, strlen(r->info->host));
	hcw_escape(kernel, sizeof(kernel), r->info->kernel, strlen(r->info->kernel));
	line_add(&l, "%s%s", host, host[0] ? " · " : "");
	add_date(&l, r);
	line_add(&l, "%s", fmt_duration(span, r->m->last_ts - r->m->first_ts));
	add_whom(&l, r);
	add_gpus(&l, r->info);
	if (kernel[0])
		line_add(&l, " · kernel %s", kernel);
	if (strlen(name) < LABEL_WIDTH) {
		report_labelled(r, name, l.text);
	} else {
		report_bold(r, name, 0);
		fputc('\n', r->f);
		report_labelled(r, "", l.text);
	}
	if (r->info->simulated)
		report_labelled(r, "SIMULATED",
				"no real GPU: how long queues stand still is the test GPU's model");
}

/* "All 3 began with compaction" or "2 began with compaction, 1 with move_pages". */
static void add_starts(struct line *l, const struct report *r, const struct report_cause *cause,
		       size_t n)
{
	size_t i, shown = 0, total = r->m->n_episodes;
	__u64 left = total;

	for (i = 0; i < n && shown < 3; i++) {
		if (cause[i].prolonged)
			continue;
		left -= cause[i].episodes;
		if (cause[i].episodes == total)
			line_add(l,
				 total == 1   ? " It began with %s"
				 : total == 2 ? " Both began with %s"
					      : " All began with %s",
				 report_cause_words(r, cause[i].cause));
		else
			line_add(l, "%s%llu %s %s", shown ? ", " : " ",
				 (unsigned long long)cause[i].episodes,
				 shown ? "with" : "began with",
				 report_cause_words(r, cause[i].cause));
		shown++;
	}
	if (shown && left && left < total)
		line_add(l, ", %llu with other causes", (unsigned long long)left);
}

static bool started_any(const struct report_cause *cause, size_t n, enum hcw_cause c)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cause[i].cause == c && !cause[i].prolonged)
			return true;
	return false;
}

static void add_how_many(struct line *l, __u64 n, size_t total)
{
	if (total == 1)
		line_add(l, "it");
	else if (n == total)
		line_add(l, total == 2 ? "both" : "all of them");
	else if (n == 1)
		line_add(l, "one");
	else
		line_add(l, "%llu of them", (unsigned long long)n);
}

/* "; NUMA scanning prolonged one", or ", which also prolonged it" of the only stall. */
static void add_prolonged(struct line *l, const struct report *r, const struct report_cause *cause,
			  size_t n)
{
	const char *sep = "; ";
	size_t i;

	for (i = 0; i < n; i++) {
		const struct report_cause *c = &cause[i];
		bool also = started_any(cause, n, c->cause);

		if (!c->prolonged)
			continue;
		if (also && r->m->n_episodes == 1 && sep[0] == ';') {
			line_add(l, ", which also prolonged it");
		} else {
			line_add(l, "%s%s %sprolonged ", sep, report_cause_words(r, c->cause),
				 also ? "also " : "");
			add_how_many(l, c->episodes, r->m->n_episodes);
		}
		sep = ", ";
	}
	line_add(l, ".");
}

static void add_ends(struct line *l, const struct hcw_model *m)
{
	size_t i, open = 0, killed = 0;

	for (i = 0; i < m->n_episodes; i++) {
		open += !m->episodes[i].end;
		killed += m->episodes[i].killed;
	}
	if (killed)
		line_add(l, " In %zu the process died while its queues were stopped.", killed);
	if (report_begun_before(m))
		line_add(l, " %zu began before the recording did.", report_begun_before(m));
	if (open)
		line_add(l, " %zu had not ended when the recording did.", open);
}

static void say_stalled(const struct report *r)
{
	struct report_cause cause[REPORT_CAUSES];
	size_t n = report_causes(r->m, cause), i, victims = 0;
	struct line l = {.n = 0};
	char total[FMT_LEN];

	for (i = 0; i < r->m->n_victims; i++)
		victims += r->m->victims[i].episodes > 0;
	line_add(&l, "Your GPUs stood still for %s%s in %zu stall%s",
		 report_incomplete(r->info, r->m) || report_begun_before(r->m) ? "at least " : "",
		 fmt_duration(total, report_stalled_ns(r->m)), r->m->n_episodes,
		 PLURAL(r->m->n_episodes));
	if (victims > 1)
		line_add(&l, " (of %zu processes, added up)", victims);
	line_add(&l, ".");
	add_starts(&l, r, cause, n);
	add_prolonged(&l, r, cause, n);
	add_ends(&l, r->m);
	fmt_wrap(r->f, "", l.text);
}

static void say_nothing_stalled(const struct report *r)
{
	struct line l = {.n = 0};

	if (report_not_at_kfd(r->info, r->m))
		line_add(&l, "No episode was seen, and no process that could have one: this says "
			     "nothing either way.");
	else if (report_incomplete(r->info, r->m))
		line_add(&l, "No episode was seen, but not everything was: this says nothing "
			     "either way.");
	else
		line_add(&l, "No episode: nothing stopped the GPU queues while this was recorded, "
			     "and every needed probe was on.");
	if (r->m->n_stalls)
		line_add(&l,
			 " %zu iteration%s took unusually long without a stopped queue: look "
			 "elsewhere for %s cause.",
			 r->m->n_stalls, PLURAL(r->m->n_stalls),
			 r->m->n_stalls == 1 ? "its" : "their");
	fmt_wrap(r->f, "", l.text);
}

/* The remedy of what cost most, where it is looked for: under the answer. */
static void to_do(const struct report *r)
{
	const struct hcw_finding_text *t;
	const char *code[REPORT_CAUSES];

	if (!report_codes(r->m, code))
		return;
	t = hcw_finding_by_code(code[0]);
	report_labelled(r, "what to do", t->remedy);
}

static void next_step(const struct report *r)
{
	const char *code[REPORT_CAUSES];
	size_t i, n = report_codes(r->m, code);
	struct line l = {.n = 0};

	for (i = 0; i < n; i++)
		line_add(&l, "%s%s",
			 i == 0	  ? "hcwatch explain "
			 : i == 1 ? "  (also: "
				  : ", ",
			 code[i]);
	if (n > 1)
		line_add(&l, ")");
	if (!n && report_not_at_kfd(r->info, r->m))
		line_add(&l, "record the process that uses the GPU: sudo hcwatch record -o FILE -p "
			     "PID");
	else if (!n && report_incomplete(r->info, r->m))
		line_add(&l, "record again with all of it: sudo hcwatch record -o FILE -p PID");
	else if (!n)
		line_add(&l, "hcwatch lab  (moves pages of pools of its own on purpose)");
	fputc('\n', r->f);
	report_labelled(r, "Next:", l.text);
}

void report_text(FILE *f, const char *path, const struct hcw_trace_info *info,
		 const struct hcw_chain *chain, bool bold)
{
	const struct report r = {
		.f = f,
		.path = path,
		.info = info,
		.chain = chain,
		.m = hcw_chain_model(chain),
		.bold = bold,
	};

	heading(&r);
	report_seen(&r);
	fputc('\n', f);
	if (r.m->n_episodes)
		say_stalled(&r);
	else
		say_nothing_stalled(&r);
	to_do(&r);
	report_episodes(&r);
	report_cause_table(&r);
	report_iterations(&r);
	report_pools(&r);
	next_step(&r);
}
