/* SPDX-License-Identifier: BSD-2-Clause */
#include "points.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The function `fn` of module `mod`, probed by programs called `prog`_<tier>, which read what
 * `proto` says. */
#define FENTRY(prog, fn, mod, proto)                                                        \
	{                                                                                   \
		.tier = HCW_TIER_FENTRY, .function = fn, .module = mod, .prototype = proto, \
		.hook = {                                                                   \
			{prog "_fentry", fn, false},                                        \
		}                                                                           \
	}
#define FENTRY_PAIR(prog, fn, mod, types, proto)                                               \
	{                                                                                      \
		.tier = HCW_TIER_FENTRY, .function = fn, .module = mod, .module_types = types, \
		.prototype = proto, .hook = {                                                  \
			{prog "_fexit", fn, true},                                             \
			{prog "_fentry", fn, false},                                           \
		}                                                                              \
	}
#define KPROBE(prog, fn, mod, proto)                                                        \
	{                                                                                   \
		.tier = HCW_TIER_KPROBE, .function = fn, .module = mod, .prototype = proto, \
		.hook = {                                                                   \
			{prog "_kprobe", fn, false},                                        \
		}                                                                           \
	}
#define KPROBE_PAIR(prog, fn, mod, types, proto)                                               \
	{                                                                                      \
		.tier = HCW_TIER_KPROBE, .function = fn, .module = mod, .module_types = types, \
		.prototype = proto, .hook = {                                                  \
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
static const struct hcw_prototype move_pages_proto = {
	.params = 6,
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_INT, 0, 4, NULL},
			{HCW_ARG_INT, 1, 8, NULL},
			{HCW_ARG_POINTER, 2, 0, NULL},
			{HCW_ARG_POINTER, 3, 0, NULL},
			{HCW_ARG_POINTER, 4, 0, NULL},
			{0},
		},
};

static const struct hcw_candidate move_pages[] = {
	FENTRY_PAIR("move_pages", "kernel_move_pages", NULL, false, &move_pages_proto),
	KPROBE_PAIR("move_pages", "kernel_move_pages", NULL, false, &move_pages_proto),
};

/* 6.1 to 7.3. migrate_pages() itself has 7 arguments and cannot be traced by fentry on 6.1. */
static const struct hcw_candidate migrate[] = {
	TRACEPOINT_PAIR(HCW_TIER_TP_BTF, "_tp_btf", "mm_migrate_pages", "migrate_end",
			"mm_migrate_pages", "migrate_start", "mm_migrate_pages_start"),
	TRACEPOINT_PAIR(HCW_TIER_RAW_TP, "_raw_tp", "mm_migrate_pages", "migrate_end",
			"mm_migrate_pages", "migrate_start", "mm_migrate_pages_start"),
};

/* int (struct mmu_notifier_range *): 6.1 to 7.3. */
static const struct hcw_prototype notifier_proto = {
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "mmu_notifier_range"},
			{0},
		},
};

static const struct hcw_candidate notifier[] = {
	FENTRY("notifier", "__mmu_notifier_invalidate_range_start", NULL, &notifier_proto),
	KPROBE("notifier", "__mmu_notifier_invalidate_range_start", NULL, &notifier_proto),
};

/*
 * bool (struct mmu_interval_notifier *, const struct mmu_notifier_range *, unsigned long). amdgpu's
 * has the name amdgpu_mn_invalidate_hsa on 6.1 and amdgpu_hmm_invalidate_hsa from 6.12; that of
 * shared virtual memory is only built with CONFIG_HSA_AMD_SVM. amdgpu's never fire without a GPU;
 * the test GPU has its own.
 */
static const struct hcw_prototype hsa_callback_proto = {
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "mmu_interval_notifier"},
			{HCW_ARG_STRUCT, 1, 0, "mmu_notifier_range"},
			{0},
		},
};

static const struct hcw_candidate hsa_callback[] = {
	FENTRY_PAIR("hsa_callback_hmm", "amdgpu_hmm_invalidate_hsa", "amdgpu", false,
		    &hsa_callback_proto),
	KPROBE_PAIR("hsa_callback", "amdgpu_hmm_invalidate_hsa", "amdgpu", false,
		    &hsa_callback_proto),
	FENTRY_PAIR("hsa_callback_mn", "amdgpu_mn_invalidate_hsa", "amdgpu", false,
		    &hsa_callback_proto),
	KPROBE_PAIR("hsa_callback", "amdgpu_mn_invalidate_hsa", "amdgpu", false,
		    &hsa_callback_proto),
	FENTRY_PAIR("hsa_callback_svm", "svm_range_cpu_invalidate_pagetables", "amdgpu", false,
		    &hsa_callback_proto),
	KPROBE_PAIR("hsa_callback", "svm_range_cpu_invalidate_pagetables", "amdgpu", false,
		    &hsa_callback_proto),
	FENTRY_PAIR("hsa_callback_gpusim", "gpusim_invalidate_range", "gpusim", false,
		    &hsa_callback_proto),
	KPROBE_PAIR("hsa_callback", "gpusim_invalidate_range", "gpusim", false,
		    &hsa_callback_proto),
};

/* int (struct inode *, struct file *): 6.1 to 7.3. */
static const struct hcw_candidate kfd_open[] = {
	FENTRY("kfd_open", "kfd_open", "amdgpu", NULL),
	KPROBE("kfd_open", "kfd_open", "amdgpu", NULL),
};

