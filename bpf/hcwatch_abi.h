/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that cross every boundary of hcwatch: BPF ring -> trace file -> chain.
 *
 * One record is a `struct hcw_rec` followed by `len` bytes of body. Little-endian; `len` is a
 * multiple of 8; padding is zero. Times are CLOCK_BOOTTIME nanoseconds. `ts` is when the record was
 * written, which for anything that lasts is its end; the body's `start` is when it began. Types
 * 1-127 are written by BPF programs, 128 and up by the user side. Readers skip types they do not
 * know.
 *
 * A body may only ever grow at its end (readers take min(len, sizeof) and zero the rest); anything
 * else is a new HCW_ABI_VERSION.
 */
#ifndef HCWATCH_ABI_H
#define HCWATCH_ABI_H

#include <linux/types.h>

#define HCW_ABI_VERSION 1
#define HCW_COMM_LEN	16 /* TASK_COMM_LEN */
#define HCW_STACK_DEPTH 32 /* kernel frames kept per stack */
#define HCW_PID_UNKNOWN (-1)

/* Exit codes of every program of the project. */
enum hcw_exit {
	HCW_EXIT_OK = 0,
	HCW_EXIT_FINDING = 1,	  /* a finding; hcstall: wrong copy */
	HCW_EXIT_USAGE = 2,	  /* bad options; hcstall: stale, zombie or wrong pid */
	HCW_EXIT_UNSUPPORTED = 3, /* this machine cannot do it */
	HCW_EXIT_PERMISSION = 4,
	HCW_EXIT_INCOMPLETE = 5, /* loss, missing probe, inconclusive, measured in part */
	HCW_EXIT_TRACE = 6,	 /* unreadable trace */
};

enum hcw_record_type {
	HCW_R_MOVE_PAGES = 1,  /* struct hcw_move_pages */
	HCW_R_MIGRATE = 2,     /* struct hcw_migrate */
	HCW_R_INVAL = 3,       /* struct hcw_inval */
	HCW_R_QUIESCE = 4,     /* struct hcw_quiesce */
	HCW_R_RESUME = 5,      /* struct hcw_resume */
	HCW_R_EVICT = 6,       /* struct hcw_evict */
	HCW_R_RESTORE = 7,     /* struct hcw_evict, trigger unused */
	HCW_R_PASS = 8,	       /* struct hcw_pass */
	HCW_R_ITER_BEGIN = 9,  /* struct hcw_iter */
	HCW_R_ITER_END = 10,   /* struct hcw_iter */
	HCW_R_POOL_ALLOC = 11, /* struct hcw_pool */
	HCW_R_POOL_FREE = 12,  /* struct hcw_pool, bytes and backing 0 */
	HCW_R_TASK = 13,       /* struct hcw_task */
	HCW_R_TASK_EXIT = 14,  /* struct hcw_task_exit */
	HCW_R_REQUEST = 15,    /* struct hcw_request */
	HCW_R_BPF_COUNT,       /* one more than the last type a BPF program writes */

	HCW_R_HEADER = 128,    /* JSON text, zero padded */
	HCW_R_CLOCK = 129,     /* struct hcw_clock */
	HCW_R_HOLE = 130,      /* struct hcw_hole */
	HCW_R_STACK = 131,     /* struct hcw_stack + names */
	HCW_R_MAPPING = 132,   /* struct hcw_mapping + path */
	HCW_R_SAMPLE = 133,    /* struct hcw_sample */
	HCW_R_TASK_INFO = 134, /* struct hcw_task_info + cmdline */
	HCW_R_TOTALS = 135,    /* struct hcw_totals, one record per BPF record type */
	HCW_R_END = 136,       /* struct hcw_end; a file without it was cut */
	HCW_R_LIMITS = 137,    /* struct hcw_limits */
};

/* What user space tells the programs (map watch_all): whose details are wanted. */
enum hcw_watch_mode {
	HCW_WATCH_LISTED = 0,	/* of the processes in map `watched` */
	HCW_WATCH_ALL = 1,	/* of every process seen at KFD */
	HCW_WATCH_ANNOUNCE = 2, /* as LISTED; one that opens KFD is listed on trial and told by a
				   HCW_R_TASK, so that user space decides */
};

/* Values of map `watched`, by tgid. */
enum hcw_watched {
	HCW_WATCHED = 1,       /* with the children it will have */
	HCW_WATCHED_TRIAL = 2, /* until user space has decided: alone */
};

struct hcw_rec {
	__u64 ts;
	__u32 tid; /* thread that ran the code; 0 for records of the user side */
	__u16 type;
	__u16 len; /* bytes of body that follow */
};

