/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/<pid>/maps and smaps: what a range of a process is made of. */
#ifndef HCS_MAPS_H
#define HCS_MAPS_H

#include "sys.h"

#define HCS_MAP_PATH 256

/* VmFlags of smaps that matter here; same bits as HCW_VM_* of hcwatch_abi.h. */
#define HCS_VM_SHARED	  0x01u
#define HCS_VM_PFNMAP	  0x02u
#define HCS_VM_IO	  0x04u
#define HCS_VM_HUGETLB	  0x08u
#define HCS_VM_MIXED	  0x10u
#define HCS_VM_DONTCOPY	  0x20u
#define HCS_VM_UNREADABLE 0x80000000u

struct hcs_map {
	uint64_t lo, hi; /* hi exclusive */
	char perms[5];	 /* "rw-s" */
	uint64_t offset, inode;
	uint32_t vmflags; /* HCS_VM_*; 0 from hcs_maps_range() */
	/* Cut to fit; "" for anonymous; may hold any byte but NUL and newline. */
	char path[HCS_MAP_PATH];
};

/*
 * The mappings that meet [lo, hi), in address order. `pid` 0 = self. Reads maps only (no page
 * walk). Returns the count; -E2BIG when more than `max` meet it (the first `max` are written).
 * After any other error the content of `out` is undefined. 0 also for a zombie or a kernel thread,
 * which have no mappings.
 */
int hcs_maps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out, size_t max,
		   uint64_t deadline);

/*
 * The same with VmFlags, from smaps. It walks page tables (13 ms per populated GiB) under mmap_lock
 * of the process: never call it for a process with an open episode. A mapping whose flags the
 * kernel did not give has HCS_VM_UNREADABLE.
 */
int hcs_smaps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out, size_t max,
		    uint64_t deadline);

/* Calls map(m, ctx) for each mapping of maps; a non-zero return ends the walk and is returned. */
int hcs_maps_each(int root, pid_t pid, int (*map)(const struct hcs_map *m, void *ctx), void *ctx,
		  uint64_t deadline);

/* Whether `n` maps in address order cover [lo, hi) without a gap. */
int hcs_maps_cover(const struct hcs_map *maps, size_t n, uint64_t lo, uint64_t hi);

/*
 * Constant-time evidence about the page at addr of this very process: 1 when its mapping is VM_IO,
 * VM_PFNMAP, VM_MIXEDMAP or VM_DONTEXPAND, 0 when it is ordinary memory, -errno when it cannot be
 * told. madvise(MADV_DODUMP) is -EINVAL exactly for these (mm/madvise.c madvise_vma_behavior) and
 * changes nothing else on memory that is dumped anyway; hugetlb is exempt.
 */
int hcs_map_is_special(const void *addr);

#endif
