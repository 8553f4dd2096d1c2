/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include "traces.h"
#include "traces_put.h"

#define POOL 0x7f3100000000ull
#define MIB  (1024ull * 1024)

/* enum migrate_reason of 6.1 and enum KFD_QUEUE_EVICTION_TRIGGERS */
enum { MR_COMPACTION = 0, MR_SYSCALL = 3 };
enum { BY_USERPTR = 1, BY_TTM = 2 };

static const struct process hcstall = {158, 0xffff888004a01000, "hcstall"};
static const struct mover hcstall_mover = {159, 158, 0xffff888004a01000, "hcstall-mover"};

static void lab_start(struct trace *w, enum hcw_backing backing)
{
	put_header(w, "gpusim", 2, hcstall.pid, "", "");
	put_process(w, 1, &hcstall);
	put_thread(w, 2, &hcstall_mover);
	put_pool(w, 3, &hcstall, POOL, 512 * MIB, backing);
	put_iterations(w, 10, 0.7, 60, &hcstall);
}

/* The lab's registered arm: one move of 2 MiB, its own later pages overtake the first pass. */
static void make_registered(struct trace *w)
{
	static const char *const frames[] = {
		"kgd2kfd_quiesce_mm+0x0/0xc0 [amdgpu]",
		"gpusim_invalidate_range+0x71/0x110 [gpusim]",
		"__mmu_notifier_invalidate_range_start+0x91/0x1c0",
		"try_to_migrate_one+0xa1c/0xd30",
		"rmap_walk_file+0x102/0x250",
		"try_to_migrate+0x9a/0xe0",
		"migrate_pages_batch+0x3f8/0xb50",
		"migrate_pages+0x9a1/0xd30",
		"kernel_move_pages+0x391/0x6d0",
		"__x64_sys_move_pages+0x1f/0x30",
		"do_syscall_64+0x55/0xb0",
		"entry_SYSCALL_64_after_hwframe+0x6e/0xd8",
		NULL,
	};
	const struct stop s = {
		.victim = &hcstall,
		.by = &hcstall_mover,
		.start = 101,
		.took = 0.4,
		.attempt = 99.5,
		.reason = MR_SYSCALL,
		.trigger = BY_USERPTR,
		.stack = 3,
		.lo = POOL,
		.hi = POOL + 512 * MIB,
	};

	lab_start(w, HCW_BACKING_REGISTERED);
	put_stack(w, 101.5, 3, frames);
	put_stop(w, &s);
	put_inval(w, 104, 113, &s, 300);
	put_inval(w, 114, 120, &s, 211);
	put_migrate(w, 99.5, 100, 121, &hcstall_mover, MR_SYSCALL, 512);
	put_move_pages(w, 99.5, 122, &hcstall_mover, POOL, 512, false);
	put_pass(w, 102, 295, &hcstall, true);
	put_restart(w, 488, 4.8, &hcstall);
	put_pass(w, 296, 492.9, &hcstall, false);
	put_iterations(w, 98, 396.1, 1, &hcstall);
	put_iterations(w, 500, 0.7, 60, &hcstall);
	put_end(w, 600);
}

/* The lab's gtt arm: three moves, every page refused. */
static void make_gtt(struct trace *w)
{
	int i;

	lab_start(w, HCW_BACKING_GTT);
	for (i = 0; i < 3; i++) {
		put_move_pages(w, 100 + i * 50, 100.6 + i * 50, &hcstall_mover, POOL, 512, true);
		put_iterations(w, 101 + i * 50, 0.7, 60, &hcstall);
	}
	put_end(w, 300);
}

static const struct process rank0 = {48213, 0xffff888104a01000, "sglang::schedul"};
static const struct process rank1 = {48214, 0xffff888104a02000, "sglang::schedul"};
static const struct mover kcompactd = {121, 121, 0, "kcompactd0"};
static const struct mover scanned = {48300, 48213, 0xffff888104a01000, "python3"};
static const struct mover kworker = {77, 77, 0, "kworker/1:2"};
static const struct mover shell = {900, 900, 0xffff888104a03000, "bash"};

/* One compaction whose stall NUMA scanning makes three times as long, while the other rank waits.
 */
static void compaction(struct trace *w)
{
	struct stop start = {
		.victim = &rank0,
		.by = &kcompactd,
		.start = 2118,
		.took = 1,
		.attempt = 2117,
		.reason = MR_COMPACTION,
		.trigger = BY_USERPTR,
		.stack = -1,
		.lo = POOL,
		.hi = POOL + 180000000000,
	};
	struct stop scan = start;

	scan.by = &scanned;
	scan.attempt = -1;
	scan.via = HCW_VIA_NUMA_SCAN;
	put_stop(w, &start);
	put_migrate(w, 2117, 2117, 2140, &kcompactd, MR_COMPACTION, 512);
	put_inval(w, 9000, 9000, &scan, 1);
	put_pass(w, 2120, 23506, &rank0, true);
	put_inval(w, 31000, 31000, &scan, 1);
	put_pass(w, 23507, 44892, &rank0, true);
	put_restart(w, 66270, 8, &rank0);
	put_pass(w, 44893, 66279, &rank0, false);
	put_iterations(w, 2000, 64300, 1, &rank0);
	put_iterations(w, 2050, 64260, 1, &rank1);
}

