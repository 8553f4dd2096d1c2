/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "findings.h"

static const struct hcw_finding_text table[] = {
	{
		.code = "HCW-101",
		.title = "page migration stopped every GPU queue of the process",
		.cause =
			"pages of a registered host pool were migrated; the MMU notifier of its range made KFD evict all "
			"queues until the whole range was faulted in again (kgd2kfd_quiesce_mm .. kgd2kfd_resume_mm)",
		.evidence = "the eviction ran inside the migration, in the migrating thread",
		.remedy =
			"hold the pool in GTT: HSA_USERPTR_FOR_PAGED_MEM=0 before start, and a server that allocates by "
			"hipHostMalloc (libhcpool, SGLang #42553)",
		.leaves =
			"other registered memory of the process; evictions by GPU memory pressure, suspend, CRIU",
	},
	{
		.code = "HCW-102",
		.title =
			"an invalidation that was no migration stopped every GPU queue of the process",
		.cause =
			"the mapping of a registered host pool was changed (mprotect, fork, madvise, NUMA scanning, munmap ...) "
			"and the MMU notifier of its range made KFD evict all queues",
		.evidence =
			"the eviction ran inside an MMU-notifier callback with no migration around it",
		.remedy =
			"look at the stack: it names the kernel function; a pool in GTT has no notifier",
		.leaves = "evictions by GPU memory pressure, suspend, CRIU",
	},
	{
		.code = "HCW-103",
		.title = "GPU queues were stopped by the driver itself, not by host memory",
		.cause = "GPU memory pressure (TTM), suspend or checkpointing evicted the queues",
		.evidence = "the trigger that KFD was called with",
		.remedy = "give the GPU more free memory, or stop suspending and checkpointing it",
		.leaves = "host-memory causes, which are findings of their own",
	},
	{
		.code = "HCW-104",
		.title = "every GPU queue of the process was stopped, and what did it was not seen",
		.cause =
			"KFD was asked to evict the queues; the probes that tell who asked were not attached, or "
			"their records were lost",
		.evidence = "the eviction itself",
		.remedy = "see what the report says was not traced, and record again with it",
		.leaves = "this episode, which stays unexplained",
	},
	{
		.code = "HCW-201",
		.title =
			"a pool of user pages under a GPU: any page migration in it stops every queue",
		.cause =
			"the pool is ordinary memory (mmap + hipHostRegister, or hipHostMalloc without "
			"HSA_USERPTR_FOR_PAGED_MEM=0), which the kernel may migrate at any time",
		.evidence =
			"its mapping has neither VM_IO nor VM_PFNMAP, a page of it was moved, or an episode hit it",
		.remedy =
			"hold the pool in GTT: HSA_USERPTR_FOR_PAGED_MEM=0 before start, and a server that allocates by "
			"hipHostMalloc (libhcpool, SGLang #42553)",
		.leaves = "GTT is limited (mem_info_gtt_total) and shared by all ranks of a node",
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
		if (!strcmp(f->code, code))
			return f;
	return NULL;
}

const char *hcw_episode_code(const struct hcw_episode *e)
{
	switch (e->cause) {
	case HCW_CAUSE_TTM:
	case HCW_CAUSE_SUSPEND:
	case HCW_CAUSE_CRIU:
		return "HCW-103";
	case HCW_CAUSE_OTHER_INVALIDATION:
		return "HCW-102";
	case HCW_CAUSE_UNKNOWN:
		return "HCW-104";
	default:
		return "HCW-101";
	}
}

const char *hcw_pool_code(const struct hcw_pool_info *p)
{
	return p->verdict == HCW_VERDICT_EXPOSED ? "HCW-201" : NULL;
}
