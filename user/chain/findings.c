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
	{
		.code = "HCW-401",
		.title = "NUMA balancing is on: it can stop GPUs that use registered pools",
		.cause = "kernel.numa_balancing is not 0. The scanner takes access to pages away "
			 "to see who uses them, and each chunk it scans raises the MMU notifier of "
			 "a registered pool, moved or not: on a host with one memory node too, "
			 "where the kernel leaves it off unless somebody turns it on. Tiering (2) "
			 "scans as balancing (1) does.",
		.evidence = "The mask read from /proc/sys/kernel/numa_balancing.",
		.remedy = "sudo sysctl kernel.numa_balancing=0 (this host, all processes; to last, "
			  "a file in /etc/sysctl.d).",
		.leaves = "compaction, reclaim, move_pages by others",
		.versions = READ_IN
		" " MEASURED " Private pools were hit on all three; pools mapped MAP_SHARED on 7.3 "
		"only. With one memory node private pools were hit on 6.1 and 6.12.",
		.source = {"kernel/sched/fair.c task_numa_work", "mm/mempolicy.c change_prot_numa",
			   "kernel/sched/core.c sysctl_numa_balancing"},
	},
	{
		.code = "HCW-402",
		.title = "proactive compaction is on: it moves pages of registered pools",
		.cause =
			"vm.compaction_proactiveness is not 0: kcompactd compacts in the "
			"background, before anybody asks, when free memory is fragmented. It takes "
			"pages of registered pools like all others, locked ones too while "
			"vm.compact_unevictable_allowed is 1.",
		.evidence = "The number read from /proc/sys/vm/compaction_proactiveness.",
		.remedy = "sudo sysctl vm.compaction_proactiveness=0 (this host). Locked pools are "
			  "spared by all compaction with: sudo sysctl "
			  "vm.compact_unevictable_allowed=0.",
		.leaves = "compaction on demand of pools that are not locked, NUMA balancing, "
			  "move_pages by others",
		.versions =
			READ_IN " Compaction was measured on 6.1, 6.12 and 7.3 with a test GPU, "
				"started by hand.",
		.source = {"mm/compaction.c kcompactd",
			   "mm/compaction.c should_proactive_compact_node",
			   "mm/compaction.c isolate_migratepages_block"},
	},
	{
		.code = "HCW-403",
		.title = "khugepaged is on: it collapses pages of private pools",
		.cause = "Huge pages are enabled for all memory, so khugepaged copies small pages "
			 "of private pools into huge ones, which raises the MMU notifier of the "
			 "pool.",
		.evidence = "The word in use in transparent_hugepage/enabled is always.",
		.remedy = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled "
			  "(this host; programs then ask for huge pages by madvise). Pools mapped "
			  "MAP_SHARED need nothing.",
		.leaves = "pools that ask for huge pages themselves; compaction, NUMA balancing, "
			  "move_pages by others",
		.versions = READ_IN
		" " MEASURED " 13 to 16 episodes in a private pool, none in one mapped MAP_SHARED "
		"(shmem_enabled was never).",
		.source = {"mm/khugepaged.c collapse_huge_page",
			   "mm/khugepaged.c khugepaged_do_scan"},
	},
	{
		.code = "HCW-404",
		.title = "huge page faults compact memory, of any process",
		.cause =
			"With transparent_hugepage/defrag at always, defer or defer+madvise, every "
			"fault that would like a huge page compacts memory itself or wakes "
			"kcompactd. Either moves pages of registered pools.",
		.evidence = "The word in use in transparent_hugepage/defrag, with huge pages "
			    "enabled.",
		.remedy = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/defrag "
			  "(this host).",
		.leaves = "programs that ask for huge pages by madvise; other allocations of large "
			  "blocks; proactive compaction",
		.versions =
			READ_IN " Compaction was measured on 6.1, 6.12 and 7.3 with a test GPU, "
				"started by hand.",
		.source = {"mm/huge_memory.c vma_thp_gfp_mask",
			   "mm/page_alloc.c __alloc_pages_direct_compact"},
	},
	{
		.code = "HCW-405",
		.title = "huge pages for shared memory are on: khugepaged may collapse pools",
		.cause = "shmem_enabled lets khugepaged collapse pages of shared memory, which "
			 "unmaps them from every process that has them, pools mapped MAP_SHARED "
			 "too.",
		.evidence = "The word in use in transparent_hugepage/shmem_enabled.",
		.remedy = "echo never | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled "
			  "(this host).",
		.leaves = "compaction, NUMA balancing, move_pages by others",
		.versions = READ_IN " Not measured: the measurements had shmem_enabled at never.",
		.source = {"mm/khugepaged.c collapse_file", "mm/khugepaged.c retract_page_tables"},
	},
	{
		.code = "HCW-406",
		.title = "KSM is running: it can stop GPUs that use private pools",
		.cause = "KSM merges equal pages of memory that was marked mergeable (madvise, or "
			 "prctl for a whole process). Merging write-protects and replaces pages of "
			 "a private pool; the restore takes them apart again, without end.",
		.evidence = "The number 1 read from /sys/kernel/mm/ksm/run.",
		.remedy =
			"echo 0 | sudo tee /sys/kernel/mm/ksm/run (this host; 2 also takes merged "
			"pages apart). Pools mapped MAP_SHARED need nothing.",
		.leaves = "compaction, NUMA balancing, move_pages by others",
		.versions = READ_IN
		" Measured on 6.1 with a test GPU: 2.0 of 2.2 s stopped with equal pages in a "
		"private pool; none in one mapped MAP_SHARED on 6.1, 6.12 and 7.3.",
		.source = {"mm/ksm.c write_protect_page", "mm/ksm.c replace_page"},
	},
	{
		.code = "HCW-407",
		.title = "swap is on: reclaim can unmap pages of registered pools",
		.cause = "With somewhere to swap to, reclaim unmaps pages of pools that are not "
			 "locked when memory runs short, and each unmapping raises the MMU "
			 "notifier; the restore reads the pages back.",
		.evidence = "An area in /proc/swaps.",
		.remedy =
			"sudo swapoff -a on a host that serves from registered pools, or lock the "
			"pools (mlock).",
		.leaves = "compaction, NUMA balancing, move_pages by others; MADV_PAGEOUT, which "
			  "unmaps shared pools even without swap",
		.versions = READ_IN " Not measured: the measurements had no swap.",
		.source = {"mm/vmscan.c shrink_folio_list", "mm/rmap.c try_to_unmap_one"},
	},
	{
		.code = "HCW-408",
		.title = "khugepaged compacts memory for the huge pages it makes",
		.cause = "With khugepaged/defrag at 1 and huge pages enabled for all memory, "
			 "khugepaged compacts memory when it finds no free huge page. That moves "
			 "pages of registered pools of any process.",
		.evidence = "The number read from transparent_hugepage/khugepaged/defrag, and the "
			    "word always in transparent_hugepage/enabled.",
		.remedy = "echo 0 | sudo tee "
			  "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag (this host).",
		.leaves = "compaction by others, NUMA balancing, move_pages by others",
		.versions =
			READ_IN " Compaction was measured on 6.1, 6.12 and 7.3 with a test GPU, "
				"started by hand.",
		.source = {"mm/khugepaged.c alloc_hugepage_khugepaged_gfpmask",
			   "mm/page_alloc.c __alloc_pages_direct_compact"},
	},
	{
		.code = "HCW-501",
		.title = "kernel lockdown forbids tracing",
		.cause = "Lockdown is at confidentiality, as SecureBoot can set it: BPF programs "
			 "may not read kernel memory, and kprobes are refused. Integrity does "
			 "not forbid that.",
		.evidence = "The word in use in /sys/kernel/security/lockdown.",
		.remedy = "Boot with lockdown=integrity, or without SecureBoot; it cannot be "
			  "lowered while the system runs.",
		.leaves = "meanwhile: hcwatch report of traces from elsewhere, and evicted_ms in "
			  "sysfs, work as they are",
		.versions = READ_IN,
		.source = {"security/lockdown/lockdown.c lockdown_is_locked_down",
			   "kernel/trace/bpf_trace.c bpf_probe_read_kernel"},
	},
	{
		.code = "HCW-502",
		.title = "the capabilities to load and attach BPF programs are missing",
		.cause = "Loading tracing programs needs CAP_BPF, reading kernel memory and "
			 "attaching needs CAP_PERFMON (before 5.8: CAP_SYS_ADMIN for both), in the "
			 "first user namespace.",
		.evidence = "CapEff in /proc/self/status, and /proc/self/uid_map.",
		.remedy =
			"Run it as root, or give it both: sudo setcap cap_bpf,cap_perfmon+ep on "
			"the program; a container needs them added and the host's user namespace.",
		.leaves = "what further capabilities buy: hcwatch doctor --probes lists it",
		.versions = READ_IN,
		.source = {"kernel/bpf/syscall.c bpf_prog_load",
			   "include/linux/capability.h bpf_capable"},
	},
	{
		.code = "HCW-503",
		.title = "perf_event_paranoid is above 2: kprobes and uprobes are refused",
		.cause =
			"Debian and Ubuntu know levels above 2, at which perf_event_open(2) is for "
			"CAP_SYS_ADMIN alone, whatever CAP_PERFMON says. kprobes, uprobes and "
			"classic tracepoints are attached by it; fentry and raw tracepoints are "
			"not, and work.",
		.evidence = "The number in /proc/sys/kernel/perf_event_paranoid, and an attempt.",
		.remedy = "sudo sysctl kernel.perf_event_paranoid=2 (this host), or run it with "
			  "CAP_SYS_ADMIN.",
		.leaves = "uprobes, for which newer kernels want CAP_SYS_ADMIN at any level",
		.versions = "Measured on Debian's 6.1.",
		.source = {"kernel/events/core.c perf_event_open",
			   "include/linux/perf_event.h perf_paranoid_any"},
	},
	{
		.code = "HCW-504",
		.title = "a seccomp filter refuses what tracing needs",
		.cause = "The process runs under a seccomp filter, as containers have one, which "
			 "may refuse bpf(2) and perf_event_open(2) even to those who have the "
			 "capabilities.",
		.evidence = "Seccomp: 2 in /proc/self/status; whether it refuses is only known by "
			    "trying.",
		.remedy = "Run it on the host, or in a container whose seccomp profile allows "
			  "bpf(2) and perf_event_open(2).",
		.leaves = "the capabilities, which are needed all the same",
		.versions = READ_IN,
		.source = {"kernel/seccomp.c __seccomp_filter"},
	},
	{
		.code = "HCW-505",
		.title = "addresses of kernel functions are hidden",
		.cause = "/proc/kallsyms shows every address as 0. Functions are attached by name "
			 "all the same, but for a driver's function that shares its name with "
			 "another: only the address tells them apart. Stacks stay without names.",
		.evidence = "The addresses read, and /proc/sys/kernel/kptr_restrict.",
		.remedy = "With kptr_restrict 0 or 1: run it with CAP_SYSLOG. With 2, which hides "
			  "them from root too: sudo sysctl kernel.kptr_restrict=1.",
		.leaves = "all functions whose name is the only one of its kind",
		.versions = READ_IN,
		.source = {"kernel/kallsyms.c kallsyms_show_value"},
	},
	{
		.code = "HCW-506",
		.title = "the kernel has no type information that can be used",
		.cause =
			"/sys/kernel/btf/vmlinux is missing or cannot be read: BPF programs cannot "
			"find the fields of kernel structures, nor attach by type.",
		.evidence = "The file's header and size.",
		.remedy = "Use a kernel built with CONFIG_DEBUG_INFO_BTF.",
		.leaves = "meanwhile: hcwatch report of traces from elsewhere, and evicted_ms in "
			  "sysfs, work as they are",
		.versions = READ_IN,
		.source = {"kernel/bpf/sysfs_btf.c btf_vmlinux_init",
			   "include/uapi/linux/btf.h btf_header"},
	},
	{
		.code = "HCW-507",
		.title = "the driver has no type information: kprobes instead of fentry",
		.cause =
			"amdgpu is loaded without BTF (amdgpu-dkms is built so). Its functions are "
			"traced by kprobes, and types of its own cannot be read.",
		.evidence = "No /sys/kernel/btf/amdgpu.",
		.remedy = "Nothing to do: the chain is traced from the kernel's types alone. It "
			  "needs kprobes.",
		.leaves = "evictions that are not caused by memory are told without their process",
		.versions = READ_IN,
		.source = {"kernel/bpf/btf.c btf_module_notify"},
	},
	{
		.code = "HCW-508",
		.title = "the memory that may be locked is limited: BPF maps do not fit",
		.cause = "Before 5.11 BPF maps count as locked memory of their user. Since then "
			 "they count for the memory cgroup, and this limit means nothing.",
		.evidence = "The kernel's release, and RLIMIT_MEMLOCK.",
		.remedy = "ulimit -l unlimited before the start, or CAP_SYS_RESOURCE.",
		.leaves = "the capabilities, which are needed all the same",
		.versions = "Linux before 5.11; such a kernel was not tested.",
		.source = {"kernel/bpf/syscall.c bpf_charge_memlock"},
	},
	{
		.code = "HCW-509",
		.title = "the driver is not loaded: KFD cannot be traced",
		.cause = "amdgpu, with KFD in it, is not loaded, so the functions that stop and "
			 "start GPU queues do not exist.",
		.evidence = "No /sys/module/amdgpu, and no such functions in /proc/kallsyms.",
		.remedy = "sudo modprobe amdgpu on a host with an AMD GPU.",
		.leaves = "page migrations and MMU notifiers, which are traced without it",
		.versions = READ_IN,
		.source = {SRC_QUIESCE},
	},
	{
		.code = "HCW-510",
		.title = "uprobes are refused: iterations and pools cannot be seen",
		.cause =
			"The marks of applications (USDT) are attached by uprobes. Kernels from "
			"6.16, and stable ones since July 2025, want CAP_SYS_ADMIN for them, older "
			"ones CAP_PERFMON.",
		.evidence = "An attempt to open one, at a file that does not exist.",
		.remedy = "Run it with CAP_SYS_ADMIN, or as root.",
		.leaves = "without: migrations, evictions and their causes are traced; how long "
			  "iterations took and which pool was hit are not",
		.versions = "Measured on 6.1, 6.12, 6.18 and 7.3.",
		.source = {"kernel/events/core.c perf_uprobe_event_init"},
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
