/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the chain found out: plain data that every output renders. Times are CLOCK_BOOTTIME ns,
 * durations ns. Filled by chain.c and its siblings; read-only for everybody else; valid until
 * hcw_chain_free().
 */
#ifndef HCW_MODEL_H
#define HCW_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include "../../bpf/hcwatch_abi.h"

/* The closed list of causes; hcw_cause_name() has the words. */
enum hcw_cause {
	HCW_CAUSE_UNKNOWN,
	HCW_CAUSE_MOVE_PAGES,
	HCW_CAUSE_MIGRATE_SYSCALL, /* migrate_pages(2) or a cpuset change: MR_SYSCALL outside
				      move_pages */
	HCW_CAUSE_COMPACTION,
	HCW_CAUSE_MEMORY_FAILURE,
	HCW_CAUSE_MEMORY_HOTPLUG,
	HCW_CAUSE_MBIND,
	HCW_CAUSE_NUMA_BALANCING, /* pages moved to the node that uses them */
	HCW_CAUSE_CONTIG_RANGE,
	HCW_CAUSE_LONGTERM_PIN,
	HCW_CAUSE_DEMOTION,
	HCW_CAUSE_DAMON,
	HCW_CAUSE_NUMA_SCANNING,      /* access taken away to see who faults; no page moved yet */
	HCW_CAUSE_OTHER_INVALIDATION, /* a notifier range outside any migration */
	HCW_CAUSE_TTM,
	HCW_CAUSE_SUSPEND,
	HCW_CAUSE_CRIU,
	HCW_CAUSE_COUNT,
};

/* One thread as last seen. */
struct hcw_actor {
	__u32 tid, tgid;
	char comm[HCW_COMM_LEN]; /* hostile: escape before printing */
};

/* One request to migrate pages and the kernel's answer. */
struct hcw_attempt {
	__u64 start, end; /* end 0: its record never came */
	struct hcw_actor actor;
	bool is_move_pages;
	struct hcw_move_pages move; /* valid when is_move_pages */
	__u32 reason; /* enum migrate_reason, HCW_REASON_NONE when nothing reached migrate_pages()
		       */
	__u64 migrated, failed; /* pages, as the migrate tracepoints counted them */
	int pool;		/* index of the pool that holds every address, -1 = none */
};

/*
 * Who made an episode longer: its invalidations overtook restore passes, which were thrown away and
 * redone. Actors are merged by (tid, cause); the one that started the episode is among them when it
 * went on. One whose invalidations overtook no thrown-away pass is not among them.
 */
struct hcw_prolonger {
	struct hcw_actor actor;
	enum hcw_cause cause;
	__u64 attempt; /* start of the actor's attempt whose own record may still name the cause; 0
			  = final */
	__u64 invalidations; /* while the episode was open, the starting one left out */
	double passes; /* thrown-away passes charged to it; shared by invalidations where several
			  overtook one */
	__u64 ns;      /* time of the passes redone because of it */
};
#define HCW_MAX_PROLONGERS 4 /* the largest, by ns; the others are in prolonged_others */

/*
 * Queues of a victim stopped.
 *
 * Its time is divided so that started_ns + the ns of prolonged_by + prolonged_others +
 * prolonged_rest is its length exactly. Until the end of the first pass it belongs to the start.
 * Each further pass, with the wait before it, belongs to those whose invalidations overtook the
 * pass before; the pass that is under way after the last known one was thrown away counts as one
 * more. After a pass that was not thrown away (queues still stopped by a nested eviction) the time
 * is the start's again. An open episode is divided up to its last record, and by hcw_chain_update()
 * and hcw_chain_finish() up to model.last_ts.
 *
 * Who overtook a pass is told by time overlap, from the invalidations that meet a registered range
 * (pools that are not GTT or pageable, ranges of the victim's quiesces); only when a pass has none
 * of those, from all.
 */
