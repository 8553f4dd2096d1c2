/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "calibrate.h"

const char *hcw_point_name(enum hcw_point p)
{
	return (unsigned int)p < HCW_POINT_COUNT ? hcw_point_info(p)->name : "?";
}

const char *hcw_tier_name(enum hcw_tier t)
{
	static const char *const names[] = {
		[HCW_TIER_OFF] = "off",	      [HCW_TIER_TP_BTF] = "tp_btf",
		[HCW_TIER_RAW_TP] = "raw_tp", [HCW_TIER_FENTRY] = "fentry",
		[HCW_TIER_KPROBE] = "kprobe", [HCW_TIER_USDT] = "usdt",
	};

	return (size_t)t < sizeof(names) / sizeof(names[0]) ? names[t] : "?";
}

/* Appends to a string of a list; what does not fit is cut. */
static __attribute__((format(printf, 4, 5))) void append(char *out, size_t size, const char *sep,
							 const char *fmt, ...)
{
	size_t len = strlen(out);
	va_list args;

	if (len)
		len += (size_t)snprintf(out + len, size - len, "%s", sep);
	if (len >= size)
		return;
	va_start(args, fmt);
	vsnprintf(out + len, size - len, fmt, args);
	va_end(args);
}

/* Whether a candidate before `i` of the same function is in use: then why `i` is not is nobody's
 * question. */
static bool better_in_use(const struct hcw_calibration *c, enum hcw_point p, size_t i)
{
	const struct hcw_candidate *d = hcw_point_info(p)->candidate;
	size_t j;

	for (j = 0; j < i; j++)
		if (hcw_chosen(c, p, j) && !strcmp(d[j].function, d[i].function))
			return true;
	return false;
}

/* Whether this one's reason belongs in the list. */
static bool worth_saying(const struct hcw_calibration *c, enum hcw_point p, size_t i, bool absent)
{
	const struct hcw_trial *t = &c->trial[hcw_candidate_index(p, i)];

	return t->rejected && !t->unwanted && t->absent == absent && !better_in_use(c, p, i);
}

/* Whether the list has it from a candidate before `i`. What is absent is so in every tier. */
static bool said_before(const struct hcw_calibration *c, enum hcw_point p, size_t i, bool absent)
{
	const struct hcw_candidate *d = hcw_point_info(p)->candidate;
	const struct hcw_trial *t = &c->trial[hcw_candidate_index(p, 0)];
	size_t j;

	for (j = 0; j < i; j++)
		if (worth_saying(c, p, j, absent) && (absent || d[j].tier == d[i].tier) &&
		    !strcmp(t[j].reason, t[i].reason))
			return true;
	return false;
}

/* Why better candidates of the function in use were passed over, or why nothing of the point could
 * be used. */
static void explain(struct hcw_plan_entry *e, const struct hcw_calibration *c, bool absent)
{
	const struct hcw_point_info *info = hcw_point_info(e->point);
	const struct hcw_trial *t = &c->trial[hcw_candidate_index(e->point, 0)];
	size_t i;

	for (i = 0; i < info->count; i++) {
		if (!worth_saying(c, e->point, i, absent) || said_before(c, e->point, i, absent))
			continue;
		if (!absent)
			append(e->reason, sizeof(e->reason), "; ", "%s: %s",
			       hcw_tier_name(info->candidate[i].tier), t[i].reason);
		else
			append(e->reason, sizeof(e->reason), "; ", "%s", t[i].reason);
	}
}

static void take_candidate(struct hcw_plan_entry *e, const struct hcw_calibration *c, size_t i)
{
	const struct hcw_candidate *d = &hcw_point_info(e->point)->candidate[i];
	const struct hcw_trial *t = &c->trial[hcw_candidate_index(e->point, i)];

	if (!e->active)
		e->tier = d->tier;
	e->active = true;
	append(e->target, sizeof(e->target), ", ", "%s", t->symbol[0] ? t->symbol : d->function);
	if (t->also[0])
		append(e->reason, sizeof(e->reason), "; ", "calls of %s are not seen", t->also);
}

static void plan_point(struct hcw_plan_entry *e, const struct hcw_calibration *c)
{
	const struct hcw_point_info *info = hcw_point_info(e->point);
	const struct hcw_probe_choice *choice = &c->choices.point[e->point];
	size_t i;

	e->forced = choice->forced;
	for (i = 0; i < info->count; i++)
		if (hcw_chosen(c, e->point, i) && info->candidate[i].tier != HCW_TIER_USDT)
			take_candidate(e, c, i);
	explain(e, c, false);
	if (!e->active && choice->forced && choice->tier == HCW_TIER_OFF)
		snprintf(e->reason, sizeof(e->reason), "turned off by --probe");
	if (!e->active && !e->reason[0])
		explain(e, c, true);
	if (!e->active && !e->reason[0])
		snprintf(e->reason, sizeof(e->reason), "no program with these marks attached yet");
}

void hcw_plan_build(struct hcw_plan *plan, const struct hcw_calibration *c)
{
	int p;

	memset(plan, 0, sizeof(*plan));
	for (p = 0; p < HCW_POINT_COUNT; p++) {
		plan->entry[p].point = p;
		plan_point(&plan->entry[p], c);
	}
}

void hcw_plan_update(struct hcw_plan *plan, const struct hcw_calibration *c)
{
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		if (hcw_point_info(p)->candidate[0].tier == HCW_TIER_USDT)
			continue;
		plan->entry[p] = (struct hcw_plan_entry){.point = p};
		plan_point(&plan->entry[p], c);
	}
}
