/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../sys/module.h"
#include "calibrate.h"

#define READ_MS 1000

size_t hcw_candidate_index(enum hcw_point p, size_t candidate)
{
	size_t index = candidate;
	int before;

	for (before = 0; before < (int)p; before++)
		index += hcw_point_info(before)->count;
	return index;
}

struct hcw_trial *hcw_trial_of(struct hcw_calibration *c, enum hcw_point p, size_t candidate)
{
	return &c->trial[hcw_candidate_index(p, candidate)];
}

void hcw_reject(struct hcw_calibration *c, enum hcw_point p, size_t candidate, int error,
		const char *fmt, ...)
{
	struct hcw_trial *t = hcw_trial_of(c, p, candidate);
	va_list args;

	t->rejected = true;
	t->error = error;
	va_start(args, fmt);
	vsnprintf(t->reason, sizeof(t->reason), fmt, args);
	va_end(args);
}

static bool exists(int root, const char *path)
{
	return !faccessat(root, path, F_OK, 0);
}

/* A cut or foreign one counts as there: it is told when it is read. */
static bool module_has_btf(int root, const char *module)
{
	char path[96];

	snprintf(path, sizeof(path), "sys/kernel/btf/%s", module);
	return exists(root, path);
}

static bool module_loaded(int root, const char *module)
{
	uint64_t id;

	return !hcs_module_id(root, module, &id, hcs_deadline_ms(READ_MS));
}

/* By perf_event_open(), or by tracefs where that is older than 4.17. */
static bool has_kprobes(int root)
{
	return exists(root, "sys/bus/event_source/devices/kprobe") ||
	       exists(root, "sys/kernel/tracing/kprobe_events") ||
	       exists(root, "sys/kernel/debug/tracing/kprobe_events");
}

static void reject_absent(struct hcw_calibration *c, enum hcw_point p, size_t i, const char *what,
			  const char *name)
{
	hcw_reject(c, p, i, 0, "no such %s: %s", what, name);
	hcw_trial_of(c, p, i)->absent = true;
}

static void reject_not_loaded(struct hcw_calibration *c, enum hcw_point p, size_t i)
{
	hcw_reject(c, p, i, 0, "module %s is not loaded", hcw_point_info(p)->candidate[i].module);
	hcw_trial_of(c, p, i)->absent = true;
}

/* Each tracepoint has a function __traceiter_<name> (include/linux/tracepoint.h, since 5.10). */
static void calibrate_tracepoint(struct hcw_calibration *c, enum hcw_point p, size_t i,
				 const struct hcs_kallsyms *symbols)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];
	char name[128];
	size_t h;

	for (h = 0; h < HCW_HOOKS && d->hook[h].program; h++) {
		snprintf(name, sizeof(name), "__traceiter_%s", d->hook[h].target);
		if (!hcs_kallsyms_count(symbols, name, NULL)) {
			reject_absent(c, p, i, "tracepoint", d->hook[h].target);
			return;
		}
	}
}

static void calibrate_kprobe(struct hcw_calibration *c, enum hcw_point p, size_t i,
			     const struct hcw_calibrate_opts *opts, const struct hcw_lookup *found)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];

	if (!has_kprobes(opts->root))
		hcw_reject(c, p, i, 0, "this kernel has no kprobes");
	else if (found->in_module && d->module_types && !module_has_btf(opts->root, d->module))
		hcw_reject(c, p, i, 0, "module %s has no BTF", d->module);
	else if (found->in_module && found->namesakes && !found->addr)
		hcw_reject(c, p, i, 0, "%zu candidates, and kptr_restrict hides their addresses",
			   found->namesakes + 1);
	else if (found->namesakes)
		hcw_trial_of(c, p, i)->addr = found->addr;
}

/* The kernel finds the function by the plain name of the BTF, and takes the first of that name. */
static void calibrate_fentry(struct hcw_calibration *c, enum hcw_point p, size_t i,
			     const struct hcw_calibrate_opts *opts, const struct hcw_lookup *found)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];

	if (found->suffixed)
		hcw_reject(c, p, i, 0, "compiled as %s", found->symbol);
	else if (found->in_module && !module_has_btf(opts->root, d->module))
		hcw_reject(c, p, i, 0, "module %s has no BTF", d->module);
	else if (found->in_module && found->namesakes)
		hcw_reject(c, p, i, 0, "%zu candidates of this name", found->namesakes + 1);
	else if (found->in_module && opts->long_running)
		hcw_reject(c, p, i, 0, "would hold module %s loaded", d->module);
}

