/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calibration: which candidate of each point to use. Knows what the kernel offers (names, BTF) and
 * what was tried and refused; decides by that alone, never by a kernel version. No BPF here.
 */
#ifndef HCW_CALIBRATE_H
#define HCW_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include "../sys/kallsyms.h"
#include "points.h"

#define HCW_MAX_CANDIDATES 64

struct hcw_trial {
	bool rejected;
	bool absent; /* rejected because the function or tracepoint does not exist here */
	int error;   /* negative errno of the attempt that failed, 0 when it was not attempted */
	char reason[96];
};

/* Indexed by hcw_candidate_index(). */
struct hcw_calibration {
	struct hcw_trial trial[HCW_MAX_CANDIDATES];
};

size_t hcw_candidate_index(enum hcw_point p, size_t candidate);

/*
 * Rejects what cannot work: names not in `symbols`, or of more than one function of the kernel;
 * fentry where the module has no BTF (`root`/sys/kernel/btf), and with `long_running` fentry on
 * functions of modules.
 */
void hcw_calibrate(struct hcw_calibration *c, int root, const struct hcs_kallsyms *symbols,
		   bool long_running);

/* Records a refusal; `error` is a negative errno. */
void hcw_reject(struct hcw_calibration *c, enum hcw_point p, size_t candidate, int error,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Whether a candidate is the one to use: not rejected, and none before it for the same point (or
 * function) is. */
bool hcw_chosen(const struct hcw_calibration *c, enum hcw_point p, size_t candidate);

/* The plan when every chosen candidate is attached; points made of marks are not active. */
void hcw_plan_build(struct hcw_plan *plan, const struct hcw_calibration *c);

#endif
