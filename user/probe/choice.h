/* SPDX-License-Identifier: BSD-2-Clause */
/* What the user wants of a probe point: --probe POINT=off|TIER. */
#ifndef HCW_CHOICE_H
#define HCW_CHOICE_H

#include <stddef.h>
#include "plan.h"

struct hcw_probe_choice {
	bool forced;	    /* false: calibration chooses; true: `tier` and no other */
	enum hcw_tier tier; /* HCW_TIER_OFF: not to be probed */
};

/* All zero: calibration chooses everywhere. */
struct hcw_probe_choices {
	struct hcw_probe_choice point[HCW_POINT_COUNT];
};

/*
 * Takes one "POINT=off" or "POINT=TIER"; a later one for the same point replaces it. 0, or -EINVAL
 * with the reason in `why` (at most `size` bytes, the known points or tiers listed): an unknown
 * point, an unknown tier, or a tier the point has not. `c` is unchanged then.
 */
int hcw_probe_choose(struct hcw_probe_choices *c, const char *text, char *why, size_t size);

#endif