/* What the kernel answered for one page (move_pages(2); mm/migrate.c store_status()). */
enum hcw_page_class {
	HCW_PAGE_NODE,	 /* >= 0: the node the page is on now */
	HCW_PAGE_EFAULT, /* no mapping, the zero page, or vma_migratable() refused */
	HCW_PAGE_ENOENT, /* no page there */
	HCW_PAGE_EBUSY,	 /* could not be isolated; also the head of a THP moved whole */
	HCW_PAGE_EACCES, /* mapped by several processes and no MPOL_MF_MOVE_ALL */
	HCW_PAGE_OTHER,
	HCW_PAGE_CLASSES,
};

static inline enum hcw_page_class hcw_page_classify(int status)
{
	if (status >= 0)
		return HCW_PAGE_NODE;
	switch (status) {
	case -14:
		return HCW_PAGE_EFAULT;
	case -2:
		return HCW_PAGE_ENOENT;
	case -16:
		return HCW_PAGE_EBUSY;
	case -13:
		return HCW_PAGE_EACCES;
	default:
		return HCW_PAGE_OTHER;
	}
}

/*
 * One move_pages(2) call that asked for moves (nodes != NULL). Counts are read from the caller's
 * status array at return; `read` < `requested` means the array was truncated or unreadable.
 */
struct hcw_move_pages {
	__u64 start;
	__u64 lo,
		hi; /* lowest and highest page address asked for, 0/0 if the array was unreadable */
	__s32 pid; /* target, tgid or tid, host; 0 = the caller itself; HCW_PID_UNKNOWN = named by a
		      number of another pid namespace that could not be translated */
	__u32 requested; /* nr_pages, saturated */
	__u32 read;	 /* statuses read */
	__u32 moved;	 /* HCW_PAGE_NODE */
	__u32 efault, enoent, ebusy, eacces, other;
	__s32 rc;
};

#define HCW_REASON_NONE 0xffffffffu

/* One migrate_pages() run of the kernel (tracepoints mm_migrate_pages_start and mm_migrate_pages).
 */
struct hcw_migrate {
	__u64 start;
	__u64 attempt; /* start of the outermost attempt of this thread; == start when this is it */
	__u64 ok, failed; /* pages */
	__u32 mode;	  /* enum migrate_mode */
	__u32 reason;	  /* enum migrate_reason */
};

/* What an invalidation came through, beside the reason of a migration; where a probe tells. */
enum hcw_via {
	HCW_VIA_UNKNOWN = 0,
	HCW_VIA_NUMA_SCAN = 1,	/* change_prot_numa(): hint faults, no page moves yet */
	HCW_VIA_MOVE_PAGES = 2, /* a move_pages(2) call, whose own record comes at its end */
};

/*
 * MMU-notifier range starts on one victim, aggregated per (actor thread, victim, event) inside one
 * attempt. Outside an attempt each is a record of its own. A record never spans the start or the
 * end of a restore pass of its victim, nor more than 10 ms: so each belongs to one pass or to none.
 */
struct hcw_inval {
	__u64 start;   /* the first one */
	__u64 mm;      /* victim */
	__u64 lo, hi;  /* hull of the ranges, hi exclusive */
	__u64 attempt; /* 0 outside an attempt */
	__u32 count;
	__u32 event;  /* enum mmu_notifier_event */
	__u32 victim; /* tgid, host; 0 if unknown */
	__u32 span;   /* from the first to the last one, ns */
	__u32 reason; /* enum migrate_reason of the enclosing migration, HCW_REASON_NONE without one
		       */
	__u32 via;    /* enum hcw_via */
};

/* kgd2kfd_quiesce_mm(mm, trigger): the notifier asks KFD to stop the queues. */
struct hcw_quiesce {
	__u64 start;
	__u64 mm;
	__u64 attempt; /* enclosing attempt of this thread, 0 = none (then the cause is no
			  migration) */
	__u64 lo, hi;  /* the registered range that was hit, hi exclusive; 0/0 when the callback was
			  not seen */
	__u32 trigger; /* enum KFD_QUEUE_EVICTION_TRIGGERS */
	__s32 ret;     /* != 0 at process exit is noise */
	__s32 stack;   /* id of a HCW_R_STACK, negative when there is none */
	__u32 victim;  /* tgid, host; 0 if the mm has no owner any more */
	__u32 reason; /* enum migrate_reason of the enclosing migration, HCW_REASON_NONE without one
		       */
	__u32 via;    /* enum hcw_via */
};

