/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drivers come and go while we watch. What is in a module is loaded and attached by itself, over
 * the same maps; the probes of a module that was unloaded are dead, though they look alive, and
 * those of the next load are other ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../sys/module.h"
#include "internal.h"

#define READ_MS 1000

static bool of_driver(const struct hcw_driver *d, enum hcw_point p, size_t i)
{
	const char *module = hcw_point_info(p)->candidate[i].module;

	return module && !strcmp(module, d->name);
}

/* Whether a point is told by this module or not at all. */
static bool depends_on(const struct hcw_driver *d, enum hcw_point p)
{
	size_t i;

	for (i = 0; i < hcw_point_info(p)->count; i++)
		if (!of_driver(d, p, i))
			return false;
	return true;
}

static bool required(const struct hcw_driver *d)
{
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		if (depends_on(d, p))
			return true;
	return false;
}

/* Whether the symbols that were calibrated with know none of its functions. */
static bool unknown(const struct hcw_calibration *c, const struct hcw_driver *d)
{
	const struct hcw_trial *t;
	bool absent = false;
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++) {
			t = &c->trial[hcw_candidate_index(p, i)];
			if (!of_driver(d, p, i) || t->unwanted)
				continue;
			if (!t->absent)
				return false;
			absent = true;
		}
	return absent;
}

/* Records of the points that could be told if the module were there. */
static unsigned int missing_types(const struct hcw_calibration *c, const struct hcw_driver *d)
{
	unsigned int types = 0;
	bool absent, chosen;
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++) {
		absent = chosen = false;
		for (i = 0; i < hcw_point_info(p)->count; i++) {
			absent |= of_driver(d, p, i) && c->trial[hcw_candidate_index(p, i)].absent;
			chosen |= hcw_chosen(c, p, i);
		}
		if (absent && !chosen)
			types |= 1u << hcw_point_info(p)->record;
	}
	return types;
}

/* Records that its functions tell. */
static unsigned int told_types(const struct hcw_calibration *c, const struct hcw_driver *d)
{
	unsigned int types = 0;
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (of_driver(d, p, i) && hcw_chosen(c, p, i))
				types |= 1u << hcw_point_info(p)->record;
	return types;
}

/* That it could not be attached is told by the plan. `all`: also what was rejected already. */
static void reject_rest(struct hcw_session *s, const struct hcw_driver *d, bool all,
			const char *step, int error)
{
	struct hcw_trial *t;
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++) {
			t = hcw_trial_of(&s->calibration, p, i);
			if (!of_driver(d, p, i) || t->unwanted || (t->rejected && !all))
				continue;
			t->absent = false;
			hcw_reject(&s->calibration, p, i, error, "%s: %s", step, strerror(-error));
		}
}

static bool anything_chosen(const struct hcw_session *s, const struct hcw_driver *d)
{
	struct hcw_attached stage = {.module = d->name};
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (hcw_chosen(&s->calibration, p, i) &&
			    hcw_attached_has(&stage, &s->calibration, p, i))
				return true;
	return false;
}

static void attach(struct hcw_session *s, struct hcw_driver *d)
{
	int ret = 0;

	if (anything_chosen(s, d))
		ret = hcw_session_attach_stage(s, &d->stage, d->name, 0);
	if (ret)
		reject_rest(s, d, false, "load", ret);
	d->attached = true;
	d->seen = hcs_boot_ns();
}

/* Totals never go back. */
static void keep_skipped(struct hcw_session *s, const struct hcw_driver *d)
{
	size_t i;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (hcw_chosen(&s->calibration, p, i) &&
			    hcw_attached_has(&d->stage, &s->calibration, p, i))
				hcw_skipped_add(&s->skipped, &d->stage, p, i);
}

static void detach(struct hcw_session *s, struct hcw_driver *d)
{
	if (d->stage.skel)
		keep_skipped(s, d);
	hcw_detach(&d->stage);
	d->attached = false;
}

/* One that is built in has no functions of a module, and shows as not there. */
static bool is_live(int root, const char *name, uint64_t *id)
{
	struct hcs_module m;

	return !hcs_module_id(root, name, id, hcs_deadline_ms(READ_MS)) &&
	       !hcs_module_read(root, name, &m, hcs_deadline_ms(READ_MS)) &&
	       m.state == HCS_MODULE_LIVE;
}

