/* SPDX-License-Identifier: BSD-2-Clause */
#include "points.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The function `fn` of module `mod`, probed by programs called `prog`_<tier>. */
#define FENTRY(prog, fn, mod)                                                     \
	{                                                                         \
		.tier = HCW_TIER_FENTRY, .function = fn, .module = mod, .hook = { \
			{prog "_fentry", fn, false},                              \
		}                                                                 \
	}
#define FENTRY_PAIR(prog, fn, mod, types)                                                      \
	{                                                                                      \
		.tier = HCW_TIER_FENTRY, .function = fn, .module = mod, .module_types = types, \
		.hook = {                                                                      \
			{prog "_fexit", fn, true},                                             \
			{prog "_fentry", fn, false},                                           \
		}                                                                              \
	}
#define KPROBE(prog, fn, mod)                                                     \
	{                                                                         \
		.tier = HCW_TIER_KPROBE, .function = fn, .module = mod, .hook = { \
			{prog "_kprobe", fn, false},                              \
		}                                                                 \
	}
#define KPROBE_PAIR(prog, fn, mod, types)                                                      \
	{                                                                                      \
		.tier = HCW_TIER_KPROBE, .function = fn, .module = mod, .module_types = types, \
		.hook = {                                                                      \
			{prog "_kretprobe", fn, true},                                         \
			{prog "_kprobe", fn, false},                                           \
		}                                                                              \
	}
#define TRACEPOINT(tiername, prog, tp)                                         \
	{                                                                      \
		.tier = tiername, .function = tp, .hook = {{prog, tp, false}}, \
	}
#define TRACEPOINT_PAIR(tiername, suffix, label, end_prog, end_tp, start_prog, start_tp) \
	{                                                                                \
		.tier = tiername, .function = label, .hook = {                           \
			{end_prog suffix, end_tp, false},                                \
			{start_prog suffix, start_tp, false},                            \
		}                                                                        \
	}
#define MARKS(label, end_prog, end_mark, begin_prog, begin_mark)    \
	{                                                           \
		.tier = HCW_TIER_USDT, .function = label, .hook = { \
			{end_prog, end_mark, false},                \
			{begin_prog, begin_mark, false},            \
		}                                                   \
	}

/*
 * int (pid_t, unsigned long nr, const void **pages, const int *nodes, int *status, int flags): 6.1
 * to 7.3. Not do_pages_move(), which is inlined on 6.1 and takes a struct by value from 6.12, and
 * not the system call's tracepoints, which put every thread of the host on the slow path.
 */
static const struct hcw_candidate move_pages[] = {
	FENTRY_PAIR("move_pages", "kernel_move_pages", NULL, false),
	KPROBE_PAIR("move_pages", "kernel_move_pages", NULL, false),
};

/* 6.1 to 7.3. migrate_pages() itself has 7 arguments and cannot be traced by fentry on 6.1. */
static const struct hcw_candidate migrate[] = {
	TRACEPOINT_PAIR(HCW_TIER_TP_BTF, "_tp_btf", "mm_migrate_pages", "migrate_end",
			"mm_migrate_pages", "migrate_start", "mm_migrate_pages_start"),
	TRACEPOINT_PAIR(HCW_TIER_RAW_TP, "_raw_tp", "mm_migrate_pages", "migrate_end",
			"mm_migrate_pages", "migrate_start", "mm_migrate_pages_start"),
};

/* int (struct mmu_notifier_range *): 6.1 to 7.3. */
static const struct hcw_candidate notifier[] = {
	FENTRY("notifier", "__mmu_notifier_invalidate_range_start", NULL),
	KPROBE("notifier", "__mmu_notifier_invalidate_range_start", NULL),
};

/*
 * bool (struct mmu_interval_notifier *, const struct mmu_notifier_range *, unsigned long). amdgpu's
 * has the name amdgpu_mn_invalidate_hsa on 6.1 and amdgpu_hmm_invalidate_hsa from 6.12; that of
 * shared virtual memory is only built with CONFIG_HSA_AMD_SVM. amdgpu's never fire without a GPU;
 * the test GPU has its own.
 */
