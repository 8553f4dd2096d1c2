/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences between kernels in fields and helpers: one named function each, with the versions it
 * bridges. */
#ifndef HCW_COMPAT_BPF_H
#define HCW_COMPAT_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/*
 * mm_struct.owner exists only with CONFIG_MEMCG (every distribution kernel from 6.1 to 7.3 has it).
 * It is NULL once the process is exiting. NULL also without the field, unless the mm is the
 * caller's own.
 */
static __always_inline struct task_struct *compat_mm_owner(struct mm_struct *mm)
{
	struct task_struct *task;

	if (bpf_core_field_exists(mm->owner))
		return BPF_CORE_READ(mm, owner);
	task = (struct task_struct *)bpf_get_current_task();
	return BPF_CORE_READ(task, mm) == mm ? task : NULL;
}

/* bpf_loop() came with 5.17. Without it the status array is not read, and the record says so (read
 * = 0). */
static __always_inline bool compat_has_loop(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop);
}

/*
 * mm_migrate_pages has 7 arguments on 6.1 and 8 from 6.12 (a split counter before mode and reason),
 * so mode and reason are taken from mm_migrate_pages_start(mode, reason), the same on 6.1 to 7.3.
 * The first two arguments, pages moved and failed, have not changed.
 */
struct compat_migrate_end {
	__u64 ok;
	__u64 failed;
};

static __always_inline struct compat_migrate_end compat_migrate_end(const __u64 *args)
{
	return (struct compat_migrate_end){.ok = args[0], .failed = args[1]};
}

#endif
