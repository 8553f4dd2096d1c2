// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The product's inline code in a loop, run by BPF_PROG_TEST_RUN in the caller's own context: so it
 * can be timed on a host that has neither KFD nor a function to probe. The raw_tp wrappers take
 * their arguments as the tracepoint's.
 */
#include "../../bpf/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "../../bpf/invalidation.bpf.h"
#include "../../bpf/status.bpf.h"
#include "programs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bench_result);
} results SEC(".maps");

/* Room for a mmu_notifier_range as the running kernel lays it out. */
struct made_up_range {
	__u64 word[32];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct made_up_range);
} made_up SEC(".maps");

static __always_inline struct bench_result *result(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&results, &zero);
}

struct emission {
	__u64 mm;
	__u64 attempt;
	__u64 first; /* page of the first record */
	__u32 victim;
};

/* As page after page of a move is invalidated. */
static long emit_one(__u32 i, struct emission *e)
{
	HCW_RECORD(struct hcw_inval) r = {};

	r.body.start = bpf_ktime_get_boot_ns();
	r.body.mm = e->mm;
	r.body.lo = (e->first + i) << 12;
	r.body.hi = r.body.lo + 4096;
	r.body.attempt = e->attempt;
	r.body.count = 1;
	r.body.event = 1;
	r.body.victim = e->victim;
	emit(&r.rec, HCW_R_INVAL, sizeof(r));
	return 0;
}

/* args: records, number of the first, victim */
SEC("raw_tp")
int bench_emit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct bench_result *out = result();
	struct emission e = {
		.mm = (__u64)BPF_CORE_READ(task, mm),
		.attempt = bpf_ktime_get_boot_ns(),
		.first = 0x7f0000000ULL + ctx->args[1],
		.victim = ctx->args[2],
	};

	if (!out)
		return 0;
	bpf_loop(ctx->args[0], emit_one, &e, 0);
	out->ns = bpf_ktime_get_boot_ns() - e.attempt;
	return 0;
}

/* The caller's own mm in a range that never was. */
static __always_inline const struct mmu_notifier_range *make_range(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 offset = bpf_core_field_offset(struct mmu_notifier_range, mm) / sizeof(__u64);
	__u32 zero = 0;
	struct made_up_range *range = bpf_map_lookup_elem(&made_up, &zero);

	if (!range || offset >= sizeof(range->word) / sizeof(range->word[0]))
		return NULL;
	range->word[offset] = (__u64)BPF_CORE_READ(task, mm);
	return (const struct mmu_notifier_range *)range;
}

static long hit_one(__u32 i, const struct mmu_notifier_range **range)
{
	notifier_entry(*range);
	return 0;
}

static long nothing(__u32 i, const struct mmu_notifier_range **range)
{
	return 0;
}

/* args: hits, 1 for the empty loop */
SEC("raw_tp")
int bench_hit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct mmu_notifier_range *range = make_range();
	struct bench_result *out = result();
	__u64 start;

	if (!range || !out)
		return 0;
	start = bpf_ktime_get_boot_ns();
	if (ctx->args[1])
		bpf_loop(ctx->args[0], nothing, &range, 0);
	else
		bpf_loop(ctx->args[0], hit_one, &range, 0);
	out->ns = bpf_ktime_get_boot_ns() - start;
	return 0;
}

/* args: addresses of the status and page arrays, entries */
SEC("raw_tp")
int bench_arrays(struct bpf_raw_tracepoint_args *ctx)
{
	struct bench_result *out = result();
	struct hcw_move_pages body = {};
	__u64 start;

	if (!out)
		return 0;
	start = bpf_ktime_get_boot_ns();
	count_arrays(ctx->args[0], ctx->args[1], ctx->args[2], &body);
	out->ns = bpf_ktime_get_boot_ns() - start;
	out->move = body;
	return 0;
}
