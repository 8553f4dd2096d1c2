/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who asked for what a kernel worker did. A change of cpuset.mems is carried out by
 * cpuset_migrate_mm_workfn() in a kworker (kernel/cgroup/cpuset.c, 5.14 .. 7.3), which knows
 * nothing of the writer; the write itself is a record of its own, and the last one before tells.
 */
#include "internal.h"

#define REQUEST_AGE 10000000000ull /* ns; a worker that starts later was asked by somebody else */

void chain_request(struct hcw_chain *c, const struct hcw_rec *rec)
{
	struct request *r = &c->requests[c->n_requests++ % HCW_MAX_REQUESTS];
	struct hcw_request q;

	chain_body(rec, &q, sizeof(q));
	*r = (struct request){.ts = rec->ts, .mm = q.mm, .kind = q.kind};
	/* the writer may be gone when it is asked for */
	chain_actor(c, rec->tid, &r->actor);
	if (!r->actor.tgid)
		r->actor.tgid = q.tgid;
}

static const struct request *last_cpuset(const struct hcw_chain *c, __u64 mm, __u64 before)
{
	const struct request *best = NULL;
	size_t i;

	for (i = 0; i < HCW_MAX_REQUESTS; i++) {
		const struct request *r = &c->requests[i];

		if (r->kind != HCW_REQUEST_CPUSET || r->ts > before ||
		    before - r->ts > REQUEST_AGE || (r->mm && r->mm != mm))
			continue;
		if (!best || r->ts > best->ts)
			best = r;
	}
	return best;
}

/* A thread that was told, and has no memory of its own. */
static bool kernel_thread(const struct hcw_chain *c, __u32 tid)
{
	const struct thread_slot *s = chain_thread_find(c, tid);

	return s && s->task.tgid && !s->task.mm;
}

/* A writer of compact_memory compacts itself: that is no allocation in need of it. */
static bool compacts_on_request(const struct hcw_chain *c, __u32 tid, __u64 at)
{
	size_t i;

	for (i = 0; i < HCW_MAX_REQUESTS; i++)
		if (c->requests[i].kind == HCW_REQUEST_COMPACT && c->requests[i].actor.tid == tid &&
		    c->requests[i].ts <= at && at - c->requests[i].ts <= REQUEST_AGE)
			return true;
	return false;
}

static bool direct_compaction(const struct hcw_chain *c, const struct hcw_episode *e)
{
	__u32 tid = e->started_by.tid;

	return e->cause == HCW_CAUSE_COMPACTION && e->started_by.tgid && !kernel_thread(c, tid) &&
	       !compacts_on_request(c, tid, e->start);
}

void chain_initiator(const struct hcw_chain *c, struct hcw_episode *e)
{
	const struct request *r;

	e->direct_compaction = direct_compaction(c, e);

	e->initiator = (struct hcw_actor){.tid = 0};
	e->initiator_unknown = false;
	/* move_pages and mbind act in the caller; compaction and its like on nobody's request */
	if (e->cause != HCW_CAUSE_MIGRATE_SYSCALL || !kernel_thread(c, e->started_by.tid))
		return;
	r = last_cpuset(c, e->mm, e->start);
	if (r)
		e->initiator = r->actor;
	else
		e->initiator_unknown = true;
}
