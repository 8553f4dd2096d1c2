// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Migration attempts: move_pages(2) with its per-page answer, and the kernel's migrate_pages()
 * runs. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "compat.bpf.h"
#include "invalidation.bpf.h"

#define MAX_STATUSES 262144

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The two arrays of a call; on the stack because bpf_loop() hands it to the callbacks. */
struct arrays {
	__u64 status;
	__u64 pages;
	__u64 nr;
};

static __always_inline struct hcw_tally *tally(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&tallies, &zero);
}

static long count_status(__u32 i, void *ctx)
{
	struct hcw_tally *t = tally();
	__u32 class;

	if (!t)
		return 1;
	class = hcw_page_classify(t->status[i & (HCW_CHUNK - 1)]);
	if (class < HCW_PAGE_CLASSES)
		t->count[class]++;
	return 0;
}

static long widen_range(__u32 i, void *ctx)
{
	struct hcw_tally *t = tally();
	__u64 page;

	if (!t)
		return 1;
	page = t->page[i & (HCW_CHUNK - 1)];
	if (page < t->lo)
		t->lo = page;
	if (page > t->hi)
		t->hi = page;
	return 0;
}

/* The inner loop is a bpf_loop() too: unrolled or bounded, it exceeds the verifier's limit on 6.18.
 */
static long count_chunk(__u32 i, struct arrays *a)
{
	__u64 from = (__u64)i * HCW_CHUNK;
	struct hcw_tally *t = tally();
	__u32 n = HCW_CHUNK;

	if (!t || from >= a->nr)
		return 1;
	if (a->nr - from < n)
		n = a->nr - from;
	if (n > HCW_CHUNK)
		n = HCW_CHUNK;
	if (!bpf_probe_read_user(t->status, n * sizeof(t->status[0]),
				 (void *)(a->status + from * sizeof(t->status[0])))) {
		bpf_loop(n, count_status, NULL, 0);
		t->read += n;
	}
	if (bpf_probe_read_user(t->page, n * sizeof(t->page[0]),
				(void *)(a->pages + from * sizeof(t->page[0]))))
		t->pages_unreadable = 1;
	else
		bpf_loop(n, widen_range, NULL, 0);
	return 0;
}

static __always_inline void count_arrays(const struct hcw_open_move *m, struct hcw_move_pages *body)
{
	struct arrays a = {.status = m->status, .pages = m->pages, .nr = m->nr};
	struct hcw_tally *t = tally();

	if (!t || !compat_has_loop())
		return;
	__builtin_memset(t->count, 0, sizeof(t->count));
	t->read = 0;
	t->pages_unreadable = 0;
	t->lo = ~0ULL;
	t->hi = 0;
	if (a.nr > MAX_STATUSES)
		a.nr = MAX_STATUSES;
	bpf_loop((a.nr + HCW_CHUNK - 1) / HCW_CHUNK, count_chunk, &a, 0);
	body->read = t->read;
	body->moved = t->count[HCW_PAGE_NODE];
	body->efault = t->count[HCW_PAGE_EFAULT];
	body->enoent = t->count[HCW_PAGE_ENOENT];
	body->ebusy = t->count[HCW_PAGE_EBUSY];
	body->eacces = t->count[HCW_PAGE_EACCES];
	body->other = t->count[HCW_PAGE_OTHER];
	if (a.nr && !t->pages_unreadable) {
		body->lo = t->lo;
		body->hi = t->hi;
	}
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
	t->attempt = bpf_ktime_get_boot_ns();
	t->migrate.start = 0;
	t->move.start = t->attempt;
	t->move.nr = nr;
	t->move.pages = pages;
	t->move.status = status;
	t->move.pid = pid;
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
	count_arrays(&t->move, &r.body);
	emit(&r.rec, HCW_R_MOVE_PAGES, sizeof(r));
}

static __always_inline int move_return(__s32 rc)
{
	struct hcw_thread *t = thread_find();

	if (!t || !t->move.start)
		return 0;
	flush_pending(t, bpf_ktime_get_boot_ns());
	/*
	 * The target's pid is the caller's namespace's: from inside a container a call that moved
	 * nothing of a watched process, and so hit no notifier, goes unseen. It then clears nobody.
	 */
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
		return 0;
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
