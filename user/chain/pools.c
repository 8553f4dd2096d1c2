/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools: what their owner announced, what their mapping says, and the attempts made on them. */
#include <string.h>
#include "internal.h"

static struct hcw_pool_info *pool_live(struct hcw_chain *c, __u32 tgid, __u64 ptr)
{
	struct hcw_model *m = &c->model;
	size_t i;

	for (i = m->n_pools; i-- > 0;)
		if (m->pools[i].tgid == tgid && m->pools[i].ptr == ptr && !m->pools[i].freed)
			return &m->pools[i];
	return NULL;
}

void chain_pool_alloc(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_model *m = &c->model;
	struct hcw_pool_info *p;
	struct hcw_pool b;

	chain_body(rec, &b, sizeof(b));
	if (b.ptr + b.bytes < b.ptr)
		return; /* no address range */
	p = pool_live(c, b.tgid, b.ptr);
	if (p)
		p->freed = rec->ts; /* its free was not seen */
	if (!chain_room(&m->pools, &c->cap_pools, m->n_pools, HCW_MAX_POOLS, sizeof(*m->pools),
			&m->dropped))
		return;
	m->pools[m->n_pools++] = (struct hcw_pool_info){
		.ptr = b.ptr,
		.bytes = b.bytes,
		.backing = b.backing,
		.tgid = b.tgid,
		.allocated = rec->ts,
		.hit_by = -1,
	};
	chain_victim(c, b.tgid, 0);
}

void chain_pool_free(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_pool_info *p;
	struct hcw_pool b;

	chain_body(rec, &b, sizeof(b));
	p = pool_live(c, b.tgid, b.ptr);
	if (p)
		p->freed = rec->ts;
}

void chain_pools_gone(struct hcw_chain *c, __u32 tgid, __u64 ts)
{
	size_t i;

	for (i = 0; tgid && i < c->model.n_pools; i++)
		if (c->model.pools[i].tgid == tgid && !c->model.pools[i].freed)
			c->model.pools[i].freed = ts;
}

static bool alive(const struct hcw_pool_info *p, __u64 ts)
{
	return p->allocated <= ts && (!p->freed || p->freed >= ts);
}

/* The newest pool at this address that was alive at `ts`. */
static struct hcw_pool_info *pool_then(struct hcw_chain *c, __u32 tgid, __u64 ptr, __u64 ts)
{
	struct hcw_model *m = &c->model;
	size_t i;

	for (i = m->n_pools; i-- > 0;)
		if (m->pools[i].tgid == tgid && m->pools[i].ptr == ptr && alive(&m->pools[i], ts))
			return &m->pools[i];
	return NULL;
}

static __u64 overlap(__u64 lo, __u64 hi, const struct hcw_pool_info *p)
{
	__u64 a = lo > p->ptr ? lo : p->ptr;
	__u64 b = hi < p->ptr + p->bytes ? hi : p->ptr + p->bytes;

	return a < b ? b - a : 0;
}

void chain_mapping(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct hcw_pool_info *p;
	struct hcw_mapping m;
	__u64 bytes;

	chain_body(rec, &m, sizeof(m));
	p = pool_then(c, m.tgid, m.pool, rec->ts);
	if (!p)
		return;
	bytes = overlap(m.lo, m.hi, p);
	if (m.vmflags & HCW_VM_UNREADABLE)
		p->mapped_unread += bytes;
	else if (m.vmflags & (HCW_VM_IO | HCW_VM_PFNMAP))
		p->mapped_special += bytes;
	else
		p->mapped_ordinary += bytes;
	p->vmflags |= m.vmflags;
	if (rec->len > sizeof(m) && !p->path[0]) {
		size_t n = rec->len - sizeof(m);

		if (n > sizeof(p->path) - 1)
			n = sizeof(p->path) - 1;
		memcpy(p->path, (const char *)(rec + 1) + sizeof(m), n);
	}
}

static bool meets(const struct hcw_pool_info *p, __u32 tgid, __u64 lo, __u64 hi, __u64 ts)
{
	return p->tgid == tgid && alive(p, ts) && overlap(lo, hi, p);
}

int chain_pool_at(const struct hcw_chain *c, __u32 tgid, __u64 lo, __u64 hi, __u64 ts)
{
	const struct hcw_model *m = &c->model;
	int first = -1;
	size_t i;

	for (i = m->n_pools; i-- > 0;)
		if (meets(&m->pools[i], tgid, lo, hi, ts) &&
		    (first < 0 || m->pools[i].ptr < m->pools[first].ptr))
			first = (int)i;
	return first;
}

