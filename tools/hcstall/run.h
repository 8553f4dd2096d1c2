/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HCSTALL_RUN_H
#define HCSTALL_RUN_H

#include "err.h"
#include "options.h"
#include "ranks.h"
#include "result.h"

/*
 * The whole experiment. 0, or -1 with err; result->trials is then the number of trials that were
 * complete before. Every process has ended and everything is given back in either case; the result
 * is the caller's, for stall_result_free().
 */
int stall_run(const struct stall_options *opts, struct stall_result *result, struct stall_err *err);

void stall_result_free(struct stall_result *result);

#endif
