/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch doctor --probes: tries the plan, and looks at what stands in its way. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include "../probe/session.h"
#include "../sys/rights.h"
#include "doctor_internal.h"
#include "doctor_probes.h"

#define SYMBOLS_MS 60000 /* half a second; emulated or busy machines take their time */

void doctor_take_plan(struct doctor_probes *out, const struct hcw_plan *plan)
{
	size_t i;

	for (i = 0; i < HCW_POINT_COUNT && i < HCW_MAX_PROBES; i++) {
		const struct hcw_plan_entry *e = &plan->entry[i];
		struct hcw_probe_info *info = &out->probe[i];

		info->active = e->active;
		snprintf(info->point, sizeof(info->point), "%s", hcw_point_name(e->point));
		snprintf(info->tier, sizeof(info->tier), "%s", hcw_tier_name(e->tier));
		snprintf(info->target, sizeof(info->target), "%s", e->target);
		snprintf(info->reason, sizeof(info->reason), "%s", e->reason);
		out->needed[i] = report_point_needed(info->point);
	}
	out->n_probes = i;
}

static __u64 memlock_limit(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_MEMLOCK, &l) || l.rlim_cur == RLIM_INFINITY ? ~0ull : l.rlim_cur;
}

int doctor_probe(struct doctor_probes *out, int root, const struct hcw_probe_choices *choices,
		 struct hcw_err *err)
{
	struct hcw_session_opts opts = {
		.watch_all = true, .long_running = true, .choices = *choices};
	struct doctor_attempt tried = {.memlock = memlock_limit()};
	struct hcs_kallsyms *symbols = NULL;
	struct hcw_plan plan;
	int ret;

	memset(out, 0, sizeof(*out));
	tried.symbols_error = hcs_kallsyms_load(&symbols, root, hcs_deadline_ms(SYMBOLS_MS));
	tried.symbols_hidden = symbols && hcs_kallsyms_hidden(symbols);
	opts.symbols = symbols;
	ret = hcw_probe_plan(&plan, &opts, err);
	hcs_kallsyms_free(symbols);
	if (ret == -ENOMEM)
		return ret;
	tried.denied = ret && err->code == HCW_EXIT_PERMISSION;
	tried.kprobe = hcs_perf_probe_right(root, "kprobe", hcs_deadline_ms(DOCTOR_READ_MS));
	tried.uprobe = hcs_perf_probe_right(root, "uprobe", hcs_deadline_ms(DOCTOR_READ_MS));
	out->denied = tried.denied;
	if (ret)
		snprintf(out->what, sizeof(out->what), "%s", err->what);
	doctor_take_plan(out, &plan);
	doctor_read_checks(out, root, &tried);
	return 0;
}
