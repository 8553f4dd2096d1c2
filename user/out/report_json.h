/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of the report's JSON that other outputs show under the same names. The caller owns what is
 * returned. */
#ifndef HCW_REPORT_JSON_H
#define HCW_REPORT_JSON_H

#include <jansson.h>
#include "report.h"

json_t *report_json_missing(const struct hcw_trace_info *info);
json_t *report_json_episode(const struct hcw_chain *chain, const struct hcw_episode *e);
json_t *report_json_stall(const struct hcw_stall *s);
/* report_json_seen.c */
json_t *report_json_totals(const struct hcw_model *m);
json_t *report_json_lost_by(const struct hcw_model *m); /* over all sources */
json_t *report_json_limits(const struct hcw_model *m);
json_t *report_json_clock(const struct hcw_model *m);

#endif