void hcw_drivers_open(struct hcw_session *s, int root)
{
	__u64 now = hcs_boot_ns();
	struct hcw_driver *d;
	size_t i;

	for (i = 0; i < HCW_MODULES; i++) {
		d = &s->driver[i];
		d->name = hcw_module_name(i);
		d->seen = d->absent_since = now;
		/* the id first: a load that follows is another one */
		if (!is_live(root, d->name, &d->id)) {
			hcw_calibrate_gone(&s->calibration, d->name);
			d->types = missing_types(&s->calibration, d);
		} else if (unknown(&s->calibration, d)) {
			/* perhaps loaded since the symbols were read: the first look reads them
			 * anew, and has it come */
			d->told = true;
			d->types = missing_types(&s->calibration, d);
		} else {
			attach(s, d);
		}
	}
}

void hcw_drivers_close(struct hcw_session *s)
{
	size_t i;

	for (i = 0; i < HCW_MODULES; i++)
		if (s->driver[i].attached)
			detach(s, &s->driver[i]);
}

static void went(struct hcw_session *s, struct hcw_driver *d, struct hcw_driver_change *out)
{
	detach(s, d);
	hcw_calibrate_gone(&s->calibration, d->name);
	hcw_plan_update(&s->plan, &s->calibration);
	d->types = missing_types(&s->calibration, d);
	d->absent_since = d->seen;
	d->told = true;
	*out = (struct hcw_driver_change){
		.module = d->name,
		.types = required(d) ? d->types : 0,
		.from = d->absent_since,
	};
}

static void attach_again(struct hcw_session *s, struct hcw_driver *d, int root,
			 struct hcs_kallsyms **symbols)
{
	struct hcw_calibrate_opts co = {.root = root, .long_running = s->long_running};
	int ret = hcs_kallsyms_load(symbols, root, hcs_deadline_ms(HCW_KALLSYMS_MS));

	if (ret) {
		*symbols = NULL;
		reject_rest(s, d, true, "cannot read /proc/kallsyms", ret);
		d->attached = true;
		return;
	}
	co.symbols = *symbols;
	hcw_calibrate_module(&s->calibration, &co, d->name);
	ret = hcw_targets_module(&s->targets, &s->calibration, d->name);
	if (ret)
		reject_rest(s, d, false, "BTF of the kernel", ret);
	attach(s, d);
}

/*
 * One that others do without was not missed while it was absent; but between its load and our
 * attaching it may have done something.
 */
static void came(struct hcw_session *s, struct hcw_driver *d, int root,
		 struct hcw_driver_change *out, struct hcs_kallsyms **symbols)
{
	__u64 absent_until = d->seen;

	attach_again(s, d, root, symbols);
	hcw_plan_update(&s->plan, &s->calibration);
	*out = (struct hcw_driver_change){
		.module = d->name,
		.came = true,
		.types = required(d) ? d->types | told_types(&s->calibration, d)
				     : told_types(&s->calibration, d),
		.from = required(d) ? d->absent_since : absent_until,
		.to = hcs_boot_ns(),
	};
}

static int look_at(struct hcw_session *s, struct hcw_driver *d, int root,
		   struct hcw_driver_change *out, struct hcs_kallsyms **symbols)
{
	__u64 now = hcs_boot_ns(); /* before the look: what it shows is true from then on */
	uint64_t id = 0;

	if (d->attached) {
		if (!hcs_module_id(root, d->name, &id, hcs_deadline_ms(READ_MS)) && id == d->id) {
			d->seen = now;
			return 0;
		}
		went(s, d, out);
		return 1;
	}
	if (!d->told && required(d) && d->types) {
		d->told = true;
		*out = (struct hcw_driver_change){
			.module = d->name, .types = d->types, .from = d->absent_since};
		return 1;
	}
	if (!is_live(root, d->name, &id)) {
		/* a module that is on its way may do something before we see it live */
		if (!id)
			d->seen = now;
		return 0;
	}
	d->id = id;
	came(s, d, root, out, symbols);
	return 1;
}

int hcw_session_drivers(struct hcw_session *s, struct hcw_driver_change *out,
			struct hcs_kallsyms **symbols)
{
	int root = hcs_root(), ret = 0;
	size_t i;

	*symbols = NULL;
	if (root < 0)
		return root;
	for (i = 0; i < HCW_MODULES && !ret; i++)
		ret = look_at(s, &s->driver[i], root, out, symbols);
	close(root);
	return ret;
}

const struct hcw_attached *hcw_session_stage(const struct hcw_session *s, enum hcw_point p,
					     size_t i)
{
	size_t k;

	for (k = 0; k < HCW_MODULES; k++)
		if (s->driver[k].attached && s->driver[k].stage.skel &&
		    hcw_attached_has(&s->driver[k].stage, &s->calibration, p, i))
			return &s->driver[k].stage;
	return &s->attached;
}
