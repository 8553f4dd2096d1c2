/* SPDX-License-Identifier: BSD-2-Clause */
#include "watched.h"

struct watched *watched_find(struct watched_table *t, __u32 tgid, __u64 mm)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (tgid ? t->process[i].tgid == tgid : mm && t->process[i].mm == mm)
			return &t->process[i];
	return NULL;
}

struct watched *watched_add(struct watched_table *t, __u32 tgid, __u64 since)
{
	struct watched *w = watched_find(t, tgid, 0);

	if (w || !tgid)
		return w;
	if (t->n == WATCHED_MAX)
		return NULL;
	w = &t->process[t->n++];
	*w = (struct watched){.tgid = tgid, .last = since};
	return w;
}

/* An address space is one process's: of another it is the one it had before. */
static void claim(struct watched_table *t, struct watched *w, __u64 mm)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->process[i].mm == mm)
			t->process[i].mm = 0;
	w->mm = mm;
}

static void sign(struct watched_table *t, __u32 tgid, __u64 mm, __u64 ts, bool evicted)
{
	struct watched *w = watched_find(t, tgid, mm);

	if (!w)
		return;
	if (mm)
		claim(t, w, mm);
	w->evicted = evicted;
	w->last = ts;
}

static void task(struct watched_table *t, const struct hcw_task *k)
{
	struct watched *w = watched_find(t, k->tgid, 0);

	if (!w || k->tid != k->tgid || !k->mm || w->mm == k->mm)
		return;
	/* vfork: it is its parent's until exec */
	if (watched_find(t, 0, k->mm))
		return;
	/* exec: a new address space, which nobody has evicted yet */
	if (w->mm)
		w->evicted = false;
	w->mm = k->mm;
}

static void gone(struct watched_table *t, const struct hcw_task_exit *x)
{
	struct watched *w = watched_find(t, x->tgid, 0);

	if (w && x->last)
		*w = t->process[--t->n];
}

void watched_record(struct watched_table *t, const struct hcw_rec *rec)
{
	const void *body = rec + 1;
	const struct hcw_quiesce *q = body;
	const struct hcw_evict *e = body;
	const struct hcw_resume *u = body;
	const struct hcw_pass *p = body;

	switch (rec->type) {
	case HCW_R_QUIESCE:
		if (!q->ret)
			sign(t, q->victim, q->mm, rec->ts, true);
		break;
	case HCW_R_EVICT:
		if (!e->ret)
			sign(t, e->victim, e->mm, rec->ts, true);
		break;
	case HCW_R_RESUME:
		if (!u->ret)
			sign(t, 0, u->mm, rec->ts, false);
		break;
	case HCW_R_RESTORE:
		if (!e->ret)
			sign(t, e->victim, e->mm, rec->ts, false);
		break;
	case HCW_R_PASS: /* also of an eviction from before we came */
		sign(t, 0, p->mm, rec->ts, !p->resumed);
		break;
	case HCW_R_TASK:
		task(t, body);
		break;
	case HCW_R_TASK_EXIT:
		gone(t, body);
		break;
	}
}

bool watched_settled(const struct watched *w, __u64 now)
{
	return !w->evicted && (!w->last || now > w->last + WATCHED_QUIET_NS);
}

bool watched_all_settled(const struct watched_table *t, __u64 now)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!watched_settled(&t->process[i], now))
			return false;
	return true;
}