static void calibrate_function(struct hcw_calibration *c, enum hcw_point p, size_t i,
			       const struct hcw_calibrate_opts *opts)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];
	struct hcw_trial *t = hcw_trial_of(c, p, i);
	struct hcw_lookup found;

	hcw_lookup(&found, opts->symbols, d->function, d->module);
	if (!found.candidates) {
		if (d->module && !module_loaded(opts->root, d->module))
			reject_not_loaded(c, p, i);
		else
			reject_absent(c, p, i, "function", d->function);
		return;
	}
	t->in_module = found.in_module;
	snprintf(t->symbol, sizeof(t->symbol), "%s", found.symbol);
	snprintf(t->also, sizeof(t->also), "%s", found.also);
	if (found.candidates > 1)
		hcw_reject(c, p, i, 0, "%zu candidates", found.candidates);
	else if (found.args_lost && d->prototype)
		hcw_reject(c, p, i, 0, "compiled as %s: its arguments may be others", found.symbol);
	else if (d->tier == HCW_TIER_KPROBE)
		calibrate_kprobe(c, p, i, opts, &found);
	else
		calibrate_fentry(c, p, i, opts, &found);
}

/* Whether the user lets it be tried at all. */
static bool wanted(struct hcw_calibration *c, enum hcw_point p, size_t i)
{
	const struct hcw_probe_choice *choice = &c->choices.point[p];

	if (!choice->forced || choice->tier == hcw_point_info(p)->candidate[i].tier)
		return true;
	hcw_reject(c, p, i, 0, "not the tier of --probe");
	hcw_trial_of(c, p, i)->unwanted = true;
	return false;
}

static void calibrate_one(struct hcw_calibration *c, enum hcw_point p, size_t i,
			  const struct hcw_calibrate_opts *opts)
{
	*hcw_trial_of(c, p, i) = (struct hcw_trial){0};
	if (!wanted(c, p, i))
		return;
	switch (hcw_point_info(p)->candidate[i].tier) {
	case HCW_TIER_TP_BTF:
	case HCW_TIER_RAW_TP:
		calibrate_tracepoint(c, p, i, opts->symbols);
		break;
	case HCW_TIER_FENTRY:
	case HCW_TIER_KPROBE:
		calibrate_function(c, p, i, opts);
		break;
	default: /* marks: each file tells */
		break;
	}
}

void hcw_calibrate(struct hcw_calibration *c, const struct hcw_calibrate_opts *opts)
{
	size_t i;
	int p;

	memset(c, 0, sizeof(*c));
	if (opts->choices)
		c->choices = *opts->choices;
	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			calibrate_one(c, p, i, opts);
}

static bool of_module(enum hcw_point p, size_t i, const char *module)
{
	const char *name = hcw_point_info(p)->candidate[i].module;

	return name && !strcmp(name, module);
}

void hcw_calibrate_module(struct hcw_calibration *c, const struct hcw_calibrate_opts *opts,
			  const char *module)
{
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (of_module(p, i, module))
				calibrate_one(c, p, i, opts);
}

void hcw_calibrate_gone(struct hcw_calibration *c, const char *module)
{
	struct hcw_trial *t;
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++) {
			t = hcw_trial_of(c, p, i);
			if (!of_module(p, i, module) || (t->symbol[0] && !t->in_module))
				continue;
			*t = (struct hcw_trial){0};
			if (wanted(c, p, i))
				reject_not_loaded(c, p, i);
		}
}

bool hcw_chosen(const struct hcw_calibration *c, enum hcw_point p, size_t candidate)
{
	const struct hcw_point_info *info = hcw_point_info(p);
	const struct hcw_trial *t = &c->trial[hcw_candidate_index(p, 0)];
	size_t i;

	if (t[candidate].rejected)
		return false;
	for (i = 0; i < candidate; i++) {
		if (t[i].rejected)
			continue;
		if (!info->every ||
		    !strcmp(info->candidate[i].function, info->candidate[candidate].function))
			return false;
	}
	return true;
}
