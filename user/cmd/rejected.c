/* SPDX-License-Identifier: BSD-2-Clause */
#include "rejected.h"

bool rejected_has(const struct rejected *t, __u32 tgid)
{
	size_t i;

	for (i = 0; tgid && i < REJECTED_MAX; i++)
		if (t->tgid[i] == tgid)
			return true;
	return false;
}

void rejected_add(struct rejected *t, __u32 tgid)
{
	if (rejected_has(t, tgid))
		return;
	t->tgid[t->next] = tgid;
	t->next = (t->next + 1) % REJECTED_MAX;
}

void rejected_clear(struct rejected *t, __u32 tgid)
{
	size_t i;

	for (i = 0; i < REJECTED_MAX; i++)
		if (t->tgid[i] == tgid)
			t->tgid[i] = 0;
}

void rejected_record(struct rejected *t, const struct hcw_rec *rec, int watched)
{
	const void *body = rec + 1;
	const struct hcw_task_exit *x = body;
	const struct hcw_task *k = body;

	if (rec->type == HCW_R_TASK_EXIT && x->last)
		rejected_clear(t, x->tgid);
	else if (rec->type == HCW_R_TASK && watched == HCW_WATCHED)
		rejected_clear(t, k->tgid);
}
