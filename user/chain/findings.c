/* SPDX-License-Identifier: BSD-2-Clause */
#include <strings.h>
#include "findings.h"

#define HOLD_IN_GTT                                                              \
	"Hold the pool in GTT: HSA_USERPTR_FOR_PAGED_MEM=0 before start, and a " \
	"server that allocates by hipHostMalloc (libhcpool; SGLang with #42553). "
#define LEAVES_DRIVER "evictions by GPU memory pressure, suspend and CRIU"
#define READ_IN	      "Read in Linux 6.1, 6.12, 7.2 and 7.3."
#define MEASURED      "Measured on 6.1, 6.12 and 7.3 with a test GPU in place of the hardware."

#define SRC_QUIESCE   "drivers/gpu/drm/amd/amdkfd/kfd_device.c kgd2kfd_quiesce_mm"
#define SRC_EVICT     "drivers/gpu/drm/amd/amdkfd/kfd_process.c kfd_process_evict_queues"
#define SRC_USERPTR   "drivers/gpu/drm/amd/amdgpu/amdgpu_amdkfd_gpuvm.c amdgpu_amdkfd_evict_userptr"
#define SRC_WORKER \
	"drivers/gpu/drm/amd/amdgpu/amdgpu_amdkfd_gpuvm.c amdgpu_amdkfd_restore_userptr_worker"
#define SRC_VMA	     "mm/mempolicy.c vma_migratable"
#define SRC_ALLOCATE "ROCm rocr-runtime libhsakmt/src/fmm.c fmm_allocate_host_gpu"

