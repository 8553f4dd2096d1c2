/* SPDX-License-Identifier: BSD-2-Clause */
/* Rank 0: the pool whose pages are moved, and the phases. */
#ifndef HCSTALL_LEAD_H
#define HCSTALL_LEAD_H

#include "helper.h"
#include "session.h"

/* All phases. `helper` is used by triggers that need it. 0, or -1 with err; result->trials says how
 * many trials were complete before. */
int stall_lead(struct stall_session *s, struct stall_helper *helper, struct stall_result *result,
	       struct stall_err *err);

#endif
