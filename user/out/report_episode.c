/* SPDX-License-Identifier: BSD-2-Clause */
/* Each episode as a paragraph: who, what it hit, how long and because of whom, who waited. */
#include <inttypes.h>
#include <string.h>
#include "../base/escape.h"
#include "../chain/findings.h"
#include "report_internal.h"

#define MAX_EPISODES_SHOWN   10
#define MAX_COLLATERAL_SHOWN 4
#define INDENT		     3
#define STACK_INDENT	     (INDENT + 7) /* behind "stack  " */
#define STACK_ROOM	     120	  /* columns, of two lines */
#define STACK_ARROW	     " < "
#define STACK_GAP	     "... < "

static double percent(__u64 part, __u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Indices of the longest episodes, longest first; of equal ones the earlier first. */
static size_t longest(const struct hcw_model *m, size_t out[MAX_EPISODES_SHOWN])
{
	size_t i, j, n = 0;

	for (i = 0; i < m->n_episodes; i++) {
		__u64 ns = report_episode_ns(m, &m->episodes[i]);

		if (n == MAX_EPISODES_SHOWN && ns <= report_episode_ns(m, &m->episodes[out[n - 1]]))
			continue;
		if (n < MAX_EPISODES_SHOWN)
			n++;
		for (j = n - 1; j > 0 && report_episode_ns(m, &m->episodes[out[j - 1]]) < ns; j--)
			out[j] = out[j - 1];
		out[j] = i;
	}
	return n;
}

static void add_initiator(struct line *l, const struct hcw_episode *e)
{
	char who[128];

	if (e->initiator.tid)
		line_add(l, ", asked for by %s", report_actor(who, sizeof(who), &e->initiator));
	else if (e->initiator_unknown)
		line_add(l, " (a kernel worker; who asked it to was not seen)");
}

static void add_pages(struct line *l, const struct report *r, const struct hcw_episode *e)
{
	const struct hcw_attempt *a;

	if (e->attempt < 0)
		return;
	a = &r->m->attempts[e->attempt];
	if (a->migrated)
		line_add(l, ", moved %" PRIu64 " page%s", (uint64_t)a->migrated,
			 a->migrated == 1 ? "" : "s");
	if (a->failed)
		line_add(l, ", failed on %" PRIu64, (uint64_t)a->failed);
}

static void add_place(struct line *l, const struct report *r, const struct hcw_episode *e)
{
	char bytes[FMT_LEN];
	const struct hcw_pool_info *p;

	if (e->pool >= 0) {
		p = &r->m->pools[e->pool];
		line_add(l, ", hit pool #%d (%s, %s, 0x%" PRIx64 ")", e->pool + 1,
			 hcw_backing_name(p->backing), fmt_bytes(bytes, p->bytes),
			 (uint64_t)p->ptr);
	} else if (e->hi > e->lo) {
		line_add(l, ", hit the registered range 0x%" PRIx64 " (%s), no pool we know of",
			 (uint64_t)e->lo, fmt_bytes(bytes, e->hi - e->lo));
	} else if (e->trigger <= 1 && !e->before) {
		line_add(l, "; which range it hit was not seen");
	}
}

/* "Every queue stopped for 2 restore passes, 1 of them thrown away." */
static void add_passes(struct line *l, const struct report *r, const struct hcw_episode *e)
{
	const char *sep = ": ";
	int c;

	line_add(l, ". Every queue of the process stopped");
	if (e->passes)
		line_add(l, " for %u restore pass%s", e->passes, e->passes == 1 ? "" : "es");
	if (e->passes == 1 && e->passes_thrown)
		line_add(l, ", which was thrown away");
	else if (e->passes_thrown)
		line_add(l, ", %u of them thrown away", e->passes_thrown);
	if (!e->nested)
		return;
	line_add(l, "; %u more eviction%s came meanwhile", e->nested, e->nested == 1 ? "" : "s");
	for (c = 0; c < HCW_CAUSE_COUNT; c++)
		if (e->nested_causes & (1u << c)) {
			line_add(l, "%s%s", sep, report_cause_words(r, c));
			sep = ", ";
		}
}

static void add_prolongers(struct line *l, const struct report *r, const struct hcw_episode *e)
{
	__u64 whole = report_episode_ns(r->m, e);
	char who[128], ms[FMT_LEN];
	__u32 i;

	for (i = 0; i < e->n_prolonged && i < HCW_MAX_PROLONGERS; i++) {
		const struct hcw_prolonger *p = &e->prolonged_by[i];
		bool same = p->actor.tid == e->started_by.tid && p->cause == e->cause;

		if (same)
			line_add(l, ". It prolonged itself: ");
		else
			line_add(l, ". Prolonged by %s of %s: ", report_cause_words(r, p->cause),
				 report_actor(who, sizeof(who), &p->actor));
		line_add(l, "%.1f pass%s, %s (%.0f %%), %" PRIu64 " %sinvalidation%s", p->passes,
			 p->passes > 0.95 && p->passes < 1.05 ? "" : "es", fmt_duration(ms, p->ns),
			 percent(p->ns, whole), (uint64_t)p->invalidations, same ? "further " : "",
			 p->invalidations == 1 ? "" : "s");
	}
	if (e->prolonged_others)
		line_add(l, ". Further threads prolonged it by %s (%.0f %%)",
			 fmt_duration(ms, e->prolonged_others),
			 percent(e->prolonged_others, whole));
	if (e->prolonged_rest)
		line_add(l, ". %s (%.0f %%) went to passes that nobody is charged with",
			 fmt_duration(ms, e->prolonged_rest), percent(e->prolonged_rest, whole));
	if (!report_traced(r->info, "restore_pass") || !report_traced(r->info, "restore_fault"))
		line_add(l, ". Who prolonged it was not traced");
}

/* Processes of the victim's group that had no episode and waited all the same. */
static void add_collateral(struct line *l, const struct report *r, size_t episode)
{
	__u32 told[MAX_COLLATERAL_SHOWN];
	size_t i, j, n = 0;
	bool more = false;
	char who[128];

	for (i = 0; i < r->m->n_stalls; i++) {
		const struct hcw_stall *s = &r->m->stalls[i];

		if (s->collateral < 0 || (size_t)s->collateral != episode)
			continue;
		for (j = 0; j < n && told[j] != s->victim;)
			j++;
		if (j < n)
			continue;
		if (n == MAX_COLLATERAL_SHOWN) {
			more = true;
			break;
		}
		told[n++] = s->victim;
		line_add(l, "%s%s", n > 1 ? ", " : ". Waited with it (collateral): ",
			 report_process(who, sizeof(who), r->m, s->victim, 0));
	}
	if (more)
		line_add(l, " and others");
}

/* Frames of every stack that say nothing: the way into the kernel, or into its thread. */
static bool is_entry(const char *name, size_t len)
{
	static const char *const entry[] = {
		"entry_SYSCALL_64_after_hwframe",
		"entry_SYSCALL_64",
		"do_syscall_64",
		"x64_sys_call",
		"ret_from_fork",
		"ret_from_fork_asm",
		"kthread",
		"worker_thread",
		"process_one_work",
		"asm_sysvec_apic_timer_interrupt",
	};
	size_t i;

	for (i = 0; i < sizeof(entry) / sizeof(entry[0]); i++)
		if (strlen(entry[i]) == len && !strncmp(entry[i], name, len))
			return true;
	return false;
}

/* "symbol+0x1f [module]" as "symbol". */
static void frame_name(char *buf, size_t size, const char *name)
{
	hcw_escape(buf, size, name, strcspn(name, "+ "));
}

/* Innermost frames as far as they fit, a gap, and the outermost one that says something. */
static void stack_line(const struct report *r, const struct hcw_episode *e)
{
	const char *frame[HCW_STACK_DEPTH];
	__u32 depth = 0, i, n = 0;
	const char *name = e->stack < 0 ? NULL : hcw_chain_stack(r->chain, e->stack, &depth);
	char one[NAME_MAX_SHOWN], last[NAME_MAX_SHOWN];
	struct line l = {.n = 0};
	size_t tail;

	for (; name && n < depth && n < HCW_STACK_DEPTH; name += strlen(name) + 1)
		frame[n++] = name;
	while (n > 1 && is_entry(frame[n - 1], strcspn(frame[n - 1], "+ ")))
		n--;
	if (!n)
		return;
	frame_name(last, sizeof(last), frame[n - 1]);
	tail = strlen(STACK_GAP) + strlen(last);
	for (i = 0; i + 1 < n; i++) {
		frame_name(one, sizeof(one), frame[i]);
		if (l.n + strlen(one) + strlen(STACK_ARROW) + tail > STACK_ROOM) {
			line_add(&l, STACK_GAP);
			break;
		}
		line_add(&l, "%s" STACK_ARROW, one);
	}
	line_add(&l, "%s", last);
	fprintf(r->f, "%*sstack  ", INDENT, "");
	fmt_wrap_at(r->f, STACK_INDENT, l.text);
}

/* Who and why, as far as it was seen. */
static void add_start(struct line *l, const struct report *r, const struct hcw_episode *e)
{
	char who[128], len[FMT_LEN];

	if (e->before) {
		line_add(l,
			 "It began before the recording started: at least %s; who stopped them was "
			 "not seen",
			 fmt_duration(len, report_episode_ns(r->m, e)));
		return;
	}
	report_actor(who, sizeof(who), &e->started_by);
	if (e->cause == HCW_CAUSE_UNKNOWN)
		line_add(l, "%s did it; how was not seen%s", who,
			 report_traced(r->info, "migrate") ? "" : " (migrations were not traced)");
	else
		line_add(l, "%s by %s%s", report_cause_words(r, e->cause), who,
			 e->direct_compaction ? ", direct compaction" : "");
	add_initiator(l, e);
	add_pages(l, r, e);
	add_place(l, r, e);
}

/* A stall is unusually long; any iteration may overlap an episode. */
static void add_iterations(struct line *l, const struct hcw_episode *e)
{
	char len[FMT_LEN];

	if (!e->worst_stall)
		return;
	if (e->stalls)
		line_add(l, ". %u iteration%s stalled; the longest that overlaps it took %s",
			 e->stalls, PLURAL(e->stalls), fmt_duration(len, e->worst_stall));
	else
		line_add(l, ". The longest iteration that overlaps it took %s",
			 fmt_duration(len, e->worst_stall));
}

static void episode_text(const struct report *r, size_t number, size_t index)
{
	const struct hcw_episode *e = &r->m->episodes[index];
	char at[FMT_LEN], len[FMT_LEN], who[128];
	struct line l = {.n = 0};

	fprintf(r->f, "\n%-*zu%s  %s%s%s  %s  %s\n", INDENT, number,
		fmt_clock(at, e->start, r->info->realtime_offset), e->before ? "at least " : "",
		fmt_duration(len, report_episode_ns(r->m, e)), e->end ? "" : " so far",
		report_process(who, sizeof(who), r->m, e->victim, e->mm), hcw_episode_code(e));
	add_start(&l, r, e);
	add_passes(&l, r, e);
	add_prolongers(&l, r, e);
	add_iterations(&l, e);
	add_collateral(&l, r, index);
	if (e->killed)
		line_add(&l, ". The process died while its queues were stopped");
	if (!e->end)
		line_add(&l, ". It had not ended when the recording did");
	line_add(&l, ".");
	fprintf(r->f, "%*s", INDENT, "");
	fmt_wrap_at(r->f, INDENT, l.text);
	stack_line(r, e);
}

void report_episodes(const struct report *r)
{
	size_t worst[MAX_EPISODES_SHOWN], n = longest(r->m, worst), i;

	for (i = 0; i < n; i++)
		episode_text(r, i + 1, worst[i]);
	if (r->m->n_episodes > n)
		fprintf(r->f,
			"\n%*sand %zu more stall%s, none longer (all: hcwatch report --json)\n",
			INDENT, "", r->m->n_episodes - n, PLURAL(r->m->n_episodes - n));
}
