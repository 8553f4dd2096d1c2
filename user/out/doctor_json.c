/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON of `hcwatch doctor`, schema 1. Names are stable: add, never rename. */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include "../base/escape.h"
#include "doctor.h"

static json_t *text(const char *s)
{
	char buf[1024];

	return json_string(hcw_utf8(buf, sizeof(buf), s, strlen(s)));
}

static json_t *text_or_null(const char *s)
{
	return s && s[0] ? text(s) : json_null();
}

/* true, false, or null for what is not known */
static json_t *known_bool(enum doctor_known k)
{
	return k == DOCTOR_UNKNOWN ? json_null() : json_boolean(k == DOCTOR_KNOWN);
}

static void put(json_t *o, const char *key, json_t *v)
{
	json_object_set_new(o, key, v);
}

static json_t *nodes_json(const struct doctor_host *h)
{
	json_t *list;
	size_t i;

	if (h->nodes_known == DOCTOR_UNKNOWN)
		return json_null();
	list = json_array();
	for (i = 0; i < h->n_nodes; i++)
		json_array_append_new(list, json_integer(h->node[i]));
	return list;
}

static json_t *setting_json(const struct doctor_setting *s)
{
	json_t *o = json_object();

	put(o, "name", json_string(s->name));
	put(o, "state", json_string(doctor_known_name(s->known)));
	put(o, "value", s->known == DOCTOR_KNOWN ? text(s->value) : json_null());
	put(o, "means", text(s->means));
	put(o, "why", text_or_null(s->why));
	put(o, "stops_shared_pools", json_string(doctor_effect_name(s->shared)));
	put(o, "stops_private_pools", json_string(doctor_effect_name(s->private_)));
	put(o, "code", text_or_null(s->code));
	return o;
}

static json_t *module_json(const struct doctor_module *m)
{
	json_t *o = json_object();

	put(o, "name", json_string(m->name));
	put(o, "state", m->known == DOCTOR_KNOWN ? json_string(m->state) : json_null());
	put(o, "version", text_or_null(m->version));
	put(o, "srcversion", text_or_null(m->srcversion));
	put(o, "out_of_tree", json_boolean(m->out_of_tree));
	put(o, "btf", known_bool(m->btf));
	return o;
}

static json_t *gpu_json(const struct doctor_gpu *g)
{
	json_t *o = json_object();

	put(o, "render", json_integer(g->render));
	put(o, "driver", text(g->driver));
	put(o, "simulated", json_boolean(g->simulated));
	put(o, "gtt_total", g->has_gtt ? json_integer((json_int_t)g->gtt_total) : json_null());
	put(o, "gtt_used", g->has_gtt ? json_integer((json_int_t)g->gtt_used) : json_null());
	return o;
}

static json_t *finding_json(const char *code)
{
	const struct hcw_finding_text *t = hcw_finding_by_code(code);
	json_t *o = json_object();

	put(o, "code", json_string(t->code));
	put(o, "title", json_string(t->title));
	put(o, "remedy", json_string(t->remedy));
	put(o, "leaves", json_string(t->leaves));
	put(o, "versions", json_string(t->versions));
	return o;
}

static json_t *ttm_json(const struct doctor_host *h)
{
	json_t *o;

	if (!h->ttm_module)
		return json_null();
	o = json_object();
	put(o, "module", json_string(h->ttm_module));
	put(o, "limit_bytes", json_integer((json_int_t)h->ttm_limit));
	return o;
}

/* Ends with the newline; the object is given up. */
static int dump(FILE *f, json_t *o)
{
	int ret = json_dumpf(o, f, JSON_INDENT(2)) ? -EIO : 0;

	json_decref(o);
	if (fputc('\n', f) == EOF || fflush(f))
		ret = -EIO;
	return ret;
}

int doctor_json(FILE *f, const struct doctor_host *h)
{
	json_t *o = json_object(), *settings = json_array(), *modules = json_array(),
	       *gpus = json_array(), *findings = json_array();
	size_t i;

	for (i = 0; i < h->n_settings; i++) {
		json_array_append_new(settings, setting_json(&h->setting[i]));
		if (h->setting[i].code)
			json_array_append_new(findings, finding_json(h->setting[i].code));
	}
	for (i = 0; i < h->n_modules; i++)
		json_array_append_new(modules, module_json(&h->module[i]));
	for (i = 0; i < h->n_gpus; i++)
		json_array_append_new(gpus, gpu_json(&h->gpu[i]));
	put(o, "schema", json_integer(1));
	put(o, "host", text(h->host));
	put(o, "kernel", text(h->kernel));
	put(o, "kernel_btf", known_bool(h->kernel_btf));
	put(o, "memory_nodes", nodes_json(h));
	put(o, "kfd", known_bool(h->kfd));
	put(o, "modules", modules);
	put(o, "gpus", h->gpus_known == DOCTOR_UNKNOWN ? (json_decref(gpus), json_null()) : gpus);
	put(o, "ttm", ttm_json(h));
	put(o, "settings", settings);
	put(o, "findings", findings);
	put(o, "unread", json_integer((json_int_t)doctor_unread(h)));
	return dump(f, o);
}

static json_t *probe_json(const struct hcw_probe_info *e, bool needed)
{
	json_t *o = json_object();

	put(o, "point", text(e->point));
	put(o, "tier", text(e->tier));
	put(o, "active", json_boolean(e->active));
	put(o, "reason", text(e->reason));
	put(o, "target", text(e->target));
	put(o, "needed", json_boolean(needed));
	return o;
}

static json_t *check_json(const struct doctor_check *c)
{
	const struct hcw_finding_text *t = c->code ? hcw_finding_by_code(c->code) : NULL;
	json_t *o = json_object();

	put(o, "name", json_string(c->name));
	put(o, "state", json_string(doctor_bearing_name(c->bearing)));
	put(o, "value", text_or_null(c->value));
	put(o, "means", text(c->means));
	put(o, "code", text_or_null(c->code));
	put(o, "remedy", t ? json_string(t->remedy) : json_null());
	return o;
}

int doctor_probes_json(FILE *f, const struct doctor_probes *p)
{
	json_t *o = json_object(), *probes = json_array(), *checks = json_array(),
	       *caps = json_array();
	size_t i;

	for (i = 0; i < p->n_probes; i++)
		json_array_append_new(probes, probe_json(&p->probe[i], p->needed[i]));
	for (i = 0; i < p->n_checks; i++)
		json_array_append_new(checks, check_json(&p->check[i]));
	for (i = 0; i < p->n_caps; i++) {
		json_t *c = json_object();

		put(c, "name", json_string(p->cap[i].name));
		put(c, "have", json_boolean(p->cap[i].have));
		put(c, "buys", json_string(p->cap[i].buys));
		json_array_append_new(caps, c);
	}
	put(o, "schema", json_integer(1));
	put(o, "denied", json_boolean(p->denied));
	put(o, "error", text_or_null(p->what));
	put(o, "probes", probes);
	put(o, "checks", checks);
	put(o, "capabilities", caps);
	return dump(f, o);
}
