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

struct thread_slot *chain_thread_find(const struct hcw_chain *c, __u32 tid)
{
	struct thread_slot *s;

	if (!tid || !c->cap_threads)
		return NULL;
	s = thread_probe(c->threads, c->cap_threads, tid);
	return s->task.tid ? s : NULL;
}

struct thread_slot *chain_thread(struct hcw_chain *c, __u32 tid)
{
	struct thread_slot *s = chain_thread_find(c, tid);

	if (s || !tid)
		return s;
	/* half full at most, so that probing ends */
	if (c->n_threads * 2 >= c->cap_threads && !threads_grow(c)) {
		c->model.dropped++;
		return NULL;
	}
	s = thread_probe(c->threads, c->cap_threads, tid);
	s->task.tid = tid;
	s->attempt = -1;
	c->n_threads++;
	return s;
}

/* Empties a slot and moves up what collided with it, so that probing needs no gravestones. */
static void thread_forget(struct hcw_chain *c, __u32 tid)
{
	struct thread_slot *t = c->threads, *s = chain_thread_find(c, tid);
	size_t mask = c->cap_threads - 1, gap, i;

	if (!s)
		return;
	gap = (size_t)(s - t);
	for (i = (gap + 1) & mask; t[i].task.tid; i = (i + 1) & mask) {
		size_t home = thread_hash(t[i].task.tid, c->cap_threads);

		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		t[gap] = t[i];
		gap = i;
	}
	memset(&t[gap], 0, sizeof(t[gap]));
	c->n_threads--;
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

int chain_victim_find(struct hcw_chain *c, __u32 tgid, __u64 mm)
{
	struct hcw_model *m = &c->model;
	size_t i;

	for (i = m->n_victims; i-- > 0;) {
		struct hcw_victim *v = &m->victims[i];

		if (!same_victim(v, tgid, mm))
			continue;
		if (!v->mm)
			v->mm = mm;
		if (!v->tgid)
			v->tgid = tgid;
		return (int)i;
	}
	return -1;
}

/* The leader's name is the process's name; any thread's record tells mm and start time. */
static void victim_name(struct hcw_victim *v, const struct hcw_task *t)
{
	if (!v->mm)
		v->mm = t->mm;
	if (t->tid == t->tgid || !v->comm[0])
		memcpy(v->comm, t->comm, sizeof(v->comm));
	v->comm[sizeof(v->comm) - 1] = '\0';
	if (t->tid == t->tgid)
		v->start_time = t->start_time;
}

/* Threads are told before the record that makes their process a victim. */
static void victim_recall(const struct hcw_chain *c, struct hcw_victim *v)
{
	size_t i;

	for (i = 0; v->tgid && i < c->cap_threads; i++) {
		const struct hcw_task *t = &c->threads[i].task;

		if (t->tid && t->tgid == v->tgid && (!v->mm || !t->mm || t->mm == v->mm))
			victim_name(v, t);
	}
}

int chain_victim(struct hcw_chain *c, __u32 tgid, __u64 mm)
{
	struct hcw_model *m = &c->model;
	size_t cap = c->cap_victims, cap_state = c->cap_victims;
	int i = chain_victim_find(c, tgid, mm);

	if (i >= 0)
		return i;
	if (!chain_room(&m->victims, &cap, m->n_victims, HCW_MAX_VICTIMS, sizeof(*m->victims),
			&m->dropped) ||
	    !chain_room(&c->victims, &cap_state, m->n_victims, HCW_MAX_VICTIMS, sizeof(*c->victims),
			&m->dropped))
		return -1;
	c->cap_victims = cap;
	i = (int)m->n_victims++;
	m->victims[i] = (struct hcw_victim){.tgid = tgid, .mm = mm};
	c->victims[i] = (struct victim_state){.open = -1, .last = -1};
	victim_recall(c, &m->victims[i]);
	return i;
}

/* The pid was reused, or exec gave the process another address space. */
static bool other_life(const struct hcw_victim *v, const struct hcw_task *t)
{
	if (v->mm && t->mm && v->mm != t->mm)
		return true;
	return t->tid == t->tgid && v->start_time && t->start_time &&
	       v->start_time != t->start_time;
}

static void victim_learn(struct hcw_chain *c, const struct hcw_task *t, __u64 ts)
{
	struct hcw_model *m = &c->model;
	size_t i;

	for (i = m->n_victims; i-- > 0;) {
		struct hcw_victim *v = &m->victims[i];

		if (v->exited || v->tgid != t->tgid)
			continue;
		if (!other_life(v, t)) {
			victim_name(v, t);
			return;
		}
		chain_victim_died(c, (int)i, ts);
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
		*s = (struct thread_slot){.attempt = -1}; /* the tid was reused */
	s->task = t;
	victim_learn(c, &t, rec->ts);
}

/* Threads come and go, the leader as well. An older trace does not tell which one is the last;
 * there the leader's end is taken for the process's. */
static bool process_ends(const struct hcw_rec *rec, const struct hcw_task_exit *x)
{
	return rec->len < sizeof(*x) ? x->tid == x->tgid : x->last;
}

void chain_task_exit(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_task_exit x;
	size_t i;

	chain_body(rec, &x, sizeof(x));
	thread_forget(c, x.tid);
	chain_iter_abandon(c, x.tgid, x.tid);
	if (!process_ends(rec, &x))
		return;
	for (i = 0; i < c->model.n_victims; i++)
		if (c->model.victims[i].tgid == x.tgid && !c->model.victims[i].exited)
			chain_victim_died(c, (int)i, rec->ts);
}
