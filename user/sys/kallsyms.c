/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io.h"
#include "kallsyms.h"

#define MAX_SYMBOLS (1u << 22)
#define MAX_NAMES   (1u << 28) /* bytes of all names */
#define MAX_OFFSET  (1u << 20) /* no function is longer; beyond is memory without a symbol */

struct symbol {
	uint64_t addr;
	uint32_t name;	 /* offset in names */
	uint32_t hash;	 /* of the name up to a dot: makes a search one pass over integers */
	uint32_t module; /* offset of the module's name in names; 0 = kernel */
};

struct hcs_kallsyms {
	struct symbol *symbol; /* by address, then in file order */
	size_t n, room;
	char *names; /* starts with "" */
	size_t names_len, names_room;
	uint32_t last_module; /* modules follow each other in the file */
	bool visible;	      /* an address other than 0 was seen */
};

static uint32_t hash_name(const char *s)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *s && *s != '.'; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static int grow(void **array, size_t *room, size_t need, size_t item)
{
	size_t target = *room ? *room : 4096;
	void *p;

	if (need <= *room)
		return 0;
	while (target < need)
		target *= 2;
	p = realloc(*array, target * item);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = target;
	return 0;
}

static int add_name(struct hcs_kallsyms *k, const char *name, uint32_t *offset)
{
	size_t size = strlen(name) + 1;
	int ret;

	if (k->names_len + size > MAX_NAMES)
		return -E2BIG;
	ret = grow((void **)&k->names, &k->names_room, k->names_len + size, 1);
	if (ret)
		return ret;
	*offset = (uint32_t)k->names_len;
	memcpy(k->names + k->names_len, name, size);
	k->names_len += size;
	return 0;
}

static int add_module(struct hcs_kallsyms *k, const char *module, uint32_t *offset)
{
	int ret = 0;

	if (!*module)
		*offset = 0;
	else if (!strcmp(k->names + k->last_module, module))
		*offset = k->last_module;
	else
		ret = add_name(k, module, offset);
	if (!ret && *module)
		k->last_module = *offset;
	return ret;
}

static int add_symbol(struct hcs_kallsyms *k, uint64_t addr, const char *name, const char *module)
{
	struct symbol s = {.addr = addr, .hash = hash_name(name)};
	int ret;

	if (k->n == MAX_SYMBOLS)
		return -E2BIG;
	ret = add_module(k, module, &s.module);
	if (!ret)
		ret = add_name(k, name, &s.name);
	if (!ret)
		ret = grow((void **)&k->symbol, &k->room, k->n + 1, sizeof(s));
	if (ret)
		return ret;
	k->symbol[k->n++] = s;
	k->visible |= addr != 0;
	return 0;
}

/* Ends name before "\t[module]" and returns the module's name, "" without one, NULL when malformed.
 */
static char *split_module(char *name)
{
	char *tab = strchr(name, '\t');
	size_t len;

	if (!tab)
		return name + strlen(name);
	*tab++ = '\0';
	len = strlen(tab);
	if (len < 3 || tab[0] != '[' || tab[len - 1] != ']')
		return NULL;
	tab[len - 1] = '\0';
	return tab + 1;
}

/* "ffffffff81000000 T _stext" or "ffffffffc0201000 t kgd2kfd_quiesce_mm\t[amdgpu]" */
static int parse_line(char *text, void *ctx)
{
	struct hcs_kallsyms *k = ctx;
	char *name, *module;
	uint64_t addr;
	size_t digits = strspn(text, "0123456789abcdef");

	if (!digits || digits > 16 || text[digits] != ' ' || !text[digits + 1] ||
	    text[digits + 2] != ' ')
		return -EBADMSG;
	if (!strchr("tTwW", text[digits + 1]))
		return 0;
	addr = strtoull(text, NULL, 16);
	name = text + digits + 3;
	module = split_module(name);
	if (!module || !*name)
		return -EBADMSG;
	return add_symbol(k, addr, name, module);
}

static int compare_symbol(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

int hcs_kallsyms_load(struct hcs_kallsyms **out, int root, uint64_t deadline)
{
	struct hcs_kallsyms *k = calloc(1, sizeof(*k));
	uint32_t empty;
	int ret;

	if (!k)
		return -ENOMEM;
	ret = add_name(k, "", &empty);
	if (!ret)
		ret = hcs_each_line(root, "proc/kallsyms", parse_line, k, deadline);
	if (ret) {
		hcs_kallsyms_free(k);
		return ret;
	}
	if (k->n)
		qsort(k->symbol, k->n, sizeof(*k->symbol), compare_symbol);
	*out = k;
	return 0;
}

void hcs_kallsyms_free(struct hcs_kallsyms *k)
{
	if (!k)
		return;
	free(k->symbol);
	free(k->names);
	free(k);
}

/* Whether `s` stands where `module` says, as in hcs_kallsyms_count(). */
static bool stands_in(const struct hcs_kallsyms *k, const struct symbol *s, const char *module)
{
	if (module && !strcmp(module, "*"))
		return true;
	return !strcmp(k->names + s->module, module ? module : "");
}

size_t hcs_kallsyms_count(const struct hcs_kallsyms *k, const char *name, const char *module)
{
	uint32_t hash = hash_name(name);
	size_t count = 0;

	for (size_t i = 0; i < k->n; i++) {
		const struct symbol *s = &k->symbol[i];

		if (s->hash == hash && !strcmp(k->names + s->name, name) && stands_in(k, s, module))
			count++;
	}
	return count;
}

size_t hcs_kallsyms_find(const struct hcs_kallsyms *k, const char *name, const char *module,
			 struct hcs_symbol *out, size_t max)
{
	uint32_t hash = hash_name(name);
	size_t len = strlen(name), count = 0;

	for (size_t i = 0; len && i < k->n; i++) {
		const struct symbol *s = &k->symbol[i];
		const char *text = k->names + s->name;

		if (s->hash != hash || strncmp(text, name, len) ||
		    (text[len] && text[len] != '.') || !stands_in(k, s, module))
			continue;
		if (count < max)
			out[count] = (struct hcs_symbol){text, k->names + s->module, s->addr};
		count++;
	}
	return count;
}

size_t hcs_kallsyms_bytes(const struct hcs_kallsyms *k)
{
	return sizeof(*k) + k->n * sizeof(*k->symbol) + k->names_len;
}

int hcs_kallsyms_hidden(const struct hcs_kallsyms *k)
{
	return !k->visible;
}

/* The first symbol of the highest address at or below addr, as kallsyms_lookup() of the kernel
 * picks it. */
static const struct symbol *find_addr(const struct hcs_kallsyms *k, uint64_t addr)
{
	size_t lo = 0, hi = k->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->symbol[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	for (lo--; lo && k->symbol[lo - 1].addr == k->symbol[lo].addr; lo--)
		;
	return &k->symbol[lo];
}

int hcs_kallsyms_name(const struct hcs_kallsyms *k, uint64_t addr, char *buf, size_t size)
{
	const struct symbol *s = k->visible ? find_addr(k, addr) : NULL;
	int n;

	if (!s || addr - s->addr > MAX_OFFSET)
		return -ENOENT;
	n = snprintf(buf, size, "%s+0x%llx%s%s%s", k->names + s->name,
		     (unsigned long long)(addr - s->addr), s->module ? " [" : "",
		     k->names + s->module, s->module ? "]" : "");
	return n < 0 || (size_t)n >= size ? -E2BIG : 0;
}
