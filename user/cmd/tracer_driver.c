/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver that is absent, comes, goes, or is loaded again while we trace: said on stderr, and in
 * the stream as the new plan and a hole from the last time its probes were known to work to the
 * first time they are again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "tracer_internal.h"

static struct driver_gap *gap_of(struct tracer *r, const char *module)
{
	size_t i;

	for (i = 0; i < TRACER_MAX_GAPS; i++)
		if (r->gap[i].module && !strcmp(r->gap[i].module, module))
			return &r->gap[i];
	for (i = 0; i < TRACER_MAX_GAPS; i++)
		if (!r->gap[i].module)
			return &r->gap[i];
	return NULL;
}

/* One record for each source that missed meanwhile. */
static int note_gap(struct tracer *r, unsigned int types, __u64 from, __u64 to)
{
	struct hcw_hole h = {.from = from, .to = to, .cause = HCW_HOLE_DRIVER_ABSENT};
	int ret = 0;

	for (h.source = 1; h.source < HCW_R_BPF_COUNT && !ret; h.source++)
		if (types & (1u << h.source))
			ret = note_put(r, HCW_R_HOLE, &h, sizeof(h));
	return ret;
}

static void say_waiting(const struct tracer *r, const char *what, const char *module,
			const char *state)
{
	const struct hcw_plan *plan = hcw_session_plan(r->session);
	bool both = plan->entry[HCW_POINT_MIGRATE].active && plan->entry[HCW_POINT_NOTIFIER].active;

	fprintf(stderr,
		"hcwatch: %s: module %s %s\n"
		"  waiting for it; %s traced meanwhile\n",
		what, module, state, both ? "migrations and notifiers are" : "what can be seen is");
}

static void say_back(const struct tracer *r, const struct hcw_driver_change *c)
{
	bool traced = hcw_session_plan(r->session)->entry[HCW_POINT_QUIESCE].active;

	fprintf(stderr,
		"hcwatch: module %s is loaded, KFD evictions are%s traced\n"
		"  what happened in the %.3f s before is not known\n",
		c->module, traced ? "" : " not", (double)(c->to - c->from) / 1e9);
}

/* It was not there at the start, or is gone. */
static int driver_went(struct tracer *r, const struct hcw_driver_change *c)
{
	struct driver_gap *gap = gap_of(r, c->module);

	if (!c->types || !gap)
		return 0;
	*gap = (struct driver_gap){.module = c->module, .types = c->types, .from = c->from};
	r->had_gap = true;
	return 0;
}

static int driver_came(struct tracer *r, const struct hcw_driver_change *c)
{
	struct driver_gap *gap = gap_of(r, c->module);
	bool waited = gap && gap->module;
	int ret = note_header(r);

	if (gap)
		*gap = (struct driver_gap){0};
	if (!ret)
		ret = note_gap(r, c->types, c->from, c->to);
	r->had_gap |= c->types != 0;
	if (waited)
		say_back(r, c);
	else
		fprintf(stderr, "hcwatch: module %s is loaded, and probed from now on\n",
			c->module);
	return ret;
}

static void take_symbols(struct tracer *r, struct hcs_kallsyms *fresh)
{
	if (!fresh)
		return;
	hcs_kallsyms_free(r->symbols);
	r->symbols = fresh;
	symbols_fit(r);
}

int driver_start(struct tracer *r)
{
	struct hcs_kallsyms *symbols;
	struct hcw_driver_change c;
	int ret;

	while ((ret = hcw_session_drivers(r->session, &c, &symbols)) > 0) {
		take_symbols(r, symbols);
		if (c.came || !c.types)
			continue;
		if (r->opts->no_wait) {
			hcw_err_set(r->err, -ENODEV, HCW_EXIT_UNSUPPORTED,
				    "cannot trace KFD evictions: module %s is not loaded",
				    c.module);
			hcw_err_hint(r->err, "Load it (modprobe %s) and run again.", c.module);
			return -ENODEV;
		}
		say_waiting(r, "cannot trace KFD evictions", c.module, "is not loaded");
		fputs("  (--no-wait to exit)\n", stderr);
		ret = driver_went(r, &c);
		if (ret)
			return ret;
	}
	return ret;
}

int driver_look(struct tracer *r)
{
	struct hcs_kallsyms *symbols;
	struct hcw_driver_change c;
	int ret;

	while ((ret = hcw_session_drivers(r->session, &c, &symbols)) > 0) {
		take_symbols(r, symbols);
		if (c.came) {
			ret = driver_came(r, &c);
		} else {
			if (c.types)
				say_waiting(r, "KFD evictions are not traced now", c.module,
					    "was unloaded");
			ret = driver_went(r, &c);
			if (!ret)
				ret = note_header(r);
		}
		if (ret)
			return ret;
	}
	return ret;
}

int driver_end(struct tracer *r)
{
	__u64 now = hcs_boot_ns();
	size_t i;
	int ret = 0;

	for (i = 0; i < TRACER_MAX_GAPS && !ret; i++)
		if (r->gap[i].module)
			ret = note_gap(r, r->gap[i].types, r->gap[i].from, now);
	return ret;
}
