/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "lookup.h"

#define MAX_VARIANTS 32

/* What a compiler made of a function, best first. */
enum variant {
	PLAIN,
	ARGS_KEPT, /* only renamed */
	ARGS_LOST, /* arguments removed, made constant, or only a part of the function */
	NO_ENTRY,  /* a piece that is jumped to */
	VARIANTS,
};

static bool has_part(const char *suffix, const char *part)
{
	size_t len = strlen(part);

	for (; (suffix = strchr(suffix, '.')); suffix++)
		if (!strncmp(suffix + 1, part, len) && (suffix[1 + len] == '.' || !suffix[1 + len]))
			return true;
	return false;
}

/* gcc: .isra.N .constprop.N .part.N .cold .lto_priv.N; clang: .llvm.N .cold. A suffix nobody knows
 * promises nothing. */
static enum variant classify(const char *suffix)
{
	if (!*suffix)
		return PLAIN;
	if (has_part(suffix, "cold"))
		return NO_ENTRY;
	if (has_part(suffix, "isra") || has_part(suffix, "constprop") || has_part(suffix, "part"))
		return ARGS_LOST;
	return has_part(suffix, "llvm") || has_part(suffix, "lto_priv") ? ARGS_KEPT : ARGS_LOST;
}

struct sorted {
	const struct hcs_symbol *first[VARIANTS];
	size_t count[VARIANTS];
};

static void sort_out(struct sorted *s, const struct hcs_symbol *symbol, size_t n, size_t len)
{
	enum variant v;
	size_t i;

	*s = (struct sorted){0};
	for (i = 0; i < n; i++) {
		v = classify(symbol[i].name + len);
		if (!s->count[v]++)
			s->first[v] = &symbol[i];
	}
}

static void take(struct hcw_lookup *out, const struct hcs_kallsyms *symbols,
		 const struct hcs_symbol *found, enum variant v)
{
	size_t all = hcs_kallsyms_count(symbols, found->name, "*");

	snprintf(out->symbol, sizeof(out->symbol), "%s", found->name);
	out->addr = found->addr;
	out->suffixed = v != PLAIN;
	out->args_lost = v == ARGS_LOST;
	out->namesakes = all - 1;
	/* one that does not fit could be attached to another function */
	if (strlen(found->name) >= sizeof(out->symbol))
		out->candidates = 0;
}

static bool look_in(struct hcw_lookup *out, const struct hcs_kallsyms *symbols, const char *name,
		    const char *module)
{
	struct hcs_symbol symbol[MAX_VARIANTS];
	size_t n = hcs_kallsyms_find(symbols, name, module, symbol, MAX_VARIANTS);
	struct sorted s;
	int v, next;

	sort_out(&s, symbol, n < MAX_VARIANTS ? n : MAX_VARIANTS, strlen(name));
	for (v = PLAIN; v < NO_ENTRY && !s.count[v]; v++)
		;
	if (v == NO_ENTRY)
		return false;
	out->candidates = s.count[v];
	out->in_module = module != NULL;
	if (s.count[v] > 1)
		return true;
	take(out, symbols, s.first[v], v);
	for (next = v + 1; next < NO_ENTRY; next++)
		if (s.count[next] && !out->also[0])
			snprintf(out->also, sizeof(out->also), "%s", s.first[next]->name);
	return true;
}

void hcw_lookup(struct hcw_lookup *out, const struct hcs_kallsyms *symbols, const char *name,
		const char *module)
{
	*out = (struct hcw_lookup){0};
	if (!module || !look_in(out, symbols, name, module))
		look_in(out, symbols, name, NULL);
}