/* int (struct mm_struct *, uint32_t trigger): 6.1 to 7.3. */
static const struct hcw_prototype quiesce_proto = {
	.params = 2,
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "mm_struct"},
			{HCW_ARG_INT, 1, 4, NULL},
			{0},
		},
};

static const struct hcw_candidate quiesce[] = {
	FENTRY_PAIR("quiesce", "kgd2kfd_quiesce_mm", "amdgpu", false, &quiesce_proto),
	KPROBE_PAIR("quiesce", "kgd2kfd_quiesce_mm", "amdgpu", false, &quiesce_proto),
};

/* int (struct mm_struct *): 6.1 to 7.3. */
static const struct hcw_prototype resume_proto = {
	.params = 1,
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "mm_struct"},
			{0},
		},
};

static const struct hcw_candidate resume[] = {
	FENTRY_PAIR("resume", "kgd2kfd_resume_mm", "amdgpu", false, &resume_proto),
	KPROBE_PAIR("resume", "kgd2kfd_resume_mm", "amdgpu", false, &resume_proto),
};

/* int (struct kfd_process *, uint32_t trigger): 6.1 to 7.3. */
static const struct hcw_prototype evict_proto = {
	.params = 2,
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "kfd_process"},
			{HCW_ARG_INT, 1, 4, NULL},
			{0},
		},
};

static const struct hcw_candidate evict[] = {
	FENTRY_PAIR("evict", "kfd_process_evict_queues", "amdgpu", true, &evict_proto),
	KPROBE_PAIR("evict", "kfd_process_evict_queues", "amdgpu", true, &evict_proto),
};

/* int (struct kfd_process *): 6.1 to 7.3. */
static const struct hcw_prototype restore_proto = {
	.params = 1,
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "kfd_process"},
			{0},
		},
};

static const struct hcw_candidate restore[] = {
	FENTRY_PAIR("restore", "kfd_process_restore_queues", "amdgpu", true, &restore_proto),
	KPROBE_PAIR("restore", "kfd_process_restore_queues", "amdgpu", true, &restore_proto),
};

/* void (struct work_struct *): 6.1 to 7.3; svm_range_restore_work only with CONFIG_HSA_AMD_SVM. */
static const struct hcw_prototype restore_pass_proto = {
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "work_struct"},
			{0},
		},
};

static const struct hcw_candidate restore_pass[] = {
	FENTRY_PAIR("restore_pass_userptr", "amdgpu_amdkfd_restore_userptr_worker", "amdgpu", false,
		    &restore_pass_proto),
	KPROBE_PAIR("restore_pass", "amdgpu_amdkfd_restore_userptr_worker", "amdgpu", false,
		    &restore_pass_proto),
	FENTRY_PAIR("restore_pass_svm", "svm_range_restore_work", "amdgpu", false,
		    &restore_pass_proto),
	KPROBE_PAIR("restore_pass", "svm_range_restore_work", "amdgpu", false, &restore_pass_proto),
	FENTRY_PAIR("restore_pass_gpusim", "gpusim_restore_worker", "gpusim", false,
		    &restore_pass_proto),
	KPROBE_PAIR("restore_pass", "gpusim_restore_worker", "gpusim", false, &restore_pass_proto),
};

/* int (struct hmm_range *): 6.1 to 7.3. */
static const struct hcw_prototype restore_fault_proto = {
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "hmm_range"},
			{0},
		},
};

static const struct hcw_candidate restore_fault[] = {
	FENTRY("restore_fault", "hmm_range_fault", NULL, &restore_fault_proto),
	KPROBE("restore_fault", "hmm_range_fault", NULL, &restore_fault_proto),
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
	FENTRY_PAIR("numa_scan", "change_prot_numa", NULL, false, NULL),
	KPROBE_PAIR("numa_scan", "change_prot_numa", NULL, false, NULL),
};

/*
 * ssize_t cpuset_write_resmask(struct kernfs_open_file *, char *, size_t, loff_t): cgroups v1 and
 * v2, 6.1 to 7.3. int sysctl_compaction_handler(table, int write, ...) is vm.compact_memory,
 * compact_store(struct device *, ...) that of one node.
 */
static const struct hcw_prototype request_cpuset_proto = {
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_STRUCT, 0, 0, "kernfs_open_file"},
			{0},
		},
};

static const struct hcw_prototype request_compact_proto = {
	.arg =
		(const struct hcw_arg[]){
			{HCW_ARG_INT, 1, 4, NULL},
			{0},
		},
};

static const struct hcw_candidate request[] = {
	FENTRY("request_cpuset", "cpuset_write_resmask", NULL, &request_cpuset_proto),
	KPROBE("request_cpuset", "cpuset_write_resmask", NULL, &request_cpuset_proto),
	FENTRY("request_compact", "sysctl_compaction_handler", NULL, &request_compact_proto),
	KPROBE("request_compact", "sysctl_compaction_handler", NULL, &request_compact_proto),
	FENTRY("request_compact_node", "compact_store", NULL, NULL),
	KPROBE("request_compact_node", "compact_store", NULL, NULL),
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

const char *hcw_module_name(size_t index)
{
	static const char *const names[HCW_MODULES] = {"amdgpu", "gpusim"};

	return index < HCW_MODULES ? names[index] : NULL;
}

size_t hcw_candidate_total(void)
{
	size_t total = 0;
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		total += points[p].count;
	return total;
}
