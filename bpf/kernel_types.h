/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel types the programs read, by hand. Only the fields used are declared; CO-RE finds
 * their offsets in the running kernel, so nothing here depends on the machine that builds it.
 */
#ifndef HCW_KERNEL_TYPES_H
#define HCW_KERNEL_TYPES_H

#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include "hcwatch_abi.h"

#define HCW_CORE __attribute__((preserve_access_index))

struct mm_struct;
struct work_struct;
struct inode;
struct file;

/* include/linux/types.h */
typedef struct {
	int counter;
} HCW_CORE atomic_t;

/* include/linux/sched/signal.h */
struct signal_struct {
	atomic_t live; /* threads that have not begun to exit */
} HCW_CORE;

/* include/linux/ns_common.h; the number that /proc/<pid>/ns/ shows */
struct ns_common {
	unsigned int inum;
} HCW_CORE;

/* include/linux/pid_namespace.h */
struct pid_namespace {
	struct ns_common ns;
} HCW_CORE;

/* include/linux/pid.h; `numbers` has level + 1 entries, of the initial namespace first */
struct upid {
	int nr;
	struct pid_namespace *ns;
} HCW_CORE;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} HCW_CORE;

/* include/linux/sched.h */
struct task_struct {
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_boottime; /* since 5.5 */
	struct mm_struct *mm;
	struct signal_struct *signal;
	char comm[HCW_COMM_LEN];
} HCW_CORE;

/* include/linux/mm_types.h; owner only with CONFIG_MEMCG, see compat.bpf.h */
struct mm_struct {
	struct task_struct *owner;
} HCW_CORE;

/* include/linux/mmu_notifier.h; an enum and not an integer, or CO-RE finds no matching field */
enum mmu_notifier_event {
	MMU_NOTIFY_UNMAP = 0,
};

struct mmu_notifier_range {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
	enum mmu_notifier_event event;
} HCW_CORE;

/* include/linux/cgroup-defs.h; `name` is that of the control file without the controller's prefix
 */
struct cftype {
	char name[64];
} HCW_CORE;

/* include/linux/kernfs.h; `priv` of a control file is its cftype */
struct kernfs_node {
	void *priv;
} HCW_CORE;

struct kernfs_open_file {
	struct kernfs_node *kn;
} HCW_CORE;

/* include/linux/interval_tree.h */
struct interval_tree_node {
	unsigned long start;
	unsigned long last;
} HCW_CORE;

/* include/linux/mmu_notifier.h */
struct mmu_interval_notifier {
	struct interval_tree_node interval_tree;
	struct mm_struct *mm;
} HCW_CORE;

/* include/linux/hmm.h */
struct hmm_range {
	struct mmu_interval_notifier *notifier;
} HCW_CORE;

#endif
