/* SPDX-License-Identifier: BSD-2-Clause */
/* What text and JSON of `hcwatch doctor` both need: counts, exit codes, words. */
#include "doctor.h"

size_t doctor_findings(const struct doctor_host *h)
{
	size_t i, n = 0;

	for (i = 0; i < h->n_settings; i++)
		n += h->setting[i].code != NULL;
	return n;
}

size_t doctor_unread(const struct doctor_host *h)
{
	size_t i, n = (h->nodes_known == DOCTOR_UNKNOWN) + (h->kernel_btf == DOCTOR_UNKNOWN) +
		      (h->kfd == DOCTOR_UNKNOWN) + (h->gpus_known == DOCTOR_UNKNOWN);

	for (i = 0; i < h->n_settings; i++)
		n += h->setting[i].known == DOCTOR_UNKNOWN;
	for (i = 0; i < h->n_modules; i++)
		n += h->module[i].known == DOCTOR_UNKNOWN;
	return n;
}

enum hcw_exit doctor_exit(const struct doctor_host *h)
{
	if (doctor_unread(h))
		return HCW_EXIT_INCOMPLETE;
	return doctor_findings(h) ? HCW_EXIT_FINDING : HCW_EXIT_OK;
}

size_t doctor_needed(const struct doctor_probes *p, bool active_only)
{
	size_t i, n = 0;

	for (i = 0; i < p->n_probes; i++)
		n += p->needed[i] && (!active_only || p->probe[i].active);
	return n;
}

enum hcw_exit doctor_probes_exit(const struct doctor_probes *p)
{
	size_t needed = doctor_needed(p, false);

	if (p->denied)
		return HCW_EXIT_PERMISSION;
	return needed && doctor_needed(p, true) == needed ? HCW_EXIT_OK : HCW_EXIT_INCOMPLETE;
}

const char *doctor_effect_name(enum doctor_effect e)
{
	static const char *const names[] = {
		[DOCTOR_NO] = "no",
		[DOCTOR_CAN] = "yes",
		[DOCTOR_CAN_SOME] = "some kernels",
		[DOCTOR_ON_REQUEST] = "on request",
		[DOCTOR_UNMEASURED] = "not measured",
		[DOCTOR_CANNOT_SAY] = "unknown",
	};

	return names[e];
}

const char *doctor_known_name(enum doctor_known k)
{
	static const char *const names[] = {"known", "absent", "unknown"};

	return names[k];
}

const char *doctor_bearing_name(enum doctor_bearing b)
{
	static const char *const names[] = {"ok", "limits", "blocks", "unknown"};

	return names[b];
}
