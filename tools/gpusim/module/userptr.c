// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * User memory under a GPU: amdgpu_amdkfd_gpuvm.c's evict_userptr and restore_userptr_worker. An
 * invalidation stops all queues; a worker makes every invalid range valid again as a whole and lets
 * them run, unless another invalidation came in between: then the pass is thrown away and the next
 * begins.
 */
#include <linux/delay.h>
#include <linux/hmm.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "gpusim.h"

#define RESTORE_DELAY_MS 1		/* AMDGPU_USERPTR_RESTORE_DELAY_MS */
#define MAX_WALK_BYTES	 (2ULL * SZ_1G) /* MAX_WALK_BYTE, amdgpu_hmm.c, 6.12 */
#define MAX_SLEEP_NS	 (10 * NSEC_PER_MSEC)

struct user_range {
	struct list_head node; /* under process->ranges_lock */
	struct mmu_interval_notifier mni;
	struct gpusim_process *process;
	unsigned int invalid; /* invalidations since it was last valid; under process->lock */
};

static unsigned long range_start(const struct user_range *range)
{
	return range->mni.interval_tree.start;
}

static unsigned long range_end(const struct user_range *range)
{
	return range->mni.interval_tree.last + 1;
}

static void queue_restore(struct gpusim_process *process)
{
	queue_delayed_work(system_freezable_wq, &process->restore,
			   msecs_to_jiffies(RESTORE_DELAY_MS));
}

static void evict(struct gpusim_process *process)
{
	lockdep_assert_held(&process->lock);
	process->evict_ns = ktime_get_ns();
	gpusim_count(GPUSIM_EVICTIONS, 1);
	if (gpusim_kfd_quiesce(process->mm))
		gpusim_count(GPUSIM_QUIESCE_ERRORS, 1);
	wake_up_all(&process->wait);
	queue_restore(process);
}

void gpusim_resume(struct gpusim_process *process)
{
	u64 evicted_ns;

	lockdep_assert_held(&process->lock);
	if (gpusim_kfd_resume(process->mm))
		gpusim_count(GPUSIM_RESUME_ERRORS, 1);
	/* KFD adds at the end of restore_process_queues_*() */
	evicted_ns = ktime_get_ns() - process->evict_ns;
	process->evicted_ns += evicted_ns;
	/*
	 * KFD subtracts two readings of jiffies, so it is up to a jiffy off. Under an emulator
	 * ticks come late by more than that, which is no property of KFD: whole jiffies of the true
	 * time.
	 */
	process->evicted_jiffies += nsecs_to_jiffies64(evicted_ns + TICK_NSEC / 2);
	gpusim_count(GPUSIM_EVICTED_NS, evicted_ns);
	WRITE_ONCE(process->evicted, 0);
	wake_up_all(&process->wait);
}

/* hcwatch probes this name: it must stay one function of its own. */
static noinline __noclone bool gpusim_invalidate_range(struct mmu_interval_notifier *mni,
						       const struct mmu_notifier_range *range,
						       unsigned long seq)
{
	struct user_range *hit = container_of(mni, struct user_range, mni);
	struct gpusim_process *process = hit->process;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&process->lock);
	mmu_interval_set_seq(mni, seq);
	if (range->event == MMU_NOTIFY_RELEASE)
		process->closing = true;
	if (!process->closing) {
		gpusim_count(GPUSIM_INVALIDATIONS, 1);
		gpusim_pass_overtaken(&process->pass);
		hit->invalid++;
		if (READ_ONCE(gpusim_params.evict)) {
			WRITE_ONCE(process->evicted, process->evicted + 1);
			if (process->evicted == 1)
				evict(process);
		}
	}
	mutex_unlock(&process->lock);
	return true;
}

static const struct mmu_interval_notifier_ops user_range_ops = {
	.invalidate = gpusim_invalidate_range,
};

