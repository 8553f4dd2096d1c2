/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of the kernel's memory management that decide who moves or unmaps pages of user memory:
 * NUMA balancing, compaction, huge pages, KSM, swap. Sources: Documentation/admin-guide/sysctl and
 * mm, Linux 6.1 to 7.3. All are of the whole host, also when read in a container.
 */
#ifndef HCS_VM_H
#define HCS_VM_H

#include "sys.h"

enum hcs_vm {
	HCS_VM_NUMA_BALANCING,	  /* number, a mask: HCS_NUMAB_* */
	HCS_VM_PROACTIVENESS,	  /* number: 0 (no proactive compaction) to 100 */
	HCS_VM_UNEVICTABLE,	  /* number: 1 = compaction also takes locked pages */
	HCS_VM_THP_ENABLED,	  /* word: always, madvise, never */
	HCS_VM_THP_DEFRAG,	  /* word: always, defer, defer+madvise, madvise, never */
	HCS_VM_THP_SHMEM,	  /* word: always, within_size, advise, never, deny, force */
	HCS_VM_KHUGEPAGED_DEFRAG, /* number: 1 = khugepaged may compact and collapse */
	HCS_VM_KSM_RUN,		  /* number: 0 stopped, 1 merging, 2 stopped and unmerged */
	HCS_VM_COUNT,
};

#define HCS_NUMAB_NORMAL  1u /* include/linux/sched/sysctl.h NUMA_BALANCING_NORMAL */
#define HCS_NUMAB_TIERING 2u /* NUMA_BALANCING_MEMORY_TIERING, from 5.18 */

#define HCS_VM_TEXT	  32

struct hcs_vm_value {
	char text[HCS_VM_TEXT]; /* the digits, or the word in use */
	uint64_t number;	/* of a number; 0 of a word */
};

/* The path of a setting below "/", and "vm.…" for a sysctl, NULL for a file of sysfs. */
const char *hcs_vm_path(enum hcs_vm which);
const char *hcs_vm_sysctl(enum hcs_vm which);

/*
 * Reads one. -ENOENT: this kernel has no such setting. -ENODEV: the tree it would be in is not
 * there (/proc or /sys not mounted), which says nothing about the kernel.
 */
int hcs_vm_read(int root, enum hcs_vm which, struct hcs_vm_value *out, uint64_t deadline);

/*
 * The word in brackets of "always [madvise] never", NUL terminated. -EBADMSG when there is not
 * exactly one, -E2BIG when it does not fit.
 */
int hcs_choice(const char *text, char *word, size_t size);

struct hcs_swap {
	size_t areas;
	uint64_t total, used; /* bytes */
};

/* All areas of /proc/swaps. -ENOENT: a kernel without swap. -ENODEV as above. */
int hcs_swap_read(int root, struct hcs_swap *out, uint64_t deadline);

/*
 * A text of one line, without its newline. `witness` is a path that exists wherever `path` could:
 * -ENOENT when only `path` is missing, -ENODEV when both are.
 */
int hcs_setting(int root, const char *path, const char *witness, char *text, size_t size,
		uint64_t deadline);

#endif
