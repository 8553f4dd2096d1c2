/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of probe points: which functions and tracepoints tell what a point tells, on which
 * kernels, and by which BPF programs each can be probed.
 *
 * A candidate is one function (or tracepoint pair) at one tier. Candidates are in order of
 * preference; those of the same function stand together. Most points want one candidate; those
 * marked `every` want one of each function that exists, because several drivers can be present at
 * once.
 */
#ifndef HCW_POINTS_H
#define HCW_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include "../../bpf/hcwatch_abi.h"
#include "plan.h"

#define HCW_HOOKS   2
#define HCW_MODULES 2

/* One BPF program on one target. */
struct hcw_hook {
	const char *program; /* its name in bpf/ */
	const char *target;  /* function, tracepoint, or "provider:name" of a mark */
	bool on_return;	     /* kprobe tier: probe the return */
};

enum hcw_arg_kind {
	HCW_ARG_END,	 /* no more */
	HCW_ARG_STRUCT,	 /* pointer to struct `type` */
	HCW_ARG_POINTER, /* to anything */
	HCW_ARG_INT,	 /* integer or enum of `size` bytes */
};

/* One argument that the programs of a candidate read. */
struct hcw_arg {
	enum hcw_arg_kind kind;
	unsigned char index; /* from 0 */
	unsigned char size;
	const char *type;
};

/* What a function must look like; where BTF describes it, this is checked. */
struct hcw_prototype {
	unsigned char params;	   /* how many it has: where its fexit finds the returned value */
	const struct hcw_arg *arg; /* those that are read; NULL: none, so that a function whose
				      arguments the compiler changed will do, too */
};

struct hcw_candidate {
	enum hcw_tier tier;
	const char *function; /* what it is called in the plan; candidates of one function are
				 alternatives */
	const char *module; /* the module that holds it unless built in; NULL: always the kernel */
	bool module_types;  /* reads types that only the module's BTF describes */
	const struct hcw_prototype *prototype; /* NULL: any; nothing of it is read */
	/* Attached in order: the return before the entry, so no entry is seen whose return is not.
	 */
	struct hcw_hook hook[HCW_HOOKS]; /* unused ones have no program */
};

struct hcw_point_info {
	const char *name;	     /* stable: stands in the JSON and after --probe */
	bool every;		     /* one candidate of each function, not just the first */
	enum hcw_record_type record; /* what it is for; lost when the point is inactive */
	const struct hcw_candidate *candidate;
	size_t count;
};

/* `p` below HCW_POINT_COUNT. */
const struct hcw_point_info *hcw_point_info(enum hcw_point p);

/* The modules that candidates are in, each once; NULL behind the last. */
const char *hcw_module_name(size_t index);

/* Candidates of all points together. */
size_t hcw_candidate_total(void);

#endif