/* A cpuset is changed by a shell; a kernel worker moves the pages. */
static void cpuset_change(struct trace *w)
{
	const struct stop s = {
		.victim = &rank0,
		.by = &kworker,
		.start = 80100,
		.took = 1,
		.attempt = 80099,
		.reason = MR_SYSCALL,
		.trigger = BY_USERPTR,
		.stack = -1,
		.lo = POOL,
		.hi = POOL + 180000000000,
	};
	const struct hcw_request request = {.kind = HCW_REQUEST_CPUSET, .tgid = shell.tgid};

	put_thread(w, 80000, &shell);
	put(w, HCW_R_REQUEST, AT(80098), shell.tid, &request, sizeof(request));
	put_stop(w, &s);
	put_migrate(w, 80099, 80099, 80105, &kworker, MR_SYSCALL, 4096);
	put_restart(w, 101480, 8, &rank0);
	put_pass(w, 80106, 101489, &rank0, false);
	put_iterations(w, 80050, 21500, 1, &rank0);
}

static void make_prolonged(struct trace *w)
{
	put_header(w, "amdgpu", 8, rank0.pid, "", "");
	put_process(w, 1, &rank0);
	put_process(w, 2, &rank1);
	put_thread(w, 3, &kcompactd);
	put_thread(w, 4, &scanned);
	put_thread(w, 5, &kworker);
	put_pool(w, 6, &rank0, POOL - (64ull << 30), 34359738368, HCW_BACKING_GTT);
	put_pool(w, 7, &rank0, POOL, 180000000000, HCW_BACKING_REGISTERED);
	put_iterations(w, 100, 0.72, 200, &rank0);
	put_iterations(w, 300, 0.72, 200, &rank1);
	compaction(w);
	put_iterations(w, 70000, 0.72, 200, &rank0);
	cpuset_change(w);
	put_iterations(w, 110000, 0.72, 200, &rank0);
	put_end(w, 120000);
}

/* Notifier records lost, the driver gone for a while, no migrate probe, killed before the end. */
static void make_incomplete(struct trace *w)
{
	const struct hcw_limits full = {.count = {
						[HCW_LIMIT_WATCHED] = 2,
						[HCW_LIMIT_THREADS] = 7,
						[HCW_LIMIT_STACKS] = 11,
						[HCW_LIMIT_STATUSES] = 1,
						[HCW_LIMIT_TASKS] = 13,
						[HCW_LIMIT_KFD] = 1,
					}};
	const struct stop s = {
		.victim = &hcstall,
		.by = &hcstall_mover,
		.start = 101,
		.took = 0.4,
		.attempt = -1,
		.trigger = BY_USERPTR,
		.stack = -1,
	};

	put_header(w, "gpusim", 2, 0, " migrate hsa_callback numa_scan ",
		   "fentry: attach failed (EPERM); kprobe: attach failed (EPERM)");
	put_process(w, 1, &hcstall);
	put_thread(w, 2, &hcstall_mover);
	put_pool(w, 3, &hcstall, POOL, 512 * MIB, HCW_BACKING_REGISTERED);
	put_stop(w, &s);
	put_hole(w, 95, 130, 1204, HCW_R_INVAL, HCW_HOLE_RING_FULL);
	put_totals(w, 131, HCW_R_INVAL, 9, 1204);
	put_hole(w, 96, 131, 3, HCW_R_MIGRATE, HCW_HOLE_SKIPPED);
	put_skipped(w, 131, HCW_R_MIGRATE, 5, 3);
	put_limits(w, 131, &full);
	put_restart(w, 295, 4.8, &hcstall);
	put_pass(w, 102, 299.9, &hcstall, false);
	put_hole(w, 6000, 23000, 0, 0, HCW_HOLE_DRIVER_ABSENT);
}

static const struct process first = {200, 0xffff888004b01000, "a\"\\\001\n\377\033[2J"};
static const struct process second = {300, 0xffff888004b02000, "server"};
static const struct mover first_thread = {201, 200, 0xffff888004b01000, "mprotector"};
static const struct mover ttm_worker = {78, 78, 0, "kworker/u4:3"};

/* One process dies while evicted, for a second reason too; another is evicted when the trace ends.
 */
static void make_killed(struct trace *w)
{
	struct stop s = {
		.victim = &first,
		.by = &first_thread,
		.start = 101,
		.took = 0.4,
		.attempt = -1,
		.trigger = BY_USERPTR,
		.stack = -1,
		.lo = POOL,
		.hi = POOL + 64 * MIB,
	};
	const struct hcw_task_exit gone = {
		.mm = first.mm,
		.tid = first.pid,
		.tgid = first.pid,
		.last = 1,
	};

	put_header(w, "amdgpu", 1, 0, " iteration ", "no program with these marks attached yet");
	put_process(w, 1, &first);
	put_thread(w, 2, &first_thread);
	put_process(w, 3, &second);
	put_thread(w, 4, &ttm_worker);
	put_inval(w, 101, 101, &s, 1);
	put_stop(w, &s);
	s.by = &ttm_worker;
	s.trigger = BY_TTM;
	s.start = 110;
	put_stop(w, &s);
	s.victim = &second;
	s.start = 300;
	put_stop(w, &s);
	put(w, HCW_R_TASK_EXIT, AT(1350), first.pid, &gone, sizeof(gone));
	put_end(w, 2600);
}

static void make_clean(struct trace *w)
{
	put_header(w, "amdgpu", 8, 0, "", "");
	put_end(w, 60000);
}

const struct trace_maker trace_makers[] = {
	{"registered", make_registered},
	{"gtt", make_gtt},
	{"prolonged", make_prolonged},
	{"incomplete", make_incomplete},
	{"killed", make_killed},
	{"clean", make_clean},
	{NULL, NULL},
};

int trace_write(const struct trace_maker *t, const char *path)
{
	struct trace *w = trace_new();

	t->make(w);
	return trace_close(w, path);
}
