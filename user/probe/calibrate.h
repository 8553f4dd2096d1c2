/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calibration: which candidate of each point to use. Knows what the kernel offers (names, BTF),
 * what the user wants, and what was tried and refused; decides by that alone, never by a kernel
 * version. No BPF here.
 */
#ifndef HCW_CALIBRATE_H
#define HCW_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include "../sys/kallsyms.h"
#include "choice.h"
#include "lookup.h"
#include "points.h"

#define HCW_MAX_CANDIDATES 64

struct hcw_trial {
	bool rejected;
	bool absent;	/* rejected because the function or tracepoint does not exist here */
	bool unwanted;	/* rejected because the user wants another tier, or none */
	bool in_module; /* of candidate.module: comes and goes with it */
	uint64_t addr;	/* where to probe when the name alone does not tell; 0: by name */
	int error;	/* negative errno of the attempt that failed, 0 when it was not attempted */
	char symbol[HCW_SYMBOL_MAX]; /* whole name of the function, with what the compiler added */
	char also[HCW_SYMBOL_MAX];   /* a function made of it whose calls are not seen */
	char reason[96];
};

/* Indexed by hcw_candidate_index(). */
struct hcw_calibration {
	struct hcw_probe_choices choices;
	struct hcw_trial trial[HCW_MAX_CANDIDATES];
};

struct hcw_calibrate_opts {
	int root; /* sys/ is read below it */
	const struct hcs_kallsyms *symbols;
	bool long_running; /* no fentry on functions of modules: it would keep them loaded */
	const struct hcw_probe_choices *choices; /* NULL: none */
};

size_t hcw_candidate_index(enum hcw_point p, size_t candidate);
struct hcw_trial *hcw_trial_of(struct hcw_calibration *c, enum hcw_point p, size_t candidate);

/*
 * Rejects what cannot work: names not in kallsyms, or of more than one function; functions whose
 * arguments the compiler may have changed, where they are read; fentry where the module has no BTF
 * or on a name that is not the plain one; what is not of the forced tier.
 */
void hcw_calibrate(struct hcw_calibration *c, const struct hcw_calibrate_opts *opts);

/* The same anew for the candidates of one module, which came, went, or was loaded again. */
void hcw_calibrate_module(struct hcw_calibration *c, const struct hcw_calibrate_opts *opts,
			  const char *module);

/* The candidates of a module that is gone, or not ready; what is built into the kernel stays. */
void hcw_calibrate_gone(struct hcw_calibration *c, const char *module);

/* Records a refusal; `error` is a negative errno. */
void hcw_reject(struct hcw_calibration *c, enum hcw_point p, size_t candidate, int error,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Whether a candidate is the one to use: not rejected, and none before it for the same point (or
 * function) is. */
bool hcw_chosen(const struct hcw_calibration *c, enum hcw_point p, size_t candidate);

/* The plan when every chosen candidate is attached; points made of marks are not active. */
void hcw_plan_build(struct hcw_plan *plan, const struct hcw_calibration *c);

/* The same for a plan in use: points made of marks stay as they are. */
void hcw_plan_update(struct hcw_plan *plan, const struct hcw_calibration *c);

#endif
