/* SPDX-License-Identifier: BSD-2-Clause */
/* What must hold before any memory is taken. Each failure is a class with its own text. */
#ifndef HCSTALL_PRECHECK_H
#define HCSTALL_PRECHECK_H

#include "err.h"
#include "options.h"
#include "result.h"

/* Fills result->node and nodes. 0, or -1 with err. */
int stall_precheck(int root, const struct stall_options *opts, struct stall_result *result,
		   struct stall_err *err);

#endif
