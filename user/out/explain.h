/* SPDX-License-Identifier: BSD-2-Clause */
/* Renderers of the findings table. */
#ifndef HCW_OUT_EXPLAIN_H
#define HCW_OUT_EXPLAIN_H

#include <stdio.h>
#include "../chain/findings.h"

void explain_text(FILE *f, const struct hcw_finding_text *t);

/* One line per code. */
void explain_list(FILE *f);

/* One JSON object, or with t NULL an array of all of them. 0 or -EIO. */
int explain_json(FILE *f, const struct hcw_finding_text *t);

#endif