struct hcw_episode {
	__u64 start, end; /* end 0 = open */
	bool before;	  /* the queues were stopped when the recording started: start is its first
			     record and the length "at least"; who, why (cause, trigger) and where
			     are not known */
	__u32 victim;	  /* tgid */
	__u64 mm;
	__u32 trigger; /* enum KFD_QUEUE_EVICTION_TRIGGERS */
	enum hcw_cause cause;
	struct hcw_actor started_by;
	struct hcw_actor initiator; /* who asked, when that is another than started_by; tid 0 = the
				       same or unknown */
	bool direct_compaction; /* started_by compacted memory for an allocation of its own; false:
				   kcompactd and other kernel threads, or on request */
	bool initiator_unknown; /* a cpuset's kernel worker acted, and who wrote cpuset.mems was
				   not seen. kcompactd, kswapd and the like act on nobody's
				   request; a writer of compact_memory acts itself */
	int attempt;		/* index of the attempt that caused it, -1 = none or not kept */
	__u64 lo, hi;		/* registered range that was hit, 0/0 = not seen */
	__s32 stack;		/* id, negative = none */
	__u32 passes, passes_thrown;
	__u64 started_ns; /* time charged to the start: up to the end of the first pass */
	struct hcw_prolonger prolonged_by[HCW_MAX_PROLONGERS];
	__u32 n_prolonged;
	__u64 prolonged_others; /* ns of prolongers that are not among prolonged_by; their causes
				   are in prolonged_ns */
	__u64 prolonged_rest; /* ns of passes nobody was seen to overtake, and of those whose charge
				 was not kept */
	__u64 prolonged_ns[HCW_CAUSE_COUNT]; /* by cause, of all prolongers: the sum is the ns of
						prolonged_by + prolonged_others. A move_pages call
						that ends after the victim's next-but-one stop
						stays HCW_CAUSE_MIGRATE_SYSCALL unless its actor is
						among prolonged_by */
	__u32 nested;			     /* evictions while already evicted */
	__u32 nested_causes; /* 1 << enum hcw_cause of each; HCW_CAUSE_UNKNOWN where only the
				eviction was seen. A move_pages call that ends after the victim's
				next-but-one stop stays HCW_CAUSE_MIGRATE_SYSCALL here */
	bool nested_unseen;  /* one of them was a notifier's, for a range that was not seen */
	__u64 invalidations; /* on this victim while it was open, from its start */
	int previous;	     /* index of the victim's episode before this one, -1 = none */
	int pool;	     /* index into pools of the first by address that its range meets, -1 =
				none or not known */
	bool killed;	     /* the victim died while evicted */
	__u64 worst_stall;   /* longest iteration that overlaps it, 0 = none seen */
	__u32 stalls;
};

/* One row of "what cost how much", over all episodes; open ones up to model.last_ts. What is in
 * prolonged_rest is in no row; what is in prolonged_others is. */
struct hcw_cause_total {
	__u64 started;	  /* episodes this cause started */
	__u64 started_ns; /* their time up to the end of the first pass */
	__u64 prolonged;  /* episodes it made longer */
	__u64 prolonged_ns;
	__u64 worst_ns; /* longest episode it started */
};

struct hcw_stall {
	__u64 start, end;
	__u64 median;	/* of the process's iterations so far */
	__u32 victim;	/* tgid */
	int episode;	/* index, by time overlap; -1 = no episode of this process overlaps it */
	int collateral; /* index of an episode of another member of its group that overlaps it, -1 =
			   none, or an episode of its own does, or no group is known */
};

enum hcw_verdict_word {
	HCW_VERDICT_INCONCLUSIVE,
	HCW_VERDICT_EXPOSED,
	HCW_VERDICT_IMMUNE,
};

enum hcw_evidence {
	HCW_EVIDENCE_NONE,
	HCW_EVIDENCE_MAPPING,
	HCW_EVIDENCE_TRIAL,
};

/* Why a verdict is what it is; a bit each. hcw_reason_name() has the stable words. */
enum hcw_reason {
	HCW_WHY_MOVED = 1u << 0,	  /* pages of the pool were moved */
	HCW_WHY_EPISODE = 1u << 1,	  /* an episode's range meets the pool */
	HCW_WHY_ORDINARY_PAGES = 1u << 2, /* the mapping is ordinary user memory */
	HCW_WHY_DRIVER_PAGES = 1u << 3,	  /* the whole mapping is VM_IO or VM_PFNMAP */
	HCW_WHY_REFUSED =
		1u << 4, /* every page of every attempt was refused with -EFAULT or -ENOENT */
	HCW_WHY_NO_ATTEMPT = 1u << 5,	  /* nobody tried to move a page of it */
	HCW_WHY_MAPPING_UNREAD = 1u << 6, /* the mapping under the pool could not be read in full */
	HCW_WHY_PROBE_MISSING = 1u << 7,  /* a source the verdict needs was not attached */
	HCW_WHY_LOSS = 1u << 8,		  /* records of such a source are missing over an attempt */
	HCW_WHY_STATUS_TRUNCATED = 1u << 9, /* a status array was not read whole */
	HCW_WHY_OTHER_STATUS = 1u << 10, /* pages answered neither with a node nor with -EFAULT or
					  -ENOENT, or with the node they were on already */
	HCW_WHY_RANGE_UNKNOWN =
		1u << 11, /* an episode's range was not seen: it may have met the pool */
	HCW_WHY_ATTEMPT_OUTSIDE = 1u << 12, /* an attempt reaches beyond the pool */
	HCW_WHY_TRACE_CUT = 1u << 13,	    /* the trace has no end */
	HCW_WHY_COUNT = 14,
};

