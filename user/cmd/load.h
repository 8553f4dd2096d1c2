/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace file, read whole into a chain. */
#ifndef HCW_LOAD_H
#define HCW_LOAD_H

#include "../base/err.h"
#include "../out/report.h"

struct hcw_loaded {
	struct hcw_trace_info info;
	struct hcw_chain *chain; /* freed by hcw_chain_free() */
};

int load_trace(const char *path, struct hcw_loaded *out, struct hcw_err *err);

#endif
