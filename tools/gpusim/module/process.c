// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Process objects: one per address space, as KFD's, whichever render node it opens and how often.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "gpusim.h"

static LIST_HEAD(processes);
static DEFINE_MUTEX(processes_lock);

static struct gpusim_process *process_find(const struct mm_struct *mm)
{
	struct gpusim_process *process;

	list_for_each_entry (process, &processes, node)
		if (process->mm == mm)
			return process;
	return NULL;
}

static struct gpusim_process *process_create(void)
{
	struct gpusim_process *process = kzalloc(sizeof(*process), GFP_KERNEL);

	if (!process)
		return NULL;
	process->mm = current->mm;
	mmgrab(process->mm); /* also keeps the address from being another process' mm while we are
				keyed by it */
	process->tgid = current->tgid;
	mutex_init(&process->ranges_lock);
	INIT_LIST_HEAD(&process->ranges);
	INIT_DELAYED_WORK(&process->restore, gpusim_restore_worker);
	init_waitqueue_head(&process->wait);
	mutex_init(&process->lock);
	list_add(&process->node, &processes);
	return process;
}

/*
 * Gives KFD its queues back when they are evicted and the address space lives on. If it does not,
 * KFD's process is gone as well, and like KFD nothing is booked.
 */
static void process_settle(struct gpusim_process *process)
{
	bool alive = mmget_not_zero(process->mm);

	mutex_lock(&process->lock);
	if (process->evicted) {
		gpusim_count(GPUSIM_ABANDONED, 1);
		if (alive)
			gpusim_resume(process);
	}
	mutex_unlock(&process->lock);
	if (alive)
		mmput(process->mm);
}

static void process_destroy(struct gpusim_process *process)
{
	mutex_lock(&process->lock);
	process->closing = true;
	mutex_unlock(&process->lock);
	cancel_delayed_work_sync(&process->restore);
	gpusim_ranges_remove_all(process);
	process_settle(process);
	gpusim_kfd_stats_remove(process);
	mmdrop(process->mm);
	kfree(process);
}

struct gpusim_process *gpusim_process_get(void)
{
	struct gpusim_process *process;

	if (!current->mm)
		return ERR_PTR(-EINVAL);
	if (mutex_lock_killable(&processes_lock))
		return ERR_PTR(-EINTR);
	process = process_find(current->mm);
	if (!process)
		process = process_create();
	if (process) {
		process->files++;
		gpusim_kfd_stats_add(process);
	}
	mutex_unlock(&processes_lock);
	return process ?: ERR_PTR(-ENOMEM);
}

void gpusim_process_add_stats(struct gpusim_process *process)
{
	mutex_lock(&processes_lock);
	gpusim_kfd_stats_add(process);
	mutex_unlock(&processes_lock);
}

void gpusim_process_put(struct gpusim_process *process)
{
	mutex_lock(&processes_lock);
	if (--process->files == 0) {
		list_del(&process->node);
		/* under the lock: a new object of the same process needs the names of this one's
		 * stats folders */
		process_destroy(process);
	}
	mutex_unlock(&processes_lock);
}

/* Time evicted until now, the eviction under way included. Also says whether the queues run. */
static u64 process_evicted_ns(struct gpusim_process *process, u64 *now, bool *running)
{
	u64 evicted_ns;

	mutex_lock(&process->lock);
	*now = ktime_get_ns();
	*running = !process->evicted;
	evicted_ns = process->evicted_ns;
	if (process->evicted)
		evicted_ns += *now - process->evict_ns;
	mutex_unlock(&process->lock);
	return evicted_ns;
}

/*
 * Work done is time gone by less time evicted. Counting that way loses no eviction, however short,
 * and whenever this thread gets to run.
 */
int gpusim_process_submit(struct gpusim_process *process, u64 *work_ns, u64 *waited_ns)
{
	u64 start, now, evicted_before, done = 0;
	bool running;
	long ret = 0;

	evicted_before = process_evicted_ns(process, &start, &running);
	*waited_ns = 0;
	while (*work_ns ? done < *work_ns : !running) {
		if (!running)
			ret = wait_event_interruptible(process->wait, !READ_ONCE(process->evicted));
		else
			ret = wait_event_interruptible_hrtimeout(process->wait,
								 READ_ONCE(process->evicted),
								 ns_to_ktime(*work_ns - done));
		*waited_ns = process_evicted_ns(process, &now, &running) - evicted_before;
		done = now - start - *waited_ns;
		if (ret == -ERESTARTSYS)
			break;
	}
	*work_ns -= min(done, *work_ns);
	/* A restart would begin with the whole work again; the caller has the rest and may go on
	 * with it. */
	return ret == -ERESTARTSYS ? -EINTR : 0;
}
