/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads by tid, victims by (tgid, mm, start time). */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static size_t thread_hash(__u32 tid, size_t cap)
{
	return (size_t)(tid * 2654435761u) & (cap - 1);
}

static struct thread_slot *thread_probe(struct thread_slot *t, size_t cap, __u32 tid)
{
	size_t i = thread_hash(tid, cap);

	while (t[i].task.tid && t[i].task.tid != tid)
		i = (i + 1) & (cap - 1);
	return &t[i];
}

static bool threads_grow(struct hcw_chain *c)
{
	size_t cap = c->cap_threads ? c->cap_threads * 2 : 256, i;
	struct thread_slot *t;

	if (cap > 2 * HCW_MAX_TASKS)
		return false;
	t = calloc(cap, sizeof(*t));
	if (!t)
		return false;
	for (i = 0; i < c->cap_threads; i++)
		if (c->threads[i].task.tid)
			*thread_probe(t, cap, c->threads[i].task.tid) = c->threads[i];
	free(c->threads);
	c->threads = t;
	c->cap_threads = cap;
	return true;
}

struct thread_slot *chain_thread(struct hcw_chain *c, __u32 tid)
{
	struct thread_slot *s;

	if (!tid)
		return NULL;
	/* half full at most, so that probing ends */
	if (c->n_threads * 2 >= c->cap_threads && !threads_grow(c)) {
		c->model.dropped++;
		return NULL;
	}
	s = thread_probe(c->threads, c->cap_threads, tid);
	if (!s->task.tid) {
		s->task.tid = tid;
		s->attempt = -1;
		c->n_threads++;
	}
	return s;
}

void chain_actor(struct hcw_chain *c, __u32 tid, struct hcw_actor *out)
{
	const struct thread_slot *s = chain_thread(c, tid);

	*out = (struct hcw_actor){.tid = tid};
	if (!s)
		return;
	out->tgid = s->task.tgid;
	memcpy(out->comm, s->task.comm, sizeof(out->comm));
	out->comm[sizeof(out->comm) - 1] = '\0';
}

static bool same_victim(const struct hcw_victim *v, __u32 tgid, __u64 mm)
{
	if (v->exited)
		return false;
	if (tgid && v->tgid && v->tgid != tgid)
		return false;
	if (mm && v->mm)
		return v->mm == mm;
	return tgid && v->tgid == tgid;
}

int chain_victim(struct hcw_chain *c, __u32 tgid, __u64 mm)
{
	struct hcw_model *m = &c->model;
	size_t i, cap = c->cap_victims, cap_state = c->cap_victims;
	struct hcw_victim *v;

	for (i = m->n_victims; i-- > 0;) {
		v = &m->victims[i];
		if (!same_victim(v, tgid, mm))
			continue;
		if (!v->mm)
			v->mm = mm;
		if (!v->tgid)
			v->tgid = tgid;
		return (int)i;
	}
	if (!chain_room(&m->victims, &cap, m->n_victims, HCW_MAX_VICTIMS, sizeof(*m->victims),
			&m->dropped) ||
	    !chain_room(&c->victims, &cap_state, m->n_victims, HCW_MAX_VICTIMS, sizeof(*c->victims),
			&m->dropped))
		return -1;
	c->cap_victims = cap;
	i = m->n_victims++;
	m->victims[i] = (struct hcw_victim){.tgid = tgid, .mm = mm};
	c->victims[i] = (struct victim_state){.open = -1, .last = -1};
	return (int)i;
}

/* The leader's name is the process's name; any thread's record tells mm and start time. */
static void victim_learn(struct hcw_chain *c, const struct hcw_task *t)
{
	struct hcw_model *m = &c->model;
	struct hcw_victim *v;
	size_t i;

	for (i = m->n_victims; i-- > 0;) {
		v = &m->victims[i];
		if (v->exited || v->tgid != t->tgid)
			continue;
		if (!v->mm)
			v->mm = t->mm;
		if (t->tid == t->tgid || !v->comm[0])
			memcpy(v->comm, t->comm, sizeof(v->comm));
		v->comm[sizeof(v->comm) - 1] = '\0';
		if (t->tid == t->tgid)
			v->start_time = t->start_time;
		return;
	}
}

void chain_task(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct thread_slot *s;
	struct hcw_task t;

	chain_body(rec, &t, sizeof(t));
	s = chain_thread(c, t.tid);
	if (!s)
		return;
	if (s->task.start_time && s->task.start_time != t.start_time)
		s->attempt = -1; /* the tid was reused */
	s->task = t;
	victim_learn(c, &t);
}

void chain_task_exit(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_task_exit x;
	struct thread_slot *s;
	size_t i;

	chain_body(rec, &x, sizeof(x));
	s = chain_thread(c, x.tid);
	if (s)
		s->attempt = -1;
	/* threads come and go; the process ends with its leader's exit */
	if (x.tid != x.tgid)
		return;
	for (i = 0; i < c->model.n_victims; i++)
		if (c->model.victims[i].tgid == x.tgid && !c->model.victims[i].exited)
			chain_victim_died(c, (int)i, rec->ts);
}
