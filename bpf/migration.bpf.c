// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Migration attempts: move_pages(2) with its per-page answer, and the kernel's migrate_pages()
 * runs. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "compat.bpf.h"
#include "invalidation.bpf.h"
#include "pidns.bpf.h"
#include "status.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * The host's tgid of the process that the current thread calls `pid`: 0 = itself,
 * HCW_PID_UNKNOWN. The number of any thread names its process; outside a container one that is not
 * known is told as it is, inside it is unknown.
 */
static __noinline int pid_on_host(int pid)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pid *own = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(own, level), tid = pid, *tgid;
	struct hcw_inner_pid key;
	struct hcw_task *seen;

	if (pid <= 0)
		return pid ? HCW_PID_UNKNOWN : 0;
	if (!level) {
		seen = bpf_map_lookup_elem(&seen_tasks, &tid);
		return seen ? seen->tgid : tid;
	}
	key = inner_pid_at(own, level);
	key.pid = tid;
	tgid = bpf_map_lookup_elem(&inner_pids, &key);
	return tgid ? *tgid : HCW_PID_UNKNOWN;
}

/* A call is at the bottom of its thread: whatever is still open there has lost its return. */
static __always_inline int move_entry(__s32 pid, __u64 nr, __u64 pages, __u64 nodes, __u64 status)
{
	struct hcw_thread *t;

	if (!nodes) /* a query moves nothing */
		return 0;
	t = thread_enter(HCW_R_MOVE_PAGES);
	if (!t)
		return 0;
	flush_pending(t, t->last);
	thread_unended(HCW_R_MOVE_PAGES, t->move.start);
	thread_unended(HCW_R_MIGRATE, t->migrate.start);
	t->attempt = bpf_ktime_get_boot_ns();
	t->migrate.start = 0;
	t->move.start = t->attempt;
	t->move.nr = nr;
	t->move.pages = pages;
	t->move.status = status;
	t->move.pid = pid_on_host(pid);
	t->move.hit = 0;
	return 0;
}

static __always_inline void emit_move(const struct hcw_thread *t, __s32 rc)
{
	HCW_RECORD(struct hcw_move_pages) r = {};

	r.body.start = t->move.start;
	r.body.pid = t->move.pid;
	r.body.requested = t->move.nr > 0xffffffffULL ? 0xffffffff : t->move.nr;
	r.body.rc = rc;
	if (t->move.nr > HCW_MAX_STATUSES)
		count_limit(HCW_LIMIT_STATUSES, 1);
	count_arrays(t->move.status, t->move.pages, t->move.nr, &r.body);
	emit(&r.rec, HCW_R_MOVE_PAGES, sizeof(r));
}

static __always_inline int move_return(__s32 rc)
{
	struct hcw_thread *t = thread_find();

	if (!t || !t->move.start)
		return 0;
	flush_pending(t, bpf_ktime_get_boot_ns());
	/* a call that moved nothing of a watched process hit no notifier: its target tells */
	if (t->move.hit || tgid_watched(current_tgid()) ||
	    (t->move.pid > 0 && tgid_listed(t->move.pid)))
		emit_move(t, rc);
	t->move.start = 0;
	t->migrate.start = 0;
	t->attempt = 0;
	thread_leave(t);
	return 0;
}

/* By index: the verifier refuses typed access to arguments that are pointers to pointers. */
static __always_inline __u64 argument(void *ctx, __u32 n)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, n, &value);
	return value;
}

SEC("fentry")
int move_pages_fentry(void *ctx)
{
	return move_entry(argument(ctx, 0), argument(ctx, 1), argument(ctx, 2), argument(ctx, 3),
			  argument(ctx, 4));
}

SEC("fexit")
int move_pages_fexit(void *ctx)
{
	__u64 ret = 0;

	bpf_get_func_ret(ctx, &ret);
	return move_return(ret);
}

SEC("kprobe")
int BPF_KPROBE(move_pages_kprobe, int pid, unsigned long nr, const void *pages, const int *nodes,
	       int *status)
{
	return move_entry(pid, nr, (__u64)pages, (__u64)nodes, (__u64)status);
}

SEC("kretprobe")
int BPF_KRETPROBE(move_pages_kretprobe, int ret)
{
	return move_return(ret);
}

static __always_inline int migrate_start(__u32 mode, __u32 reason)
{
	struct hcw_thread *t = thread_enter(HCW_R_MIGRATE);

	if (!t)
		return 0;
	thread_unended(HCW_R_MIGRATE, t->migrate.start);
	t->migrate.start = bpf_ktime_get_boot_ns();
	t->migrate.mode = mode;
	t->migrate.reason = reason;
	t->migrate.hit = 0;
	if (!t->move.start) {
		flush_pending(t, t->last);
		t->attempt = t->migrate.start;
	}
	return 0;
}

static __always_inline int migrate_end(struct compat_migrate_end end)
{
	HCW_RECORD(struct hcw_migrate) r = {};
	struct hcw_thread *t = thread_find();

	if (!t || !t->migrate.start)
		return thread_unbegun(HCW_R_MIGRATE);
	if (!t->move.start)
		flush_pending(t, bpf_ktime_get_boot_ns());
	r.body.start = t->migrate.start;
	r.body.attempt = t->attempt;
	r.body.ok = end.ok;
	r.body.failed = end.failed;
	r.body.mode = t->migrate.mode;
	r.body.reason = t->migrate.reason;
	if (t->migrate.hit || current_watched())
		emit(&r.rec, HCW_R_MIGRATE, sizeof(r));
	t->migrate.start = 0;
	if (!t->move.start)
		t->attempt = 0;
	thread_leave(t);
	return 0;
}

SEC("tp_btf")
int BPF_PROG(migrate_start_tp_btf, int mode, int reason)
{
	return migrate_start(mode, reason);
}

SEC("tp_btf")
int migrate_end_tp_btf(__u64 *ctx)
{
	return migrate_end(compat_migrate_end(ctx));
}

SEC("raw_tp")
int BPF_PROG(migrate_start_raw_tp, int mode, int reason)
{
	return migrate_start(mode, reason);
}

SEC("raw_tp")
int migrate_end_raw_tp(struct bpf_raw_tracepoint_args *ctx)
{
	return migrate_end(compat_migrate_end((const __u64 *)ctx->args));
}
