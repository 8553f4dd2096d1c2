/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of `hcwatch doctor --probes`: the plan, what stands in its way, what each right buys. */
#include <string.h>
#include "../base/escape.h"
#include "doctor.h"
#include "fmt.h"

static void answer(FILE *f, const struct doctor_probes *p, bool bold)
{
	size_t needed = doctor_needed(p, false), active = doctor_needed(p, true), i, all = 0;
	enum hcw_exit code = doctor_probes_exit(p);
	const char *word = code == HCW_EXIT_OK		 ? "COMPLETE"
			   : code == HCW_EXIT_PERMISSION ? "DENIED"
							 : "INCOMPLETE";

	for (i = 0; i < p->n_probes; i++)
		all += p->probe[i].active;
	fprintf(f, bold ? "\033[1m%s\033[0m" : "%s", word);
	fprintf(f, "  %zu of %zu needed points can be traced here, %zu of %zu in all\n", active,
		needed, all, p->n_probes);
}

/* The kernel's own words may come from anywhere: escaped. */
static void wrapped(FILE *f, size_t indent, const char *text)
{
	char safe[1024];

	fprintf(f, "%*s", (int)indent, "");
	fmt_wrap_at(f, indent, hcw_escape(safe, sizeof(safe), text, strlen(text)));
}

static void row(FILE *f, const struct hcw_probe_info *e, bool needed)
{
	char point[48], tier[24], target[96];

	fprintf(f, "%-15s %-6s %-7s ", hcw_escape(point, sizeof(point), e->point, strlen(e->point)),
		needed ? "yes" : "", hcw_escape(tier, sizeof(tier), e->tier, strlen(e->tier)));
	fmt_wrap_at(f, 31,
		    e->target[0] ? hcw_escape(target, sizeof(target), e->target, strlen(e->target))
				 : "-");
	if (e->reason[0])
		wrapped(f, 4, e->reason);
}

static void table(FILE *f, const struct doctor_probes *p)
{
	size_t i;

	fprintf(f, "\n%-15s %-6s %-7s %s\n", "point", "needed", "tier", "attached to");
	for (i = 0; i < p->n_probes; i++)
		row(f, &p->probe[i], p->needed[i]);
}

static void check_line(FILE *f, const struct doctor_check *c, bool bold)
{
	const struct hcw_finding_text *t = c->code ? hcw_finding_by_code(c->code) : NULL;
	char value[96], head[160];

	snprintf(head, sizeof(head), "%-8s %s%s%s", doctor_bearing_name(c->bearing), c->name,
		 c->value[0] ? " = " : "",
		 hcw_escape(value, sizeof(value), c->value, strlen(c->value)));
	fprintf(f, bold && c->bearing == DOCTOR_BLOCKS ? "\033[1m%s\033[0m\n" : "%s\n", head);
	wrapped(f, 9, c->means);
	if (t) {
		char text[1024];

		snprintf(text, sizeof(text), "%s: %s", t->code, t->remedy);
		wrapped(f, 9, text);
	}
}

static void caps(FILE *f, const struct doctor_probes *p)
{
	size_t i;

	fprintf(f, "\ncapability           here  what it buys\n");
	for (i = 0; i < p->n_caps; i++) {
		fprintf(f, "%-20s %-4s  ", p->cap[i].name, p->cap[i].have ? "yes" : "no");
		fmt_wrap_at(f, 27, p->cap[i].buys);
	}
}

void doctor_probes_text(FILE *f, const struct doctor_probes *p, bool bold)
{
	size_t i;

	answer(f, p, bold);
	if (p->what[0])
		wrapped(f, 2, p->what);
	table(f, p);
	fputc('\n', f);
	for (i = 0; i < p->n_checks; i++)
		check_line(f, &p->check[i], bold);
	caps(f, p);
}
