/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the report only. */
#ifndef HCW_REPORT_INTERNAL_H
#define HCW_REPORT_INTERNAL_H

#include "fmt.h"
#include "report.h"

#define NAME_MAX_SHOWN 40 /* bytes of a name of others, escaped; longer ones end in "..." */
#define REPORT_CAUSES  (2 * HCW_CAUSE_COUNT)
#define REPORT_MISSING (HCW_MAX_PROBES + 8)

/* ---- report.c: what text and JSON both need ---- */

/* A probe point that was not attached. */
struct report_missing {
	const char *point, *reason;
	bool needed; /* without it nothing is ever "clean" */
};

/* What one cause did, once as the start of episodes and once as what prolonged them. */
struct report_cause {
	enum hcw_cause cause;
	bool prolonged;
	__u64 episodes, ns;
	__u64 worst; /* longest episode it started, 0 when it prolonged */
};

/* Whether a probe point was attached. */
bool report_traced(const struct hcw_trace_info *info, const char *point);
size_t report_missing(const struct hcw_trace_info *info, struct report_missing out[REPORT_MISSING]);
/* Ranked by time. */
size_t report_causes(const struct hcw_model *m, struct report_cause out[REPORT_CAUSES]);
/* Codes of the causes, ranked by their time, then those of exposed pools; each once. */
size_t report_codes(const struct hcw_model *m, const char *out[REPORT_CAUSES]);
__u64 report_episode_ns(const struct hcw_model *m, const struct hcw_episode *e);
/* Marks of iterations without their other one. */
__u64 report_unpaired_marks(const struct hcw_model *m);
size_t report_begun_before(const struct hcw_model *m); /* how many episodes began before it */
__u64 report_stalled_ns(const struct hcw_model *m);    /* sum over episodes */
/* The process as of that address space (0: any); NULL when it was never named. */
const struct hcw_victim *report_victim(const struct hcw_model *m, __u32 tgid, __u64 mm);
/* Whether a hole is only the torn end of a cut file, which is told as such. */
bool report_hole_is_cut(const struct hcw_trace_info *info, const struct hcw_model *m, size_t hole);
const char *report_source_name(__u32 record_type);

/* ---- report_text.c and the parts of its text ---- */

struct report {
	FILE *f;
	const char *path;
	const struct hcw_trace_info *info;
	const struct hcw_chain *chain;
	const struct hcw_model *m;
	bool bold;
};

/* A line under construction; what does not fit is left away. */
struct line {
	char text[2048];
	size_t n;
};

/* "s" unless there is one of it. */
#define PLURAL(n) ((n) == 1 ? "" : "s")

void line_add(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A word set off as a heading, padded to `width`. */
void report_bold(const struct report *r, const char *word, int width);
/* `label` in the first 12 columns, then the text, wrapped. */
void report_labelled(const struct report *r, const char *label, const char *text);
/* "kcompactd0 (121)", "mover (thread 159 of 158)". buf has at least 128 bytes. */
const char *report_actor(char *buf, size_t size, const struct hcw_actor *a);
/* "server (100)" */
const char *report_process(char *buf, size_t size, const struct hcw_model *m, __u32 tgid, __u64 mm);
/* A cause as it stands in a sentence; claims no more than was traced. */
const char *report_cause_words(const struct report *r, enum hcw_cause c);

void report_seen(const struct report *r);     /* report_seen.c: what was and was not seen */
void report_episodes(const struct report *r); /* report_episode.c */
void report_cause_table(const struct report *r);
void report_iterations(const struct report *r);
void report_pools(const struct report *r); /* report_tables.c */

#endif