static int refault_chunk(struct user_range *range, struct hmm_range *walk)
{
	struct mm_struct *mm = range->process->mm;
	unsigned long ms, timeout;
	int ret;

	/* amdgpu_hmm_range_get_pages(): one default timeout for each 128 KiB begun */
	ms = HMM_RANGE_DEFAULT_TIMEOUT * max((walk->end - walk->start) >> 17, 1UL);
	timeout = jiffies + msecs_to_jiffies(ms);
	do {
		if (fatal_signal_pending(current) || READ_ONCE(range->process->closing))
			return -ECANCELED;
		walk->notifier_seq = mmu_interval_read_begin(&range->mni);
		mmap_read_lock(mm);
		ret = hmm_range_fault(walk);
		mmap_read_unlock(mm);
	} while (ret == -EBUSY && time_before(jiffies, timeout));
	return ret;
}

static int refault(struct user_range *range)
{
	unsigned long end = range_end(range),
		      step = min_t(u64, end - range_start(range), MAX_WALK_BYTES);
	struct hmm_range walk = {
		.notifier = &range->mni,
		.default_flags = HMM_PFN_REQ_FAULT | HMM_PFN_REQ_WRITE,
	};
	int ret = 0;

	/* The test GPU has no page table, so each chunk may overwrite the answers of the one
	 * before. */
	walk.hmm_pfns = kvmalloc_array(step >> PAGE_SHIFT, sizeof(*walk.hmm_pfns), GFP_KERNEL);
	if (!walk.hmm_pfns)
		return -ENOMEM;
	for (walk.start = range_start(range); !ret && walk.start < end; walk.start = walk.end) {
		walk.end = min(walk.start + step, end);
		ret = refault_chunk(range, &walk);
	}
	kvfree(walk.hmm_pfns);
	return ret;
}

/* True when nobody will use the queues again: the last file is going, or the worker alone keeps the
 * mm. */
static bool pass_is_pointless(struct gpusim_process *process)
{
	return READ_ONCE(process->closing) || atomic_read(&process->mm->mm_users) == 1;
}

/* What DMA mapping and the GPU's page tables cost amdgpu for each page. */
static int spend_page_cost(struct gpusim_process *process, unsigned long npages)
{
	u64 now = ktime_get_ns(), end = now + (u64)READ_ONCE(gpusim_params.page_cost_ns) * npages;

	for (; now < end; now = ktime_get_ns()) {
		unsigned long us =
			max_t(u64, min_t(u64, end - now, MAX_SLEEP_NS) / NSEC_PER_USEC, 1);

		if (pass_is_pointless(process))
			return -ECANCELED;
		usleep_range(us, us + 20);
	}
	return 0;
}

static int restore_range(struct user_range *range)
{
	struct gpusim_process *process = range->process;
	unsigned long npages = (range_end(range) - range_start(range)) >> PAGE_SHIFT;
	unsigned int seen;
	int ret;

	mutex_lock(&process->lock);
	seen = range->invalid;
	mutex_unlock(&process->lock);
	if (!seen)
		return 0;
	ret = refault(range);
	/* Unmapped without being unregistered: amdgpu lets the queues run and the GPU fault. */
	if (ret && ret != -EFAULT)
		return ret;
	gpusim_count(GPUSIM_RESTORE_PAGES, npages);
	ret = spend_page_cost(process, npages);
	if (ret)
		return ret;
	mutex_lock(&process->lock);
	if (range->invalid == seen)
		range->invalid = 0;
	else
		ret = -EAGAIN;
	mutex_unlock(&process->lock);
	return ret;
}

static int restore_ranges(struct gpusim_process *process)
{
	struct user_range *range = NULL;
	int ret = 0;

	mutex_lock(&process->ranges_lock);
	list_for_each_entry (range, &process->ranges, node) {
		ret = restore_range(range);
		if (ret)
			break;
	}
	mutex_unlock(&process->ranges_lock);
	return ret;
}

