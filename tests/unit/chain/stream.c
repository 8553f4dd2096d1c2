/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "stream.h"

#define MAX_BODY 256

void stream_open(struct stream *s, unsigned int sources)
{
	s->chain = hcw_chain_new();
	s->sources = sources;
	assert_non_null(s->chain);
	hcw_chain_sources(s->chain, sources);
}

void stream_close(struct stream *s)
{
	hcw_chain_free(s->chain);
	s->chain = NULL;
}

const struct hcw_model *stream_end(struct stream *s, __u64 ts)
{
	struct hcw_end e = {.reason = HCW_END_COMMAND};

	stream_put(s, HCW_R_END, ts, 0, &e, sizeof(e));
	hcw_chain_finish(s->chain);
	return hcw_chain_model(s->chain);
}

void stream_put(struct stream *s, enum hcw_record_type type, __u64 ts, __u32 tid, const void *body,
		size_t len)
{
	struct {
		struct hcw_rec rec;
		char body[MAX_BODY];
	} r = {.rec = {.ts = ts, .tid = tid, .type = (__u16)type}};

	assert_true(len <= sizeof(r.body));
	if (type < HCW_R_BPF_COUNT && !(s->sources & BIT_OF(type)))
		return;
	r.rec.len = (__u16)((len + 7) & ~(size_t)7);
	memcpy(r.body, body, len);
	assert_int_equal(hcw_chain_add(s->chain, &r.rec), 0);
}

void stream_task(struct stream *s, __u64 ts, __u32 tid, __u32 tgid, __u64 mm, const char *comm)
{
	struct hcw_task t = {.start_time = 1000 + tid, .mm = mm, .tid = tid, .tgid = tgid};

	strncpy(t.comm, comm, sizeof(t.comm) - 1);
	stream_put(s, HCW_R_TASK, ts, tid, &t, sizeof(t));
}

void stream_exit(struct stream *s, __u64 ts, __u32 tid, __u32 tgid)
{
	stream_leave(s, ts, tid, tgid, tid == tgid);
}

void stream_leave(struct stream *s, __u64 ts, __u32 tid, __u32 tgid, bool last)
{
	struct hcw_task_exit x = {.mm = MM, .tid = tid, .tgid = tgid, .last = last};

	stream_put(s, HCW_R_TASK_EXIT, ts, tid, &x, sizeof(x));
}

void stream_pool(struct stream *s, __u64 ts, __u32 tgid, __u64 ptr, enum hcw_backing backing)
{
	struct hcw_pool p = {.ptr = ptr, .bytes = POOL_BYTES, .backing = backing, .tgid = tgid};

	stream_put(s, HCW_R_POOL_ALLOC, ts, tgid, &p, sizeof(p));
}

void stream_pool_free(struct stream *s, __u64 ts, __u32 tgid, __u64 ptr)
{
	struct hcw_pool p = {.ptr = ptr, .tgid = tgid};

	stream_put(s, HCW_R_POOL_FREE, ts, tgid, &p, sizeof(p));
}

void stream_mapping(struct stream *s, __u64 ts, __u64 pool, __u64 lo, __u64 hi, __u32 vmflags)
{
	static const char path[] = "/dev/dri/renderD128";
	struct {
		struct hcw_mapping m;
		char path[sizeof(path)];
	} b = {.m = {.lo = lo, .hi = hi, .pool = pool, .tgid = SERVER, .vmflags = vmflags}};

	if (vmflags & HCW_VM_IO)
		memcpy(b.path, path, sizeof(path));
	stream_put(s, HCW_R_MAPPING, ts, 0, &b, sizeof(b));
}

void stream_hole(struct stream *s, __u64 from, __u64 to, __u64 count, __u32 source)
{
	struct hcw_hole h = {
		.from = from,
		.to = to,
		.count = count,
		.source = source,
		.cause = HCW_HOLE_RING_FULL,
	};

	stream_put(s, HCW_R_HOLE, to, 0, &h, sizeof(h));
}

void stream_hit(struct stream *s, __u64 ts, const struct hit *hit)
{
	struct hcw_inval i = {
		.start = hit->start,
		.mm = MM,
		.lo = hit->hi ? hit->lo : POOL,
		.hi = hit->hi ? hit->hi : POOL + (__u64)hit->count * PAGE,
		.attempt = hit->attempt,
		.count = hit->count,
		.event = 1,
		.victim = SERVER,
		.span = (__u32)(hit->last - hit->start),
		.reason = hit->attempt ? hit->reason : HCW_REASON_NONE,
		.via = hit->via,
	};

	assert_in_range(hit->last - hit->start, 0, MS(1000));
	stream_put(s, HCW_R_INVAL, ts, hit->tid, &i, sizeof(i));
}

void stream_inval(struct stream *s, __u64 start, __u64 ts, __u32 tid, __u64 attempt, __u32 count)
{
	struct hit hit = {
		.start = start,
		.last = ts,
		.tid = tid,
		.count = count,
		.attempt = attempt,
		.reason = MR_SYSCALL,
	};

	stream_hit(s, ts, &hit);
}

void stream_request(struct stream *s, __u64 ts, __u32 tid, enum hcw_request_kind kind, __u64 mm)
{
	struct hcw_request r = {.mm = mm, .kind = kind, .tgid = tid};

	stream_put(s, HCW_R_REQUEST, ts, tid, &r, sizeof(r));
}

void stream_stack(struct stream *s, __s32 id, __u32 depth, const char *names, size_t len)
{
	struct {
		struct hcw_stack h;
		char names[MAX_BODY - sizeof(struct hcw_stack)];
	} b = {.h = {.id = id, .depth = depth}};

	assert_true(len <= sizeof(b.names));
	memcpy(b.names, names, len);
	stream_put(s, HCW_R_STACK, MS(1), 0, &b, sizeof(b.h) + len);
}