static const struct hcw_candidate hsa_callback[] = {
	FENTRY_PAIR("hsa_callback_hmm", "amdgpu_hmm_invalidate_hsa", "amdgpu", false),
	KPROBE_PAIR("hsa_callback", "amdgpu_hmm_invalidate_hsa", "amdgpu", false),
	FENTRY_PAIR("hsa_callback_mn", "amdgpu_mn_invalidate_hsa", "amdgpu", false),
	KPROBE_PAIR("hsa_callback", "amdgpu_mn_invalidate_hsa", "amdgpu", false),
	FENTRY_PAIR("hsa_callback_svm", "svm_range_cpu_invalidate_pagetables", "amdgpu", false),
	KPROBE_PAIR("hsa_callback", "svm_range_cpu_invalidate_pagetables", "amdgpu", false),
	FENTRY_PAIR("hsa_callback_gpusim", "gpusim_invalidate_range", "gpusim", false),
	KPROBE_PAIR("hsa_callback", "gpusim_invalidate_range", "gpusim", false),
};

/* int (struct inode *, struct file *): 6.1 to 7.3. */
static const struct hcw_candidate kfd_open[] = {
	FENTRY("kfd_open", "kfd_open", "amdgpu"),
	KPROBE("kfd_open", "kfd_open", "amdgpu"),
};

/* int (struct mm_struct *, uint32_t trigger): 6.1 to 7.3. */
static const struct hcw_candidate quiesce[] = {
	FENTRY_PAIR("quiesce", "kgd2kfd_quiesce_mm", "amdgpu", false),
	KPROBE_PAIR("quiesce", "kgd2kfd_quiesce_mm", "amdgpu", false),
};

/* int (struct mm_struct *): 6.1 to 7.3. */
static const struct hcw_candidate resume[] = {
	FENTRY_PAIR("resume", "kgd2kfd_resume_mm", "amdgpu", false),
	KPROBE_PAIR("resume", "kgd2kfd_resume_mm", "amdgpu", false),
};

/* int (struct kfd_process *, uint32_t trigger): 6.1 to 7.3. */
static const struct hcw_candidate evict[] = {
	FENTRY_PAIR("evict", "kfd_process_evict_queues", "amdgpu", true),
	KPROBE_PAIR("evict", "kfd_process_evict_queues", "amdgpu", true),
};

/* int (struct kfd_process *): 6.1 to 7.3. */
static const struct hcw_candidate restore[] = {
	FENTRY_PAIR("restore", "kfd_process_restore_queues", "amdgpu", true),
	KPROBE_PAIR("restore", "kfd_process_restore_queues", "amdgpu", true),
};

/* void (struct work_struct *): 6.1 to 7.3; svm_range_restore_work only with CONFIG_HSA_AMD_SVM. */
static const struct hcw_candidate restore_pass[] = {
	FENTRY_PAIR("restore_pass_userptr", "amdgpu_amdkfd_restore_userptr_worker", "amdgpu",
		    false),
	KPROBE_PAIR("restore_pass", "amdgpu_amdkfd_restore_userptr_worker", "amdgpu", false),
	FENTRY_PAIR("restore_pass_svm", "svm_range_restore_work", "amdgpu", false),
	KPROBE_PAIR("restore_pass", "svm_range_restore_work", "amdgpu", false),
	FENTRY_PAIR("restore_pass_gpusim", "gpusim_restore_worker", "gpusim", false),
	KPROBE_PAIR("restore_pass", "gpusim_restore_worker", "gpusim", false),
};

/* int (struct hmm_range *): 6.1 to 7.3. */
static const struct hcw_candidate restore_fault[] = {
	FENTRY("restore_fault", "hmm_range_fault", NULL),
	KPROBE("restore_fault", "hmm_range_fault", NULL),
};

static const struct hcw_candidate iteration[] = {
	MARKS("hcwatch:iteration_begin, hcwatch:iteration_end", "iteration_end",
	      "hcwatch:iteration_end", "iteration_begin", "hcwatch:iteration_begin"),
};

static const struct hcw_candidate pool[] = {
	MARKS("hcpool:alloc, hcpool:free", "pool_free", "hcpool:free", "pool_alloc",
	      "hcpool:alloc"),
};

