/* SPDX-License-Identifier: BSD-2-Clause */
/* hcstall's trials and the trace's episodes meet by time: both clocks are CLOCK_BOOTTIME. */
#include <string.h>
#include "lab_internal.h"

/* Pages that moved because somebody asked, not because the kernel wanted to (enum migrate_reason:
 * MR_SYSCALL, MR_MEMPOLICY_MBIND). */
static bool on_request(const struct hcw_attempt *a)
{
	return a->is_move_pages || a->reason == 3 || a->reason == 4;
}

static void join_attempts(struct lab_trial *t, const struct hcw_model *m, __u32 pid)
{
	bool migrate_seen = m->totals[HCW_R_MIGRATE].emitted > 0;
	size_t i;

	for (i = 0; i < m->n_attempts; i++) {
		const struct hcw_attempt *a = &m->attempts[i];

		if (!on_request(a) || (a->actor.tgid != pid && a->actor.tgid != t->mover_pid) ||
		    a->start < t->begin_ns || a->start >= t->end_ns)
			continue;
		/* what the kernel says it migrated; without that source, what it told the caller */
		t->traced_moved += migrate_seen || !a->move.moved ? a->migrated : a->move.moved;
	}
}

static void join_episodes(struct lab_trial *t, const struct hcw_model *m, __u32 pid)
{
	size_t i;

	for (i = 0; i < m->n_episodes; i++) {
		const struct hcw_episode *e = &m->episodes[i];

		if (e->victim != pid || e->start < t->begin_ns || e->start >= t->end_ns)
			continue;
		if (!t->episodes++)
			t->actor = e->started_by;
		t->passes += e->passes;
		t->open |= !e->end;
		if (e->worst_stall > t->stalled_ns)
			t->stalled_ns = e->worst_stall;
		t->episode_ns += (e->end ? e->end : m->last_ts) - e->start;
	}
}

static const struct hcw_pool_info *pool_of(const struct hcw_model *m, __u32 pid, __u64 ptr)
{
	size_t i;

	for (i = m->n_pools; i-- > 0;)
		if (m->pools[i].tgid == pid && m->pools[i].ptr == ptr)
			return &m->pools[i];
	return NULL;
}

void lab_join(struct lab_arm *arm, const struct hcw_model *m, __u32 pid, __u64 ptr)
{
	const struct hcw_pool_info *p = pool_of(m, pid, ptr);
	size_t i;

	arm->lost = m->lost;
	for (i = 0; i < arm->n_trials; i++) {
		join_attempts(&arm->trial[i], m, pid);
		join_episodes(&arm->trial[i], m, pid);
	}
	if (!p) {
		arm->reasons = HCW_WHY_PROBE_MISSING;
		return;
	}
	arm->verdict = p->verdict;
	arm->evidence = p->evidence;
	arm->reasons = p->reasons;
	arm->vmflags = p->vmflags;
	memcpy(arm->path, p->path, sizeof(arm->path));
	/* a lab is there to try: a mapping alone concludes nothing here */
	if (arm->evidence != HCW_EVIDENCE_TRIAL)
		arm->verdict = HCW_VERDICT_INCONCLUSIVE;
}