struct hcw_pool_info {
	__u64 ptr, bytes;
	__u64 allocated, freed; /* freed 0 = still there at the end */
	__u32 backing;		/* enum hcw_backing, as its owner announced it */
	__u32 tgid;
	/* what its mapping said */
	__u64 mapped_special, mapped_ordinary, mapped_unread; /* bytes */
	__u32 vmflags;					      /* union of HCW_VM_* */
	char path[64];
	/* what attempts on it said; only attempts wholly inside the pool */
	__u64 attempts, asked, moved, efault, enoent, refused_other;
	__u64 stayed;	 /* answered with a node and did not move: were there already. Without the
			    migrate source these count as moved */
	__u64 outside;	 /* attempts that reach beyond it */
	__u64 truncated; /* attempts whose statuses were not read whole */
	__u64 lossy;	 /* attempts with a hole of a needed source over them */
	__u64 first_attempt, last_attempt; /* span of the attempts, 0 = none */
	__u64 episodes, episode_ns;  /* of episodes whose range meets it; hits while the queues were
					stopped already have no time of their own */
	int hit_by;		     /* index of the last one, -1 = none */
	__u64 residual, residual_ns; /* episodes of its process, in its lifetime, by a notifier that
					hit something else; by hcw_chain_finish() */
	enum hcw_verdict_word verdict;
	enum hcw_evidence evidence;
	unsigned int reasons; /* HCW_WHY_* */
};

/* Iterations of one process. */
struct hcw_victim {
	__u32 tgid;
	__u64 start_time;
	__u64 mm;
	char comm[HCW_COMM_LEN];
	bool exited;
	__u64 iterations, iteration_ns, iteration_max;
	__u64 iterations_unpaired; /* begins without an end, ends without a begin, and pairs with
				      lost marks between them whose id the thread uses again */
	__u64 episodes, episode_ns;
};

struct hcw_hole_info {
	__u64 from, to, count;
	__u32 source, cause;
};

#define HCW_MAX_CLOCKS 16

enum hcw_clock_id {
	HCW_CLOCK_MONOTONIC,
	HCW_CLOCK_REALTIME,
};

/* How far the other clocks are from CLOCK_BOOTTIME: clock - boottime, ns. */
struct hcw_clock_span {
	__u64 from, to; /* first and last pair of clocks that say so */
	__s64 monotonic, realtime;
};

struct hcw_model {
	__u64 first_ts, last_ts; /* of the records */
	bool ended;		 /* an end record was seen */
	__u32 end_reason;
	struct hcw_episode *episodes;
	size_t n_episodes;
	struct hcw_attempt *attempts;
	size_t n_attempts;
	struct hcw_stall *stalls;
	size_t n_stalls;
	struct hcw_pool_info *pools;
	size_t n_pools;
	struct hcw_victim *victims;
	size_t n_victims;
	struct hcw_hole_info *holes;
	size_t n_holes;
	struct hcw_cause_total causes[HCW_CAUSE_COUNT]; /* set by hcw_chain_finish() */
	struct hcw_totals totals[HCW_R_BPF_COUNT];	/* last ones seen, by record type */
	__u64 records;					/* of any type */
	__u64 lost;					/* sum over totals */
	struct hcw_limits limits;			/* the last ones seen */
	__u64 late; /* records that came too late to be put in order: hcw_chain_late() */
	struct hcw_clock_span clocks[HCW_MAX_CLOCKS]; /* in order; a new one where the wall clock
							 was stepped or the machine slept */
	size_t n_clocks;
	__u64 clock_changes_more; /* the last of clocks took the place of so many */
	__u64 dropped; /* attempts, episodes, pools … not kept because a table was full: figures are
			  "at least" */
	__u64 dropped_stalls;  /* iterations, stalls and stack names not kept, likewise: no verdict
				  depends on them */
	__u64 dropped_charges; /* invalidations and passes not weighed in the length of an episode
				  because a table was full: its prolonged_by is "at least" */
	__u64 noise;	       /* quiesces refused at process exit */
	__u64 unattributed_passes; /* of no episode we know of */
	__u64 unpaired_restores;   /* of queues whose stop was not seen, and may have been lost */
	__u64 kfd_samples;	   /* records of evicted_ms: a watched process was seen at KFD */
	__u64 damaged;		   /* holes of damaged frames */
};

/*
 * Times of other clocks. Returns how many moments of the trace had this time on that clock, the
 * first of them in *boot: 0 = none (the clock was stepped over it, or there are no pairs), 2 and
 * more = the clock was set back over it, or the moment lies so near a change that it cannot be told
 * which side it is on.
 */
size_t hcw_clock_to_boot(const struct hcw_model *m, enum hcw_clock_id id, __u64 t, __u64 *boot);
/* What happened between clocks[i - 1].to and clocks[i].from: the wall clock was set by so many ns,
 * 0 = it was not; the machine slept for so many ns. */
__s64 hcw_clock_stepped(const struct hcw_model *m, size_t i);
__u64 hcw_clock_suspended(const struct hcw_model *m, size_t i);

/* Whether something that should have been watched was not for want of room. */
bool hcw_limits_hide(const struct hcw_limits *l);
const char *hcw_limit_name(enum hcw_limit l); /* "watched", "threads", "stacks", … */

const char *hcw_cause_name(enum hcw_cause c);  /* "compaction", "move_pages", … */
const char *hcw_reason_name(unsigned int bit); /* one HCW_WHY_* bit: "moved", "no-attempt", … */
const char *hcw_verdict_name(enum hcw_verdict_word v); /* "immune", "exposed", "inconclusive" */
const char *hcw_evidence_name(enum hcw_evidence e);    /* "trial", "mapping", "none" */
const char *hcw_backing_name(__u32 backing);	       /* "gtt", "registered", … */

#endif
