/* SPDX-License-Identifier: BSD-2-Clause */
/* The probe plan: what each point was attached to, and why not. Plain data, also read back from a
 * trace's header. */
#ifndef HCW_PLAN_H
#define HCW_PLAN_H

#include <stdbool.h>

/* Points are named after what they tell, not after the function: the function differs from kernel
 * to kernel. */
enum hcw_point {
	HCW_POINT_MOVE_PAGES,	 /* kernel_move_pages entry and return */
	HCW_POINT_MIGRATE,	 /* tracepoints mm_migrate_pages_start, mm_migrate_pages */
	HCW_POINT_NOTIFIER,	 /* __mmu_notifier_invalidate_range_start */
	HCW_POINT_HSA_CALLBACK,	 /* the driver's notifier callback: which registered range */
	HCW_POINT_KFD_OPEN,	 /* kfd_open: a process that can have queues */
	HCW_POINT_QUIESCE,	 /* kgd2kfd_quiesce_mm entry and return */
	HCW_POINT_RESUME,	 /* kgd2kfd_resume_mm entry and return */
	HCW_POINT_EVICT,	 /* kfd_process_evict_queues entry and return */
	HCW_POINT_RESTORE,	 /* kfd_process_restore_queues entry and return */
	HCW_POINT_RESTORE_PASS,	 /* restore worker entry and return */
	HCW_POINT_RESTORE_FAULT, /* hmm_range_fault: whose pages a pass revalidates */
	HCW_POINT_ITERATION,	 /* USDT hcwatch:iteration_begin, iteration_end */
	HCW_POINT_POOL,		 /* USDT hcpool:alloc, hcpool:free */
	HCW_POINT_NUMA_SCAN,	 /* change_prot_numa: NUMA balancing takes access away */
	HCW_POINT_REQUEST,	 /* cpuset_write_resmask, ...: who asked what a kworker does */
	HCW_POINT_TASK_FORK,	 /* tracepoint sched_process_fork: children are watched too */
	HCW_POINT_TASK_EXIT,	 /* tracepoint sched_process_exit */
	HCW_POINT_COUNT,
};

enum hcw_tier {
	HCW_TIER_OFF,
	HCW_TIER_TP_BTF,
	HCW_TIER_RAW_TP,
	HCW_TIER_FENTRY,
	HCW_TIER_KPROBE,
	HCW_TIER_USDT,
};

struct hcw_plan_entry {
	enum hcw_point point;
	enum hcw_tier tier; /* HCW_TIER_OFF when not active */
	bool active;
	bool forced;	  /* the user chose the tier, or "off" */
	char target[64];  /* function, tracepoint or mark attached to */
	char reason[160]; /* why this tier, or why not active; "" when the first candidate worked */
};

struct hcw_plan {
	struct hcw_plan_entry entry[HCW_POINT_COUNT];
};

const char *hcw_point_name(enum hcw_point p); /* "move_pages", … : stable, as in JSON and --probe */
const char *
hcw_tier_name(enum hcw_tier t); /* "off", "tp_btf", "raw_tp", "fentry", "kprobe", "usdt" */

#endif
