/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of `hcwatch lab` only. */
#ifndef HCW_LAB_INTERNAL_H
#define HCW_LAB_INTERNAL_H

#include <stdbool.h>
#include "../out/lab.h"
#include "../probe/choice.h"
#include "load.h"

struct lab_opts {
	const char *pool_option, *pool_value; /* "--pool-gb" or "--pool-mib" and its number */
	const char *trials, *iterations;      /* as given, checked; NULL = hcstall's default */
	const char *trigger;		      /* NULL = hcstall's default, a move_pages() */
	const char *hcstall;		      /* program, NULL = beside hcwatch */
	const char *hip;		      /* HIP runtime for hcstall, NULL = its search */
	const char *rocblas;		      /* the same for rocBLAS */
	const char *traces;	       /* folder to keep the traces in, NULL = throw them away */
	const char *arm[LAB_MAX_ARMS]; /* allocators to measure, in order */
	size_t n_arms;
	const char *require_immune[LAB_MAX_ARMS];
	size_t n_required;
	const char *output;		  /* file for the JSON object, NULL = none */
	struct hcw_probe_choices choices; /* of --probe */
	bool json;			  /* the JSON object on stdout, not the table */
};

/* The arms there are, in the order they run; a NULL name behind the last. */
struct lab_kind {
	const char *name;
	const char *userptr; /* HSA_USERPTR_FOR_PAGED_MEM of this arm, NULL = unset */
	bool by_default;     /* measured when no arm is named */
};
extern const struct lab_kind lab_kinds[];

/* What hcstall can do to the pool; NULL behind the last. */
extern const char *const lab_triggers[];

/* NULL when there is none of the name. */
const struct lab_kind *lab_kind_find(const char *name);

/* Where the trace of an arm is or will be. */
void lab_trace_path(const struct lab_opts *o, const char *allocator, char *buf, size_t size);

/* Runs hcstall for one arm under trace and fills `arm` and what is common to all arms in `res`. */
int lab_arm_run(const struct lab_opts *o, const char *allocator, struct lab_result *res,
		struct lab_arm *arm, struct hcw_err *err);

/* Takes hcstall's JSON object; `pid` and `ptr` say which pool of which process it measured. */
int lab_parse(const char *json, size_t len, struct lab_result *res, struct lab_arm *arm, __u32 *pid,
	      __u64 *ptr, struct hcw_err *err);

/* Adds what the trace saw to each trial, and the verdict on the pool. */
void lab_join(struct lab_arm *arm, const struct hcw_model *m, __u32 pid, __u64 ptr);

#endif