/* kgd2kfd_resume_mm(mm). */
struct hcw_resume {
	__u64 start;
	__u64 mm;
	__s32 ret;
	__u32 pad;
};

/* kfd_process_evict_queues(p, trigger) and kfd_process_restore_queues(p). */
struct hcw_evict {
	__u64 start;
	__u64 mm;     /* kfd_process.mm */
	__u32 victim; /* tgid of kfd_process.lead_thread, host */
	__u32 trigger;
	__s32 ret;
	__s32 stack; /* as in hcw_quiesce; only when no quiesce encloses it */
};

/* One run of the restore worker that had something to restore. */
struct hcw_pass {
	__u64 start;
	__u64 mm;     /* from the range it faulted in or the mm it resumed; 0 if neither was seen */
	__u64 work;   /* work_struct address: the same for all passes of one process */
	__u32 faults; /* hmm_range_fault() calls */
	__u32 resumed; /* 1: this pass ended in kgd2kfd_resume_mm(); 0: it was thrown away */
};

/* USDT hcwatch:iteration_begin(id) / iteration_end(id). */
struct hcw_iter {
	__u64 id;
	__u32 tgid; /* host */
	__u32 pad;
};

/* How a pool's pages are held; the third argument of USDT hcpool:alloc. */
enum hcw_backing {
	HCW_BACKING_UNKNOWN = 0,
	HCW_BACKING_GTT = 1,
	HCW_BACKING_REGISTERED = 2,
	HCW_BACKING_USERPTR = 3,
	HCW_BACKING_PAGEABLE = 4,
};

/* USDT hcpool:alloc(ptr, bytes, backing) / hcpool:free(ptr). */
struct hcw_pool {
	__u64 ptr;
	__u64 bytes;
	__u32 backing;
	__u32 tgid; /* host */
};

/* A thread when it is first seen in any record, and again when its comm or mm changed. */
struct hcw_task {
	__u64 start_time; /* task_struct.start_boottime: with tgid the identity of a process */
	__u64 mm;	  /* 0 for kernel threads */
	__u32 tid, tgid;
	char comm[HCW_COMM_LEN]; /* NUL terminated; any byte but NUL may occur in it */
};

/*
 * A thread that stood in any record ended. The last thread of a process that is watched, or of one
 * whose leader stood in a record, is told in any case.
 */
struct hcw_task_exit {
	__u64 mm; /* 0 if not known */
	__u32 tid, tgid;
	__u32 last; /* 1: no thread of the process is left. kernel/exit.c do_exit() counts
		       signal->live down before the tracepoint: of threads that end at once several
		       may say so */
	__u32 pad;
};

/* Somebody asked for migrations that another task will carry out. */
enum hcw_request_kind {
	HCW_REQUEST_CPUSET =
		1, /* a write to cpuset.mems: cpuset_migrate_mm_workfn() moves in a kworker */
	HCW_REQUEST_COMPACT = 2, /* a write to compact_memory of a node or of all */
};

/* The header's tid is who asked. */
struct hcw_request {
	__u64 mm; /* whose pages, 0 = not known or everybody's */
	__u32 kind;
	__u32 tgid;
};

struct hcw_clock {
	__u64 monotonic, realtime; /* at the record's ts */
};

/* Records of one source are missing between two times. */
struct hcw_hole {
	__u64 from, to;
	__u64 count;  /* records lost, 0 = not known */
	__u32 source; /* record type; 0 = all */
	__u32 cause;  /* enum hcw_hole_cause */
};

enum hcw_hole_cause {
	HCW_HOLE_RING_FULL = 1,
	HCW_HOLE_MAP_FULL = 2,
	HCW_HOLE_DAMAGED_FRAME = 3,
	HCW_HOLE_DRIVER_ABSENT = 4,
	HCW_HOLE_SKIPPED = 5, /* a program was not run, or an end was not seen */
};

/* Followed by `depth` NUL-terminated names "symbol+0xoff [module]", innermost first. */
struct hcw_stack {
	__s32 id;
	__u32 depth;
};

#define HCW_VM_SHARED	  0x01u	      /* sh */
#define HCW_VM_PFNMAP	  0x02u	      /* pf */
#define HCW_VM_IO	  0x04u	      /* io */
#define HCW_VM_HUGETLB	  0x08u	      /* ht */
#define HCW_VM_MIXED	  0x10u	      /* mm */
#define HCW_VM_DONTCOPY	  0x20u	      /* dc */
#define HCW_VM_UNREADABLE 0x80000000u /* the mapping could not be read */

