/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every map of the kernel side, once. All are weak: the object files are linked into one, which
 * keeps one of each. Everything is bounded and allocated at load time; a full map is counted as
 * loss of the record it was for.
 */
#ifndef HCW_MAPS_BPF_H
#define HCW_MAPS_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>

#define HCW_MAX_WATCHED 16384
#define HCW_MAX_KFD_MMS 4096
#define HCW_MAX_THREADS 4096 /* threads inside a probed function at the same time */
#define HCW_MAX_TASKS	16384
#define HCW_MAX_STACKS	4096
#define HCW_CHUNK	128 /* status entries read at once; a power of two */

/* max_entries is set by user space before load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps") __weak;

/* What happened and what became of it: each record is counted once. */
struct hcw_counter {
	__u64 emitted;
	__u64 ring_full;
	__u64 map_full;
};

/* By record type. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HCW_R_BPF_COUNT);
	__type(key, __u32);
	__type(value, struct hcw_counter);
} counters SEC(".maps") __weak;

/* Starts and ends of one call that did not meet. */
struct hcw_unpaired {
	__u64 unended; /* starts whose thread went on without their end: the record is lost */
	__u64 unbegun; /* ends without a start */
};

/* By record type. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HCW_R_BPF_COUNT);
	__type(key, __u32);
	__type(value, struct hcw_unpaired);
} unpaired SEC(".maps") __weak;

/*
 * By enum hcw_limit: how often a table was full. Of those that forget (LRU), which do not tell what
 * they forget: entries made less entries taken out; what is above the table's size was forgotten.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HCW_LIMIT_COUNT);
	__type(key, __u32);
	__type(value, __s64);
} limits SEC(".maps") __weak;

/* enum hcw_watch_mode */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} watch_all SEC(".maps") __weak;

/* tgid -> enum hcw_watched */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HCW_MAX_WATCHED);
	__type(key, __u32);
	__type(value, __u32);
} watched SEC(".maps") __weak;

/* A process's number in a pid namespace that is not the initial one. */
struct hcw_inner_pid {
	__u32 ns; /* inode of /proc/<pid>/ns/pid */
	__u32 pid;
};

/* -> tgid, of processes that are watched or were seen at KFD; see pidns.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HCW_MAX_WATCHED);
	__type(key, struct hcw_inner_pid);
	__type(value, __u32);
} inner_pids SEC(".maps") __weak;

/* A process seen at KFD. */
struct hcw_kfd_mm {
	__u32 tgid;
	__u32 listed; /* it stood in `watched`, which it leaves when it dies; its mm can live on */
	__u64 evicted_at; /* last sign of an eviction, whether it is watched or not; 0 = none */
	__u32 evicted;	  /* what that sign said: 1 stopped, 0 running again */
	__u32 pad;
};

/* By mm. An address can be reused: compare the tgid where it is known. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HCW_MAX_KFD_MMS);
	__type(key, __u64);
	__type(value, struct hcw_kfd_mm);
} kfd_mms SEC(".maps") __weak;

/* Starts and ends of restore passes, of any process: see pass.bpf.h. */
struct hcw_pass_edges {
	__u64 begun;
	__u64 done;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hcw_pass_edges);
} pass_edges SEC(".maps") __weak;

/* kernel_move_pages() that has not returned. */
struct hcw_open_move {
	__u64 start; /* 0 = none */
	__u64 nr;
	__u64 pages;
	__u64 status;
	__s32 pid;
	__u32 hit; /* a watched mm was invalidated inside */
};

/* migrate_pages() run that has not ended. */
struct hcw_open_migrate {
	__u64 start; /* 0 = none */
	__u32 mode;
	__u32 reason;
	__u32 hit;
	__u32 pad;
};

/* The registered range the driver's notifier callback is working on. */
struct hcw_open_callback {
	__u64 mm; /* 0 = not inside the callback */
	__u64 lo;
	__u64 hi;
};

/* What a thread is inside of. Bodies are filled at entry and completed at return; start 0 = not
 * inside. */
struct hcw_thread {
	__u64 attempt;	/* start of the outermost open attempt, 0 = none */
	__u64 last;	/* time of the last invalidation in `pending` */
	__u64 epoch;	/* between which edges of passes `pending` is; 0 = not known */
	__u32 scanning; /* inside change_prot_numa() */
	__u32 pad;
	struct hcw_open_move move;
	struct hcw_open_migrate migrate;
	struct hcw_inval pending; /* count 0 = none */
	struct hcw_open_callback callback;
	struct hcw_quiesce quiesce;
	struct hcw_resume resume;
	struct hcw_evict evict;
	struct hcw_evict restore;
	struct hcw_pass pass;
};

/* By thread id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HCW_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct hcw_thread);
} threads SEC(".maps") __weak;

/* The initial value of `threads`: too big for the BPF stack. Never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hcw_thread);
} idle_thread SEC(".maps") __weak;

/* Threads user space has been told about, as it was told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HCW_MAX_TASKS);
	__type(key, __u32);
	__type(value, struct hcw_task);
} seen_tasks SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, HCW_MAX_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, HCW_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps") __weak;

/* Where the arrays of a move_pages() call are counted. */
struct hcw_tally {
	__s32 status[HCW_CHUNK];
	__u64 page[HCW_CHUNK];
	__u32 count[HCW_PAGE_CLASSES];
	__u32 read;
	__u32 pages_unreadable;
	__u64 lo;
	__u64 hi;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hcw_tally);
} tallies SEC(".maps") __weak;

#endif
