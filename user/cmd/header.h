/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON header of a trace: what machine, which probes, whom it was about. */
#ifndef HCW_HEADER_H
#define HCW_HEADER_H

#include <stdint.h>
#include <sys/types.h>
#include "../base/err.h"
#include "../out/report.h"
#include "../probe/plan.h"
#include "filter.h"

#define HCW_FORMAT 1

#define HEADER_MAX 16384 /* bytes, with the NUL; what a record of it has room for */

/*
 * Renders the header of a recording that starts now. `target`: the process it is about, 0 = no one
 * in particular; its command line, which the kernel reads under its mmap_lock, only when it is
 * `quiet`, else its comm stands there. `process` has an entry for each -p of the filter. When it
 * would not fit HEADER_MAX the lists of the filter are cut, which "cut": true in it says. The
 * caller frees it.
 */
char *header_make(const struct hcw_plan *plan, pid_t target, bool quiet,
		  const struct filter *filter, const struct filter_process *process);

/* Reads a header back. Unknown members are ignored; a newer format is an error. */
int header_parse(const char *json, size_t len, struct hcw_trace_info *out, struct hcw_err *err);

/* Record types that the active probes of a trace write: the mask of hcw_chain_sources(). */
unsigned int header_sources(const struct hcw_trace_info *info);

/* Whether a probe point was active. */
bool header_active(const struct hcw_trace_info *info, enum hcw_point p);

#endif
