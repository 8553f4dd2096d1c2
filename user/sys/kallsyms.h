/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/kallsyms: which functions exist, and the name of an address. */
#ifndef HCS_KALLSYMS_H
#define HCS_KALLSYMS_H

#include "sys.h"

struct hcs_kallsyms; /* about 40 bytes a function; owned by the caller, read-only once loaded */

/*
 * Loads all text symbols (types t and w of nm). Addresses are 0 when kptr_restrict hides them: see
 * hcs_kallsyms_hidden().
 */
int hcs_kallsyms_load(struct hcs_kallsyms **out, int root, uint64_t deadline);
void hcs_kallsyms_free(struct hcs_kallsyms *k);

/*
 * How many text symbols have exactly this name, in the kernel (module NULL), a module, or anywhere
 * (module "*").
 */
size_t hcs_kallsyms_count(const struct hcs_kallsyms *k, const char *name, const char *module);

struct hcs_symbol {
	const char *name;   /* owned by the table */
	const char *module; /* "" = kernel */
	uint64_t addr;	    /* 0 when hidden */
};

/*
 * The text symbols called `name`, or `name` followed by what a compiler appends to the names of the
 * functions it makes of one (".isra.0", ".llvm.123", ".cold"); `module` as above. Writes the first
 * `max`, by address, and returns how many there are.
 */
size_t hcs_kallsyms_find(const struct hcs_kallsyms *k, const char *name, const char *module,
			 struct hcs_symbol *out, size_t max);

/* Memory it holds. */
size_t hcs_kallsyms_bytes(const struct hcs_kallsyms *k);

/* 1 when every address reads 0. */
int hcs_kallsyms_hidden(const struct hcs_kallsyms *k);

/*
 * "name+0x1f [module]" into buf; -ENOENT when no symbol is at addr or up to 1 MiB below it or
 * addresses are hidden, -E2BIG when it was cut to fit.
 */
int hcs_kallsyms_name(const struct hcs_kallsyms *k, uint64_t addr, char *buf, size_t size);

#endif