static void finish_pass(struct gpusim_process *process, unsigned int seen, int ret)
{
	bool thrown;

	mutex_lock(&process->lock);
	thrown = ret || process->evicted != seen;
	gpusim_pass_end(&process->pass, thrown);
	if (!thrown) {
		gpusim_resume(process);
	} else {
		gpusim_count(GPUSIM_PASSES_THROWN, 1);
		if (ret != -ECANCELED && !process->closing)
			queue_restore(process);
	}
	mutex_unlock(&process->lock);
}

/* hcwatch probes this name: one call is one pass. */
noinline __noclone void gpusim_restore_worker(struct work_struct *work)
{
	struct gpusim_process *process =
		container_of(to_delayed_work(work), struct gpusim_process, restore);
	struct mm_struct *mm = process->mm;
	unsigned int seen;

	if (!mmget_not_zero(mm))
		return; /* killed while evicted: nobody waits any more */
	mutex_lock(&process->lock);
	seen = process->evicted;
	if (seen) {
		process->passes++;
		gpusim_pass_begin(&process->pass);
		gpusim_count(GPUSIM_PASSES, 1);
	}
	mutex_unlock(&process->lock);
	if (seen)
		finish_pass(process, seen, restore_ranges(process));
	/*
	 * The last put unmaps everything; the files it drops are released by another worker, which
	 * waits for this one.
	 */
	mmput(mm);
}

static struct user_range *range_find(struct gpusim_process *process, u64 addr, u64 len)
{
	struct user_range *range;

	list_for_each_entry (range, &process->ranges, node)
		if (range_start(range) == addr && (!len || range_end(range) - addr == len))
			return range;
	return NULL;
}

static void range_remove(struct user_range *range)
{
	mmu_interval_notifier_remove(&range->mni);
	kfree(range);
}

/* The order of amdgpu's init_user_pages(): notifier first, so nothing that changes from here on is
 * missed. */
static int range_add(struct gpusim_process *process, u64 addr, u64 len)
{
	struct user_range *range = kzalloc(sizeof(*range), GFP_KERNEL);
	int ret;

	if (!range)
		return -ENOMEM;
	range->process = process;
	ret = mmu_interval_notifier_insert(&range->mni, process->mm, addr, len, &user_range_ops);
	if (ret) {
		kfree(range);
		return ret;
	}
	ret = refault(range);
	if (ret) {
		range_remove(range);
		return ret == -ECANCELED ? -EINTR : ret;
	}
	list_add_tail(&range->node, &process->ranges);
	return 0;
}

int gpusim_range_register(struct gpusim_process *process, u64 addr, u64 len)
{
	int ret;

	if (!len || !PAGE_ALIGNED(addr) || !PAGE_ALIGNED(len) || addr + len < addr ||
	    addr + len > TASK_SIZE)
		return -EINVAL;
	if (mutex_lock_killable(&process->ranges_lock))
		return -EINTR;
	ret = range_find(process, addr, 0) ? -EEXIST : range_add(process, addr, len);
	mutex_unlock(&process->ranges_lock);
	return ret;
}

int gpusim_range_unregister(struct gpusim_process *process, u64 addr, u64 len)
{
	struct user_range *range;

	if (mutex_lock_killable(&process->ranges_lock))
		return -EINTR;
	range = range_find(process, addr, len);
	if (range) {
		list_del(&range->node);
		range_remove(range);
	}
	mutex_unlock(&process->ranges_lock);
	return range ? 0 : -ENOENT;
}

void gpusim_ranges_remove_all(struct gpusim_process *process)
{
	struct user_range *range;

	mutex_lock(&process->ranges_lock);
	while ((range = list_first_entry_or_null(&process->ranges, struct user_range, node))) {
		list_del(&range->node);
		range_remove(range);
	}
	mutex_unlock(&process->ranges_lock);
}
