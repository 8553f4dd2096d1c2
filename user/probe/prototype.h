/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a function looks the way our programs read it, by the types in BTF. */
#ifndef HCW_PROTOTYPE_H
#define HCW_PROTOTYPE_H

#include <bpf/btf.h>
#include "points.h"

/*
 * `function` is the id of a FUNC in `btf`. 0 when it has the arguments of `want` where they are
 * expected (NULL: any will do), else -EPROTOTYPE and `why` says which one is not. `count`: a fexit
 * program reads what it returns, so the number of its arguments matters, too.
 */
int hcw_prototype_check(const struct btf *btf, __u32 function, const struct hcw_prototype *want,
			bool count, char *why, size_t size);

#endif
