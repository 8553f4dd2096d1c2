/* SPDX-License-Identifier: BSD-2-Clause */
/* The one table of findings: what each code means and what to do about it. */
#ifndef HCW_FINDINGS_H
#define HCW_FINDINGS_H

#include "model.h"

#define HCW_FINDING_SOURCES 8

struct hcw_finding_text {
	const char *code;     /* "HCW-101": stable for ever */
	const char *title;    /* one line */
	const char *cause;    /* what happened, in the kernel's words */
	const char *evidence; /* what was seen to say so */
	const char *remedy;   /* what to do; its first sentence stands alone */
	const char *leaves;   /* what the remedy does not cure */
	const char *versions; /* where this was read or measured */
	const char *source[HCW_FINDING_SOURCES + 1]; /* "file function" each, then NULL */
};

/* NULL when there is no such code. Upper and lower case are the same. */
const struct hcw_finding_text *hcw_finding_by_code(const char *code);

/* i-th row, NULL behind the last. */
const struct hcw_finding_text *hcw_finding_at(size_t i);

/* Code of the finding that a cause makes when it starts or prolongs an episode. Never NULL. */
const char *hcw_cause_code(enum hcw_cause cause);

/* The same for the start of an episode, and for an exposed pool; NULL when the pool is no finding.
 */
const char *hcw_episode_code(const struct hcw_episode *e);
const char *hcw_pool_code(const struct hcw_pool_info *p);

#endif
