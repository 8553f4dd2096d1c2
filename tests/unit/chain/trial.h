/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial that clears a driver-owned pool, to be twisted in one place at a time: each doubt must
 * show as exactly its own reason.
 */
#ifndef TEST_CHAIN_TRIAL_H
#define TEST_CHAIN_TRIAL_H

#include "stream.h"

#define ATTEMPT MS(100)
#define ANSWER	MS(101)

/* Changes one thing of the trial; runs after the server appeared and before the attempt. */
typedef void (*twist_fn)(struct stream *s, struct hcw_move_pages *mp);

struct trial {
	unsigned int sources; /* 0 = all */
	bool no_mapping, no_attempt, no_end;
	twist_fn twist;
	enum hcw_verdict_word verdict;
	enum hcw_evidence evidence;
	unsigned int reasons;
};

#define POOL_END  (POOL + POOL_BYTES)
#define HALF_WAY  (POOL + POOL_BYTES / 2)
#define OF_DRIVER (HCW_VM_IO | HCW_VM_PFNMAP)

/* Runs the trial and fails the test, by `name`, when the verdict is not the one in `t`. */
void check_trial(const struct trial *t, const char *name);

#define CHECK(name, ...) check_trial(&(struct trial){__VA_ARGS__}, name)

#define CLEARED                                                        \
	.verdict = HCW_VERDICT_IMMUNE, .evidence = HCW_EVIDENCE_TRIAL, \
	.reasons = HCW_WHY_DRIVER_PAGES | HCW_WHY_REFUSED

#define BY_MAPPING_BUT(why)                                              \
	.verdict = HCW_VERDICT_IMMUNE, .evidence = HCW_EVIDENCE_MAPPING, \
	.reasons = HCW_WHY_DRIVER_PAGES | (why)

#define UNREAD                                                              \
	.verdict = HCW_VERDICT_INCONCLUSIVE, .evidence = HCW_EVIDENCE_NONE, \
	.reasons = HCW_WHY_MAPPING_UNREAD

#endif
