/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a record reaches the ring: counted, and after the record of the task it is about. */
#ifndef HCW_EMIT_BPF_H
#define HCW_EMIT_BPF_H

#include "maps.bpf.h"
#include <bpf/bpf_core_read.h>

/* A record on the stack: header, then body. */
#define HCW_RECORD(body_type)       \
	struct {                    \
		struct hcw_rec rec; \
		body_type body;     \
	}

static __always_inline __u32 current_tid(void)
{
	return (__u32)bpf_get_current_pid_tgid();
}

static __always_inline __u32 current_tgid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

/* Atomic: a program can be preempted by another one on the same CPU, and totals never lie. */
static __always_inline void count_ring_full(__u32 type)
{
	struct hcw_counter *c = bpf_map_lookup_elem(&counters, &type);

	if (c)
		__sync_fetch_and_add(&c->ring_full, 1);
}

/* A map had no room for what the record is made from. */
static __always_inline void count_map_full(__u32 type)
{
	struct hcw_counter *c = bpf_map_lookup_elem(&counters, &type);

	if (c)
		__sync_fetch_and_add(&c->map_full, 1);
}

static __always_inline void count_emitted(__u32 type)
{
	struct hcw_counter *c = bpf_map_lookup_elem(&counters, &type);

	if (c)
		__sync_fetch_and_add(&c->emitted, 1);
}

/* `n`: how often, or by how much a table that forgets grew. */
static __always_inline void count_limit(__u32 limit, __s64 n)
{
	__s64 *count = bpf_map_lookup_elem(&limits, &limit);

	if (count)
		__sync_fetch_and_add(count, n);
}

/* 0, or negative when the ring was full. */
static __noinline int ring_write(struct hcw_rec *rec, __u16 type, __u32 size)
{
	rec->tid = current_tid();
	rec->type = type;
	rec->len = size - sizeof(*rec);
	if (bpf_ringbuf_output(&ring, rec, size, 0)) {
		count_ring_full(type);
		return -1;
	}
	count_emitted(type);
	return 0;
}

static __always_inline bool task_unchanged(const struct hcw_task *a, const struct hcw_task *b)
{
	const __u64 *ac = (const __u64 *)a->comm;
	const __u64 *bc = (const __u64 *)b->comm;

	return a->start_time == b->start_time && a->mm == b->mm && a->tgid == b->tgid &&
	       ac[0] == bc[0] && ac[1] == bc[1];
}

/* Tells user space about a thread it does not know, or no longer knows rightly; `ts` is that of the
 * record it is in. */
static __noinline int tell_task(struct task_struct *task, __u64 ts)
{
	HCW_RECORD(struct hcw_task) t = {};
	struct hcw_task *seen;

	t.body.tid = BPF_CORE_READ(task, pid);
	t.body.tgid = BPF_CORE_READ(task, tgid);
	t.body.start_time = BPF_CORE_READ(task, start_boottime);
	t.body.mm = (__u64)BPF_CORE_READ(task, mm);
	BPF_CORE_READ_STR_INTO(&t.body.comm, task, comm);

	seen = bpf_map_lookup_elem(&seen_tasks, &t.body.tid);
	if (seen && task_unchanged(seen, &t.body))
		return 0;
	t.rec.ts = ts;
	if (ring_write(&t.rec, HCW_R_TASK, sizeof(t)))
		return 0;
	if (!bpf_map_update_elem(&seen_tasks, &t.body.tid, &t.body, BPF_ANY) && !seen)
		count_limit(HCW_LIMIT_TASKS, 1);
	return 0;
}

/* It will be told again when it is in a record. */
static __always_inline void forget_task(__u32 tid)
{
	if (!bpf_map_delete_elem(&seen_tasks, &tid))
		count_limit(HCW_LIMIT_TASKS, -1);
}

/* Its id, or negative when it was not kept. `skip`: innermost frames left out. */
static __always_inline __s32 keep_stack(void *ctx, __u32 skip)
{
	long id = bpf_get_stackid(ctx, &stacks, skip);

	if (id < 0)
		count_limit(HCW_LIMIT_STACKS, 1);
	return id;
}

static __always_inline void emit_at(struct hcw_rec *rec, __u16 type, __u32 size, __u64 ts)
{
	tell_task((struct task_struct *)bpf_get_current_task(), ts);
	rec->ts = ts;
	ring_write(rec, type, size);
}

static __always_inline void emit(struct hcw_rec *rec, __u16 type, __u32 size)
{
	emit_at(rec, type, size, bpf_ktime_get_boot_ns());
}

#endif
