/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "calibrate.h"

size_t hcw_candidate_index(enum hcw_point p, size_t candidate)
{
	size_t index = candidate;
	int before;

	for (before = 0; before < (int)p; before++)
		index += hcw_point_info(before)->count;
	return index;
}

void hcw_reject(struct hcw_calibration *c, enum hcw_point p, size_t candidate, int error,
		const char *fmt, ...)
{
	struct hcw_trial *t = &c->trial[hcw_candidate_index(p, candidate)];
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

static bool module_has_btf(int root, const char *module)
{
	char path[96];

	snprintf(path, sizeof(path), "sys/kernel/btf/%s", module);
	return exists(root, path);
}

/* By perf_event_open(), or by tracefs where that is older than 4.17. */
static bool has_kprobes(int root)
{
	return exists(root, "sys/bus/event_source/devices/kprobe") ||
	       exists(root, "sys/kernel/tracing/kprobe_events") ||
	       exists(root, "sys/kernel/debug/tracing/kprobe_events");
}

static bool is_tracepoint(enum hcw_tier tier)
{
	return tier == HCW_TIER_TP_BTF || tier == HCW_TIER_RAW_TP;
}

/* Each tracepoint has a function __traceiter_<name> (include/linux/tracepoint.h, since 5.10). */
static const char *missing_target(const struct hcs_kallsyms *symbols, const struct hcw_candidate *d)
{
	char name[128];
	size_t i;

	for (i = 0; i < HCW_HOOKS && d->hook[i].program; i++) {
		snprintf(name, sizeof(name), "%s%s", is_tracepoint(d->tier) ? "__traceiter_" : "",
			 d->hook[i].target);
		if (!hcs_kallsyms_count(symbols, name, d->module ? "*" : NULL))
			return d->hook[i].target;
	}
	return NULL;
}

static void reject_absent(struct hcw_calibration *c, enum hcw_point p, size_t i, const char *target)
{
	hcw_reject(c, p, i, 0, "no such %s: %s",
		   is_tracepoint(hcw_point_info(p)->candidate[i].tier) ? "tracepoint" : "function",
		   target);
	c->trial[hcw_candidate_index(p, i)].absent = true;
}

static void calibrate_one(struct hcw_calibration *c, enum hcw_point p, size_t i, int root,
			  const struct hcs_kallsyms *symbols, bool long_running)
{
	const struct hcw_candidate *d = &hcw_point_info(p)->candidate[i];
	bool fentry = d->tier == HCW_TIER_FENTRY;
	const char *missing;
	size_t in_kernel;

	if (d->tier == HCW_TIER_USDT)
		return;
	missing = missing_target(symbols, d);
	if (missing) {
		reject_absent(c, p, i, missing);
		return;
	}
	if (d->tier == HCW_TIER_KPROBE && !has_kprobes(root)) {
		hcw_reject(c, p, i, 0, "this kernel has no kprobes");
		return;
	}
	in_kernel = hcs_kallsyms_count(symbols, d->hook[0].target, NULL);
	if (in_kernel > 1 && !is_tracepoint(d->tier)) {
		hcw_reject(c, p, i, 0, "%zu functions have this name", in_kernel);
		return;
	}
	if (!d->module || in_kernel)
		return;
	if ((fentry || d->module_types) && !module_has_btf(root, d->module))
		hcw_reject(c, p, i, 0, "module %s has no BTF", d->module);
	else if (fentry && long_running)
		hcw_reject(c, p, i, 0, "would hold module %s loaded", d->module);
}

void hcw_calibrate(struct hcw_calibration *c, int root, const struct hcs_kallsyms *symbols,
		   bool long_running)
{
	size_t i;
	int p;

	memset(c, 0, sizeof(*c));
	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			calibrate_one(c, p, i, root, symbols, long_running);
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
