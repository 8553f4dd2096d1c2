// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The doors into amdgpu's KFD. amdgpu exports no symbol, so the addresses come from kallsyms, and
 * the module is pinned by hand for as long as they are used.
 */
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/kernfs.h>
#include <linux/kobject.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "gpusim.h"

/*
 * 7.3's KFD counts its GPUs whenever a process opens /dev/kfd, and refuses with EINVAL when there
 * is none; up to 6.18 it does not ask, and has no such function (kernels between the two: not
 * looked at). Ours are none of its own, so while this module is loaded it is told their number.
 */
#define GATE "kfd_gpu_node_num"

#define TRIGGER_USERPTR \
	1 /* KFD_QUEUE_EVICTION_TRIGGER_USERPTR, include/uapi/linux/kfd_ioctl.h, 6.1-7.3 */

static struct {
	int (*quiesce_mm)(struct mm_struct *mm, u32 trigger); /* same signature 6.1-7.3 */
	int (*resume_mm)(struct mm_struct *mm);
	struct device **device; /* kfd_chardev.c; its folder is /sys/class/kfd/kfd */
	struct module *module;
	struct kprobe gate;
	bool gate_open;
} kfd;

typedef unsigned long (*lookup_fn)(const char *name);

/* kallsyms_lookup_name() is not exported since 5.7; a kprobe on it still tells its address. */
static lookup_fn find_lookup(void)
{
	struct kprobe probe = {.symbol_name = "kallsyms_lookup_name"};
	lookup_fn lookup;

	if (register_kprobe(&probe))
		return NULL;
	lookup = (lookup_fn)probe.addr;
	unregister_kprobe(&probe);
	return lookup;
}

static struct module *pin_module_of(lookup_fn lookup, unsigned long addr)
{
	struct module *(*module_address)(unsigned long addr);
	struct module *module;

	module_address = (void *)lookup("__module_address");
	if (!module_address)
		return NULL;
	preempt_disable(); /* keeps the module from going away between the two */
	module = module_address(addr);
	if (module && !try_module_get(module))
		module = NULL;
	preempt_enable();
	return module;
}

static unsigned int gate_count(void)
{
	return GPUSIM_GPUS;
}

/* Goes on in gate_count() in place of the probed function, which has not yet touched its stack. */
static int gate_enter(struct kprobe *probe, struct pt_regs *regs)
{
	instruction_pointer_set(regs, (unsigned long)gate_count);
	return 1;
}
NOKPROBE_SYMBOL(gate_enter);

static int open_gate(lookup_fn lookup)
{
	int ret;

	if (!lookup("amdgpu:" GATE))
		return 0;
	kfd.gate = (struct kprobe){.symbol_name = GATE, .pre_handler = gate_enter};
	ret = register_kprobe(&kfd.gate);
	if (ret) {
		pr_err("gpusim: no probe on " GATE " (%d): /dev/kfd stays closed\n", ret);
		return ret;
	}
	kfd.gate_open = true;
	return 0;
}

int gpusim_kfd_find(void)
{
	lookup_fn lookup = find_lookup();
	int ret;

	if (!lookup)
		return -EOPNOTSUPP;
	kfd.quiesce_mm = (void *)lookup("amdgpu:kgd2kfd_quiesce_mm");
	kfd.resume_mm = (void *)lookup("amdgpu:kgd2kfd_resume_mm");
	kfd.device = (void *)lookup("amdgpu:kfd_device");
	if (!kfd.quiesce_mm || !kfd.resume_mm || !kfd.device) {
		pr_err("gpusim: KFD not found: load an amdgpu with CONFIG_HSA_AMD first\n");
		return -ENOENT;
	}
	kfd.module = pin_module_of(lookup, (unsigned long)kfd.quiesce_mm);
	if (!kfd.module)
		return -ENOENT;
	ret = open_gate(lookup);
	if (ret)
		module_put(kfd.module);
	return ret;
}

void gpusim_kfd_forget(void)
{
	if (kfd.gate_open)
		unregister_kprobe(&kfd.gate);
	module_put(kfd.module);
}

int gpusim_kfd_quiesce(struct mm_struct *mm)
{
	return kfd.quiesce_mm(mm, TRIGGER_USERPTR);
}

int gpusim_kfd_resume(struct mm_struct *mm)
{
	return kfd.resume_mm(mm);
}

/* /sys/class/kfd/kfd/proc/<pid>/stats_<gpuid>, which KFD makes for GPUs it knows, and it knows none
 * of ours */
struct gpusim_stats {
	struct kobject kobj;
	struct gpusim_process *process; /* valid until kobject_del() returns */
};

static ssize_t evicted_ms_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gpusim_stats *stats = container_of(kobj, struct gpusim_stats, kobj);
	u64 spent;

	mutex_lock(&stats->process->lock);
	spent = stats->process->evicted_jiffies;
	mutex_unlock(&stats->process->lock);
	return sysfs_emit(buf, "%llu\n", jiffies64_to_msecs(spent));
}

static struct kobj_attribute evicted_ms_attr = __ATTR_RO(evicted_ms);

static struct attribute *stats_attrs[] = {
	&evicted_ms_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(stats);

static void stats_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct gpusim_stats, kobj));
}

static struct kobj_type stats_type = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = stats_release,
	.default_groups = stats_groups,
};

static struct gpusim_stats *stats_create(struct gpusim_process *process, struct kobject *parent,
					 unsigned int gpu_id)
{
	struct gpusim_stats *stats = kzalloc(sizeof(*stats), GFP_KERNEL);

	if (!stats)
		return NULL;
	stats->process = process;
	if (kobject_init_and_add(&stats->kobj, &stats_type, parent, "stats_%u", gpu_id)) {
		kobject_put(&stats->kobj);
		return NULL;
	}
	return stats;
}

void gpusim_kfd_stats_add(struct gpusim_process *process)
{
	struct kernfs_node *proc, *own = NULL;
	char name[12];
	int i;

	if (!READ_ONCE(*kfd.device))
		return;
	proc = kernfs_find_and_get((*kfd.device)->kobj.sd, "proc");
	if (!proc)
		return;
	snprintf(name, sizeof(name), "%d", process->tgid);
	own = kernfs_find_and_get(proc, name);
	/*
	 * The private pointer of a sysfs folder is its kobject. KFD drops this one when the address
	 * space dies, and the caller is running in it.
	 */
	for (i = 0; own && i < GPUSIM_GPUS; i++)
		if (!process->stats[i])
			process->stats[i] =
				stats_create(process, own->priv, gpusim_params.gpu_ids[i]);
	kernfs_put(own);
	kernfs_put(proc);
}

void gpusim_kfd_stats_remove(struct gpusim_process *process)
{
	int i;

	for (i = 0; i < GPUSIM_GPUS; i++) {
		if (!process->stats[i])
			continue;
		kobject_del(&process->stats[i]->kobj);
		kobject_put(&process->stats[i]->kobj);
		process->stats[i] = NULL;
	}
}