void chain_pools_hit(struct hcw_chain *c, int ep, __u64 lo, __u64 hi, __u64 ts)
{
	size_t i;

	for (i = 0; i < c->model.n_pools; i++) {
		struct hcw_pool_info *p = &c->model.pools[i];

		if (p->hit_by == ep || !meets(p, c->model.episodes[ep].victim, lo, hi, ts))
			continue;
		p->hit_by = ep;
		p->episodes++;
	}
}

void chain_pools_time(struct hcw_chain *c, const struct hcw_episode *e, __u64 ns)
{
	size_t i;

	for (i = 0; e->pool >= 0 && i < c->model.n_pools; i++)
		if (meets(&c->model.pools[i], e->victim, e->lo, e->hi, e->start))
			c->model.pools[i].episode_ns += ns;
}

/* A pool in GTT has no notifier, and a pageable one no GPU that works from it. */
bool chain_pool_registered(const struct hcw_chain *c, __u32 tgid, __u64 lo, __u64 hi, __u64 ts)
{
	const struct hcw_model *m = &c->model;
	size_t i;

	for (i = 0; i < m->n_pools; i++) {
		const struct hcw_pool_info *p = &m->pools[i];

		if (p->tgid == tgid && p->backing != HCW_BACKING_GTT &&
		    p->backing != HCW_BACKING_PAGEABLE && alive(p, ts) && overlap(lo, hi, p))
			return true;
	}
	return false;
}

/*
 * The kernel writes no status when the call fails, and when it returns a number > 0 none for as
 * many pages: there the array still holds what the caller left in it (mm/migrate.c
 * do_pages_move()).
 */
static bool statuses_whole(const struct hcw_move_pages *mp)
{
	__u64 told =
		(__u64)mp->moved + mp->efault + mp->enoent + mp->ebusy + mp->eacces + mp->other;

	return !mp->rc && mp->read >= mp->requested && told >= mp->requested;
}

/* Pages that answered with a node: they moved there or were there already. */
static __u64 on_node(const struct hcw_move_pages *mp)
{
	if (mp->rc < 0)
		return 0;
	return mp->moved > (__u32)mp->rc ? mp->moved - (__u32)mp->rc : 0;
}

/* Only migrate_pages() tells the two apart. */
static __u64 moved_for_sure(const struct hcw_chain *c, const struct hcw_attempt *a)
{
	__u64 told = on_node(&a->move);

	if (a->move.rc < 0)
		return a->migrated;
	return c->sources & (1u << HCW_R_MIGRATE) && a->migrated < told ? a->migrated : told;
}

/* Not all addresses of the call are known: it may have met pools outside its range. */
static bool range_unsure(const struct hcw_move_pages *mp)
{
	return mp->read < mp->requested || (!mp->lo && !mp->hi);
}

static void pool_count(const struct hcw_chain *c, struct hcw_pool_info *p,
		       const struct hcw_attempt *a)
{
	const struct hcw_move_pages *mp = &a->move;
	__u64 moved = moved_for_sure(c, a);

	p->attempts++;
	p->asked += mp->requested;
	if (!p->first_attempt || a->start < p->first_attempt)
		p->first_attempt = a->start;
	if (a->end > p->last_attempt)
		p->last_attempt = a->end;
	p->moved += moved;
	if (!statuses_whole(mp))
		p->truncated++;
	if (mp->rc < 0)
		return;
	p->stayed += on_node(mp) - moved;
	p->efault += mp->efault;
	p->enoent += mp->enoent;
	p->refused_other += (__u64)mp->ebusy + mp->eacces + mp->other;
}

/* Another thread's id names its process to move_pages(2) as well. */
static __u32 attempt_target(const struct hcw_chain *c, const struct hcw_attempt *a)
{
	const struct thread_slot *s;

	if (!a->move.pid)
		return a->actor.tgid;
	if (a->move.pid == HCW_PID_UNKNOWN)
		return 0; /* nobody is booked by a number of another namespace */
	s = chain_thread_find(c, (__u32)a->move.pid);
	return s && s->task.tgid ? s->task.tgid : (__u32)a->move.pid;
}

void chain_pool_attempt(struct hcw_chain *c, int attempt)
{
	struct hcw_attempt *a = &c->model.attempts[attempt];
	__u32 target = attempt_target(c, a);
	__u64 hi = a->move.hi + 1 ? a->move.hi + 1 : a->move.hi;
	size_t i;

	if (!a->move.requested)
		return;
	for (i = 0; i < c->model.n_pools; i++) {
		struct hcw_pool_info *p = &c->model.pools[i];

		if (p->tgid != target || !alive(p, a->start))
			continue;
		if (!overlap(a->move.lo, hi, p)) {
			p->truncated += range_unsure(&a->move);
			continue;
		}
		if (a->move.lo < p->ptr || a->move.hi >= p->ptr + p->bytes) {
			p->outside++;
			continue;
		}
		pool_count(c, p, a);
		a->pool = (int)i;
	}
}