/* What the mapping under a pool looks like; one record per mapping that meets the pool. */
struct hcw_mapping {
	__u64 lo, hi; /* the mapping, hi exclusive */
	__u64 pool;   /* ptr of the pool it was read for */
	__u32 tgid;
	__u32 vmflags; /* HCW_VM_* */
	/* path follows, NUL terminated and zero padded; empty for anonymous memory */
};

/* stats_<gpuid>/evicted_ms of one process. */
struct hcw_sample {
	__u64 evicted_ms;
	__u32 pid; /* host */
	__u32 gpuid;
};

struct hcw_task_info {
	__u32 tgid, parent;
	/* cmdline follows, its NULs turned into blanks, NUL terminated, zero padded */
};

/* Since the start of the recording; exact even when the ring lost records. */
struct hcw_totals {
	__u32 source; /* record type */
	__u32 pad;
	__u64 emitted; /* reached the ring */
	__u64 lost;    /* did not: the sum of the next three. In a trace that has none of them, why
			  is not known */
	__u64 ring_full;
	__u64 map_full;
	/*
	 * The kernel did not run the program at the start, since another one was running on this
	 * CPU; or the end was not seen, for the same reason or since too many calls were under way
	 * (kretprobe's maxactive).
	 */
	__u64 skipped;
	/* Ends whose start was not seen: the call began before the recording, or its start is
	 * counted above. Not part of `lost`. */
	__u64 unbegun;
};

/* What a table of the kernel side had no room for. */
enum hcw_limit {
	HCW_LIMIT_WATCHED,  /* processes that should have been watched */
	HCW_LIMIT_THREADS,  /* calls that could not be followed to their end */
	HCW_LIMIT_STACKS,   /* stacks not kept: their place is another's, or they were unreadable */
	HCW_LIMIT_STATUSES, /* move_pages() calls with more answers than are read */
	/* of tables that forget the least recently used one; at least, and not a loss of records */
	HCW_LIMIT_TASKS,      /* threads forgotten: told once more */
	HCW_LIMIT_KFD,	      /* processes seen at KFD forgotten */
	HCW_LIMIT_INNER_PIDS, /* numbers of processes in containers forgotten */
	HCW_LIMIT_COUNT,
};

/* Since the start of the recording; one record, with each set of totals. */
struct hcw_limits {
	__u64 count[HCW_LIMIT_COUNT]; /* by enum hcw_limit */
};

struct hcw_end {
	__u64 records;
	__u32 reason; /* enum hcw_end_reason */
	__u32 pad;
};

enum hcw_end_reason {
	HCW_END_SIGNAL = 1,
	HCW_END_COMMAND = 2, /* the traced command ended */
	HCW_END_DURATION = 3,
	HCW_END_ERROR = 4,
};

_Static_assert(sizeof(struct hcw_rec) == 16, "hcw_rec");
_Static_assert(sizeof(struct hcw_move_pages) == 64, "hcw_move_pages");
_Static_assert(sizeof(struct hcw_migrate) == 40, "hcw_migrate");
_Static_assert(sizeof(struct hcw_inval) == 64, "hcw_inval");
_Static_assert(sizeof(struct hcw_quiesce) == 64, "hcw_quiesce");
_Static_assert(sizeof(struct hcw_resume) == 24, "hcw_resume");
_Static_assert(sizeof(struct hcw_evict) == 32, "hcw_evict");
_Static_assert(sizeof(struct hcw_pass) == 32, "hcw_pass");
_Static_assert(sizeof(struct hcw_iter) == 16, "hcw_iter");
_Static_assert(sizeof(struct hcw_pool) == 24, "hcw_pool");
_Static_assert(sizeof(struct hcw_task) == 40, "hcw_task");
_Static_assert(sizeof(struct hcw_task_exit) == 24, "hcw_task_exit");
_Static_assert(sizeof(struct hcw_request) == 16, "hcw_request");
_Static_assert(sizeof(struct hcw_clock) == 16, "hcw_clock");
_Static_assert(sizeof(struct hcw_hole) == 32, "hcw_hole");
_Static_assert(sizeof(struct hcw_stack) == 8, "hcw_stack");
_Static_assert(sizeof(struct hcw_mapping) == 32, "hcw_mapping");
_Static_assert(sizeof(struct hcw_sample) == 16, "hcw_sample");
_Static_assert(sizeof(struct hcw_totals) == 56, "hcw_totals");
_Static_assert(sizeof(struct hcw_limits) == 56, "hcw_limits");
_Static_assert(sizeof(struct hcw_end) == 16, "hcw_end");

#endif
