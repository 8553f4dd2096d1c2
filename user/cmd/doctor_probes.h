/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HCW_DOCTOR_PROBES_H
#define HCW_DOCTOR_PROBES_H

#include "../base/err.h"
#include "../out/doctor.h"
#include "../probe/choice.h"

/*
 * Fills the plan, the checks and the capabilities. A refusal is not an error but part of it
 * (`denied`, `what`); -ENOMEM is one, and fills err.
 */
int doctor_probe(struct doctor_probes *out, int root, const struct hcw_probe_choices *choices,
		 struct hcw_err *err);

#endif
