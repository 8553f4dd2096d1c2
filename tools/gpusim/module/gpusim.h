/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The test GPU: the part of amdgpu that stands between the MMU notifier and KFD, played on a
 * machine without a GPU. Migrations, notifiers and kgd2kfd_quiesce_mm/resume_mm are the kernel's
 * own.
 *
 * Locks, outermost first:
 *   processes_lock (process.c)  the list of processes and their file counts
 *   process->ranges_lock        the list of ranges; held for a whole restore pass
 *   mmap_lock
 *   process->lock               eviction state; taken in notifier callbacks, so nothing that
 * allocates or faults may be done while it is held (KFD's quiesce is amdgpu's own exception)
 */
#ifndef GPUSIM_GPUSIM_H
#define GPUSIM_GPUSIM_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <drm/drm_device.h>

#define GPUSIM_GPUS 2

struct vm_area_struct;
struct file;

/* Module parameters; all but gpu_ids may be written at any time and hold for what begins after. */
struct gpusim_params {
	unsigned int gpu_ids[GPUSIM_GPUS];
	unsigned int page_cost_ns;   /* spent per page of every range that a pass restores */
	unsigned long gtt_total_mib; /* per node; 0 = half of RAM */
	bool evict;		     /* false: invalidations are counted, queues keep running */
};

extern struct gpusim_params gpusim_params;

struct gpusim_device {
	struct drm_device drm;
	unsigned int index;	/* into gpu_ids */
	struct mutex gtt_lock;	/* makes check and charge of gtt_used one step */
	unsigned long gtt_used; /* pages */
};

static inline struct gpusim_device *to_gpusim(struct drm_device *drm)
{
	return container_of(drm, struct gpusim_device, drm);
}

/* One restore pass, and whose invalidations overtake it. Under process->lock. */
#define GPUSIM_PASS_ACTORS 16

struct gpusim_actor {
	pid_t tid;
	char comm[TASK_COMM_LEN];
	u32 invalidations;
};

struct gpusim_pass {
	bool running;
	u32 invalidations; /* since it began, also of actors beyond the table */
	unsigned int actors;
	struct gpusim_actor actor[GPUSIM_PASS_ACTORS];
};

struct gpusim_stats; /* one stats_<gpuid> folder, kfd.c */

/* What the GPUs know of one address space, shared by all files of all render nodes it has open. */
struct gpusim_process {
	struct list_head node;
	unsigned int files;   /* under processes_lock; the object dies with the last */
	struct mm_struct *mm; /* mm_count held, not mm_users */
	pid_t tgid;

	struct mutex ranges_lock;
	struct list_head ranges;
	struct delayed_work restore;
	wait_queue_head_t wait; /* woken at every eviction and restore */

	struct mutex lock;
	unsigned int evicted; /* invalidations since the queues ran, as amdgpu's evicted_bos; 0 =
				 running */
	bool closing; /* no eviction may start any more: address space or last file goes away */
	u64 evict_ns; /* start of the eviction under way */
	u64 evicted_ns, evicted_jiffies; /* sum of the finished ones */
	u32 passes;
	struct gpusim_pass pass;

	struct gpusim_stats *stats[GPUSIM_GPUS];
};

/* process.c */
struct gpusim_process *gpusim_process_get(void);
void gpusim_process_put(struct gpusim_process *process);
/* For a process that opened /dev/kfd after its first render node. Call in its own context. */
void gpusim_process_add_stats(struct gpusim_process *process);
/*
 * Spends *work_ns while the queues run. Returns 0 or -EINTR; then *work_ns is what is left.
 * *waited_ns is the time the queues were evicted meanwhile.
 */
int gpusim_process_submit(struct gpusim_process *process, u64 *work_ns, u64 *waited_ns);

/* userptr.c */
int gpusim_range_register(struct gpusim_process *process, u64 addr, u64 len);
int gpusim_range_unregister(struct gpusim_process *process, u64 addr, u64 len);
void gpusim_ranges_remove_all(struct gpusim_process *process);
void gpusim_restore_worker(struct work_struct *work);
/* Lets the queues run and books the time they did not. Holds process->lock, mm_users and an
 * eviction. */
void gpusim_resume(struct gpusim_process *process);

/* gtt.c */
int gpusim_gtt_mmap(struct file *file, struct vm_area_struct *vma);
u64 gpusim_gtt_total(void);

/* kfd.c: the doors into amdgpu, which exports none */
int gpusim_kfd_find(void);
void gpusim_kfd_forget(void);
int gpusim_kfd_quiesce(struct mm_struct *mm);
int gpusim_kfd_resume(struct mm_struct *mm);
/* Under processes_lock. Adds what is missing of the stats folders once KFD knows the process. */
void gpusim_kfd_stats_add(struct gpusim_process *process);
void gpusim_kfd_stats_remove(struct gpusim_process *process);

/* counters.c: what truly happened, over all processes since the module was loaded */
enum gpusim_counter {
	GPUSIM_EVICTIONS,
	GPUSIM_INVALIDATIONS,
	GPUSIM_PASSES,
	GPUSIM_PASSES_THROWN,
	GPUSIM_ABANDONED, /* evictions no pass ended: the process died, or closed its last file */
	GPUSIM_EVICTED_NS,
	GPUSIM_RESTORE_PAGES,
	GPUSIM_QUIESCE_ERRORS,
	GPUSIM_RESUME_ERRORS,
	GPUSIM_COUNTERS,
};

void gpusim_count(enum gpusim_counter counter, u64 n);
ssize_t gpusim_counters_show(char *buf);

/* overtakers.c: who overtook passes, by the same measure. Its lock is taken inside of all others.
 */
void gpusim_pass_begin(struct gpusim_pass *pass);
void gpusim_pass_overtaken(struct gpusim_pass *pass); /* by the current task */
void gpusim_pass_end(struct gpusim_pass *pass, bool thrown);
ssize_t gpusim_overtakers_show(char *buf);
void gpusim_overtakers_reset(void);

#endif