/* unsigned long / long (struct vm_area_struct *, unsigned long, unsigned long): 6.1 to 7.3; no
 * argument is used. */
static const struct hcw_candidate numa_scan[] = {
	FENTRY_PAIR("numa_scan", "change_prot_numa", NULL, false),
	KPROBE_PAIR("numa_scan", "change_prot_numa", NULL, false),
};

/*
 * ssize_t cpuset_write_resmask(struct kernfs_open_file *, char *, size_t, loff_t): cgroups v1 and
 * v2, 6.1 to 7.3. int sysctl_compaction_handler(table, int write, ...) is vm.compact_memory,
 * compact_store(struct device *, ...) that of one node.
 */
static const struct hcw_candidate request[] = {
	FENTRY("request_cpuset", "cpuset_write_resmask", NULL),
	KPROBE("request_cpuset", "cpuset_write_resmask", NULL),
	FENTRY("request_compact", "sysctl_compaction_handler", NULL),
	KPROBE("request_compact", "sysctl_compaction_handler", NULL),
	FENTRY("request_compact_node", "compact_store", NULL),
	KPROBE("request_compact_node", "compact_store", NULL),
};

/* (struct task_struct *parent, struct task_struct *child): 6.1 to 7.3. */
static const struct hcw_candidate task_fork[] = {
	TRACEPOINT(HCW_TIER_TP_BTF, "task_fork_tp_btf", "sched_process_fork"),
	TRACEPOINT(HCW_TIER_RAW_TP, "task_fork_raw_tp", "sched_process_fork"),
};

/* The arguments differ (group_dead since 6.16); none is used. */
static const struct hcw_candidate task_exit[] = {
	TRACEPOINT(HCW_TIER_TP_BTF, "task_exit_tp_btf", "sched_process_exit"),
	TRACEPOINT(HCW_TIER_RAW_TP, "task_exit_raw_tp", "sched_process_exit"),
};

#define POINT(id, label, want_every, type) \
	[id] = {.name = #label,            \
		.every = want_every,       \
		.record = type,            \
		.candidate = label,        \
		.count = COUNT(label)}

static const struct hcw_point_info points[HCW_POINT_COUNT] = {
	POINT(HCW_POINT_MOVE_PAGES, move_pages, false, HCW_R_MOVE_PAGES),
	POINT(HCW_POINT_MIGRATE, migrate, false, HCW_R_MIGRATE),
	POINT(HCW_POINT_NOTIFIER, notifier, false, HCW_R_INVAL),
	POINT(HCW_POINT_HSA_CALLBACK, hsa_callback, true, HCW_R_QUIESCE),
	POINT(HCW_POINT_KFD_OPEN, kfd_open, false, HCW_R_TASK),
	POINT(HCW_POINT_QUIESCE, quiesce, false, HCW_R_QUIESCE),
	POINT(HCW_POINT_RESUME, resume, false, HCW_R_RESUME),
	POINT(HCW_POINT_EVICT, evict, false, HCW_R_EVICT),
	POINT(HCW_POINT_RESTORE, restore, false, HCW_R_RESTORE),
	POINT(HCW_POINT_RESTORE_PASS, restore_pass, true, HCW_R_PASS),
	POINT(HCW_POINT_RESTORE_FAULT, restore_fault, false, HCW_R_PASS),
	POINT(HCW_POINT_ITERATION, iteration, false, HCW_R_ITER_END),
	POINT(HCW_POINT_POOL, pool, false, HCW_R_POOL_ALLOC),
	POINT(HCW_POINT_NUMA_SCAN, numa_scan, false, HCW_R_INVAL),
	POINT(HCW_POINT_REQUEST, request, true, HCW_R_REQUEST),
	POINT(HCW_POINT_TASK_FORK, task_fork, false, HCW_R_TASK),
	POINT(HCW_POINT_TASK_EXIT, task_exit, false, HCW_R_TASK_EXIT),
};

const struct hcw_point_info *hcw_point_info(enum hcw_point p)
{
	return &points[p];
}

size_t hcw_candidate_total(void)
{
	size_t total = 0;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		total += points[p].count;
	return total;
}