static const struct hcw_finding_text table[] = {
	{
		.code = "HCW-101",
		.title = "page migration stopped every GPU queue of the process",
		.cause = "Pages of a registered host pool were migrated. Unmapping one raises the "
			 "MMU notifier of its range, whose callback makes KFD evict all queues of "
			 "the process; they run again when a restore worker has faulted in the "
			 "whole registered range. Any further invalidation throws a running pass "
			 "away.",
		.evidence = "The eviction ran inside the migration, in the migrating thread. Which "
			    "iteration waited for it is by overlap in time.",
		.remedy = HOLD_IN_GTT
		"Or stop who asks for the migration: the report names the thread, and the "
		"process behind a kernel worker where that was seen.",
		.leaves = "other registered memory of the process; " LEAVES_DRIVER
			  "; GTT is limited (mem_info_gtt_total) and shared by all ranks of a node",
		.versions = READ_IN " " MEASURED,
		.source = {SRC_QUIESCE, SRC_USERPTR, SRC_WORKER, "mm/migrate.c migrate_pages",
			   "mm/rmap.c try_to_migrate_one", SRC_VMA, SRC_ALLOCATE},
	},
	{
		.code = "HCW-102",
		.title = "an invalidation that was no migration stopped every GPU queue",
		.cause =
			"The mapping of a registered host pool was changed: mprotect, fork (private "
			"pools), madvise, soft-dirty tracking, KSM, huge pages collapsed or split, "
			"swap-out or munmap. Each raises the MMU notifier of the range, and the "
			"driver's callback asks neither why nor whether a page went away.",
		.evidence =
			"The eviction ran inside a notifier callback with no migration around it.",
		.remedy = HOLD_IN_GTT
		"Or stop what changes the mapping: the stack in the report names the kernel "
		"function, and with it the system call.",
		.leaves = "other registered memory of the process; " LEAVES_DRIVER,
		.versions = READ_IN
		" " MEASURED
		" Fork, KSM and MADV_FREE hit private pools only, MADV_PAGEOUT without "
		"swap shared ones only.",
		.source = {SRC_QUIESCE, SRC_USERPTR,
			   "mm/mmu_notifier.c __mmu_notifier_invalidate_range_start",
			   "mm/mprotect.c change_protection", "mm/memory.c copy_page_range",
			   "mm/ksm.c write_protect_page", "mm/khugepaged.c collapse_huge_page"},
	},
	{
		.code = "HCW-103",
		.title = "GPU queues were stopped by the driver itself, not by host memory",
		.cause = "GPU memory pressure (TTM), suspend or checkpointing evicted the queues. "
			 "This is no page migration and says nothing about any host pool.",
		.evidence = "The trigger that KFD was called with.",
		.remedy =
			"Leave the GPU more free memory, or stop suspending and checkpointing it.",
		.leaves = "causes in host memory, which are findings of their own",
		.versions = READ_IN
		" The triggers have the same numbers in all of them. Not measured: it takes "
		"GPU memory.",
		.source = {"include/uapi/linux/kfd_ioctl.h KFD_QUEUE_EVICTION_TRIGGERS", SRC_EVICT,
			   "drivers/gpu/drm/amd/amdkfd/kfd_process.c evict_process_worker"},
	},
	{
		.code = "HCW-104",
		.title = "every GPU queue was stopped, and what did it was not seen",
		.cause =
			"KFD was asked to evict the queues. The probes that tell who asked and why "
			"were not attached, their records were lost, or the queues were stopped "
			"before the recording started.",
		.evidence = "The eviction itself, or the restore that ended it.",
		.remedy = "Record the next one from its start: hcwatch record, as root, after the "
			  "amdgpu module is loaded, with what the report lists as not traced.",
		.leaves = "this stall, which stays unexplained",
		.versions = READ_IN,
		.source = {SRC_QUIESCE, SRC_EVICT},
	},
	{
		.code = "HCW-105",
		.title = "NUMA balancing stopped every GPU queue of the process",
		.cause =
			"The kernel looks which node uses a page by taking access away and waiting "
			"for the fault (scanning), then moves pages there (balancing). Scanning "
			"alone raises the MMU notifier of a registered pool, chunk after chunk, so "
			"it overtakes restore passes again and again.",
		.evidence =
			"change_prot_numa() ran around the notifier (scanning), or the reason of "
			"the migration was MR_NUMA_MISPLACED (balancing).",
		.remedy = "Turn it off: sudo sysctl kernel.numa_balancing=0 (this host, all "
			  "processes). Or hold the pool in GTT, which is never scanned "
			  "(HSA_USERPTR_FOR_PAGED_MEM=0 before start, and hipHostMalloc).",
		.leaves =
			"compaction, reclaim and move_pages, which stop a registered pool all the "
			"same",
		.versions = READ_IN
		" " MEASURED " Private pools were hit on all three; pools mapped MAP_SHARED on 7.3 "
		"only.",
		.source = {"kernel/sched/fair.c task_numa_work", "mm/mempolicy.c change_prot_numa",
			   "mm/mprotect.c change_protection", SRC_QUIESCE, SRC_WORKER, SRC_VMA},
	},
	{
		.code = "HCW-106",
		.title = "memory compaction stopped every GPU queue of the process",
		.cause = "To make free blocks the kernel moved pages of a registered host pool: "
			 "kcompactd in the background, or any task that asked for a large block. "
			 "Pages of a registered pool are taken like all others.",
		.evidence = "The eviction ran inside a migration whose reason was MR_COMPACTION.",
		.remedy = HOLD_IN_GTT
		"Proactive compaction alone goes away with: sudo sysctl "
		"vm.compaction_proactiveness=0. Locked pools are spared with: sudo sysctl "
		"vm.compact_unevictable_allowed=0.",
		.leaves = "with the settings alone: compaction on demand of unlocked pools, NUMA "
			  "balancing, move_pages; with GTT: " LEAVES_DRIVER,
		.versions = READ_IN " " MEASURED,
		.source = {"mm/compaction.c compact_zone", "mm/compaction.c kcompactd",
			   "mm/migrate.c migrate_pages", SRC_QUIESCE, SRC_VMA},
	},
	{
		.code = "HCW-201",
		.title = "a pool of user pages under a GPU: any page migration stops all queues",
		.cause =
			"The pool is ordinary memory (mmap and hipHostRegister, or hipHostMalloc "
			"without HSA_USERPTR_FOR_PAGED_MEM=0), which the kernel may migrate at any "
			"time.",
		.evidence =
			"Its mapping has neither VM_IO nor VM_PFNMAP, a page of it was moved, or "
			"an episode hit it.",
		.remedy = HOLD_IN_GTT
		"hcwatch lab shows on this machine what either kind of pool answers.",
		.leaves = "GTT is limited (mem_info_gtt_total) and shared by all ranks of a node; "
			  "O_DIRECT and RDMA registration of a GTT pool fail with EFAULT",
		.versions = READ_IN
		" " MEASURED
		" ROCm reads HSA_USERPTR_FOR_PAGED_MEM once, and only exactly 0 counts.",
		.source =
			{SRC_VMA, "drivers/gpu/drm/ttm/ttm_bo_vm.c ttm_bo_mmap_obj",
			 "mm/gup.c check_vma_flags", SRC_USERPTR, SRC_ALLOCATE,
			 "ROCm rocr-runtime libhsakmt/src/fmm.c hsakmt_fmm_init_process_apertures"},
	},
};

const struct hcw_finding_text *hcw_finding_at(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? &table[i] : NULL;
}

const struct hcw_finding_text *hcw_finding_by_code(const char *code)
{
	const struct hcw_finding_text *f;
	size_t i;

	for (i = 0; (f = hcw_finding_at(i)); i++)
		if (!strcasecmp(f->code, code))
			return f;
	return NULL;
}

const char *hcw_cause_code(enum hcw_cause cause)
{
	switch (cause) {
	case HCW_CAUSE_TTM:
	case HCW_CAUSE_SUSPEND:
	case HCW_CAUSE_CRIU:
		return "HCW-103";
	case HCW_CAUSE_OTHER_INVALIDATION:
		return "HCW-102";
	case HCW_CAUSE_UNKNOWN:
		return "HCW-104";
	case HCW_CAUSE_NUMA_BALANCING:
	case HCW_CAUSE_NUMA_SCANNING:
		return "HCW-105";
	case HCW_CAUSE_COMPACTION:
		return "HCW-106";
	default:
		return "HCW-101";
	}
}

const char *hcw_episode_code(const struct hcw_episode *e)
{
	return hcw_cause_code(e->cause);
}

const char *hcw_pool_code(const struct hcw_pool_info *p)
{
	return p->verdict == HCW_VERDICT_EXPOSED ? "HCW-201" : NULL;
}
