/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which function of the running kernel a name of points.c is. The compiler may have made several
 * functions of one (name.isra.0, name.constprop.1, name.part.0, name.llvm.N), and several objects
 * may have a static one of the same name.
 */
#ifndef HCW_LOOKUP_H
#define HCW_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include "../sys/kallsyms.h"

#define HCW_SYMBOL_MAX 96

struct hcw_lookup {
	size_t candidates;	     /* 0 = no such function; more than 1 = no telling which */
	char symbol[HCW_SYMBOL_MAX]; /* its whole name, when there is one */
	uint64_t addr;		     /* 0 = hidden */
	bool in_module;		     /* of the module asked for; else in the kernel */
	bool suffixed;		     /* the compiler renamed it */
	bool args_lost;		     /* and may have changed its arguments */
	size_t namesakes; /* functions of that whole name elsewhere in kernel and modules */
	char also[HCW_SYMBOL_MAX]; /* a second function made of it, whose calls are not seen */
};

/*
 * Looks `name` up in `module` (NULL: none) and, when it is not there, in the kernel itself; never
 * in another module. The plain name first, then one whose arguments are as written (.llvm), then
 * one whose may not be; what is no beginning of a function (.cold) never.
 */
void hcw_lookup(struct hcw_lookup *out, const struct hcs_kallsyms *symbols, const char *name,
		const char *module);

#endif