void stream_migrate(struct stream *s, __u64 start, __u64 ts, __u32 tid, __u64 attempt, __u64 ok)
{
	struct hcw_migrate m = {
		.start = start,
		.attempt = attempt,
		.ok = ok,
		.mode = 2,
		.reason = MR_SYSCALL,
	};

	stream_put(s, HCW_R_MIGRATE, ts, tid, &m, sizeof(m));
}

void stream_pass(struct stream *s, __u64 start, __u64 ts, __u64 mm, __u64 work, bool resumed)
{
	struct hcw_pass p = {
		.start = start,
		.mm = mm,
		.work = work,
		.faults = 1,
		.resumed = resumed,
	};

	stream_put(s, HCW_R_PASS, ts, KWORKER, &p, sizeof(p));
}

void stream_iteration(struct stream *s, __u64 start, __u64 end, __u32 tgid)
{
	struct hcw_iter i = {.id = 1, .tgid = tgid};

	stream_put(s, HCW_R_ITER_BEGIN, start, tgid, &i, sizeof(i));
	stream_put(s, HCW_R_ITER_END, end, tgid, &i, sizeof(i));
}

void stream_warm_up(struct stream *s, __u64 end, __u32 tgid, unsigned int n, __u64 each)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		stream_iteration(s, end - (n - i) * each, end - (n - i - 1) * each, tgid);
}

void stream_evict(struct stream *s, __u64 start, __u64 ts, __u32 victim, __u64 mm, __u32 trigger)
{
	struct hcw_evict e = {
		.start = start,
		.mm = mm,
		.victim = victim,
		.trigger = trigger,
		.stack = -1,
	};

	stream_put(s, HCW_R_EVICT, ts, MOVER, &e, sizeof(e));
}

void stream_restore(struct stream *s, __u64 ts, __u32 victim, __u64 mm)
{
	struct hcw_evict e = {.start = ts - 10, .mm = mm, .victim = victim, .stack = -1};

	stream_put(s, HCW_R_RESTORE, ts, KWORKER, &e, sizeof(e));
}

void stream_stop(struct stream *s, const struct stop *stop)
{
	__u32 tid = stop->tid ? stop->tid : MOVER, victim = stop->victim ? stop->victim : SERVER;
	__u64 mm = stop->mm ? stop->mm : MM, end = stop->end ? stop->end : stop->start + 1000;
	struct hcw_evict e = {
		.start = stop->start + 100,
		.mm = mm,
		.victim = victim,
		.trigger = stop->trigger,
		.stack = -1,
	};
	struct hcw_quiesce q = {
		.start = stop->start,
		.mm = mm,
		.attempt = stop->attempt,
		.lo = stop->lo,
		.hi = stop->hi,
		.trigger = stop->trigger,
		.stack = 5,
		.victim = victim,
		.reason = stop->attempt ? stop->reason : HCW_REASON_NONE,
		.via = stop->via,
	};

	stream_put(s, HCW_R_EVICT, end - 100, tid, &e, sizeof(e));
	stream_put(s, HCW_R_QUIESCE, end, tid, &q, sizeof(q));
}

void stream_restart(struct stream *s, __u64 ts, __u32 victim, __u64 mm)
{
	struct hcw_resume r = {.start = ts - 200, .mm = mm};

	stream_restore(s, ts - 100, victim, mm);
	stream_put(s, HCW_R_RESUME, ts, KWORKER, &r, sizeof(r));
}

struct hcw_move_pages stream_refused(__u64 start, __u64 pool, __u32 n)
{
	return (struct hcw_move_pages){
		.start = start,
		.lo = pool,
		.hi = pool + (__u64)(n - 1) * PAGE,
		.requested = n,
		.read = n,
		.efault = n,
	};
}

struct hcw_move_pages stream_moved(__u64 start, __u64 pool, __u32 n)
{
	struct hcw_move_pages mp = stream_refused(start, pool, n);

	mp.moved = n;
	mp.efault = 0;
	return mp;
}

void stream_move(struct stream *s, __u64 ts, __u32 tid, const struct hcw_move_pages *mp)
{
	if (mp->rc >= 0 && mp->moved > (__u32)mp->rc)
		stream_migrate(s, mp->start + 10, ts - 10, tid, mp->start,
			       mp->moved - (__u32)mp->rc);
	stream_answer(s, ts, tid, mp);
}

void stream_answer(struct stream *s, __u64 ts, __u32 tid, const struct hcw_move_pages *mp)
{
	stream_put(s, HCW_R_MOVE_PAGES, ts, tid, mp, sizeof(*mp));
}

void stream_old_server(struct stream *s)
{
	struct hcw_task t = {.start_time = 5, .mm = MM, .tid = SERVER, .tgid = SERVER};
	struct hcw_clock clock = {.realtime = MS(1)};

	memcpy(t.comm, "server", 7);
	stream_put(s, HCW_R_CLOCK, FIRST, 0, &clock, sizeof(clock));
	stream_put(s, HCW_R_TASK, FIRST, KWORKER, &t, sizeof(t));
}

void stream_server(struct stream *s, enum hcw_backing backing)
{
	bool gtt = backing == HCW_BACKING_GTT;

	stream_task(s, 1000, SERVER, SERVER, MM, "server");
	stream_task(s, 1001, MOVER, SERVER, MM, "mover");
	stream_pool(s, 2000, SERVER, POOL, backing);
	stream_mapping(s, 3000, POOL, POOL, POOL + POOL_BYTES,
		       gtt ? HCW_VM_IO | HCW_VM_PFNMAP : HCW_VM_SHARED);
}
