/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <jansson.h>
#include "explain.h"
#include "fmt.h"

void explain_text(FILE *f, const struct hcw_finding_text *t)
{
	size_t i;

	fprintf(f, "%s  %s\n\n", t->code, t->title);
	fmt_wrap(f, "what      ", t->cause);
	fmt_wrap(f, "evidence  ", t->evidence);
	fmt_wrap(f, "do        ", t->remedy);
	fmt_wrap(f, "leaves    ", t->leaves);
	fmt_wrap(f, "versions  ", t->versions);
	for (i = 0; t->source[i]; i++)
		fmt_wrap(f, i ? "          " : "sources   ", t->source[i]);
}

void explain_list(FILE *f)
{
	const struct hcw_finding_text *t;
	size_t i;

	for (i = 0; (t = hcw_finding_at(i)); i++)
		fprintf(f, "%s  %s\n", t->code, t->title);
}

static json_t *finding_json(const struct hcw_finding_text *t)
{
	json_t *o = json_object(), *sources = json_array();
	size_t i;

	json_object_set_new(o, "code", json_string(t->code));
	json_object_set_new(o, "title", json_string(t->title));
	json_object_set_new(o, "cause", json_string(t->cause));
	json_object_set_new(o, "evidence", json_string(t->evidence));
	json_object_set_new(o, "remedy", json_string(t->remedy));
	json_object_set_new(o, "leaves", json_string(t->leaves));
	json_object_set_new(o, "versions", json_string(t->versions));
	for (i = 0; t->source[i]; i++)
		json_array_append_new(sources, json_string(t->source[i]));
	json_object_set_new(o, "sources", sources);
	return o;
}

int explain_json(FILE *f, const struct hcw_finding_text *t)
{
	json_t *o = t ? finding_json(t) : json_array();
	size_t i;
	int ret;

	for (i = 0; !t && hcw_finding_at(i); i++)
		json_array_append_new(o, finding_json(hcw_finding_at(i)));
	ret = json_dumpf(o, f, JSON_INDENT(2)) ? -EIO : 0;
	json_decref(o);
	if (fputc('\n', f) == EOF || fflush(f))
		ret = -EIO;
	return ret;
}
