/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run measured: plain data, filled by lead.c and follow.c, rendered by table.c and json.c.
 */
#ifndef HCSTALL_RESULT_H
#define HCSTALL_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../../allocator/include/hcpool/hcpool.h"
#include "../../user/sys/drm.h"
#include "../../user/sys/kfd.h"
#include "../../user/sys/numa.h"
#include "triggers.h"

struct stall_ranks;

/* What became of the pages of the window. The sum of all but the first and the last is
 * `attempted`. */
struct stall_pages {
	unsigned int attempted;
	unsigned int moved;   /* on the target node now */
	unsigned int already; /* were there before */
	unsigned int efault, enoent, ebusy, eacces;
	unsigned int other;	 /* also: on another node */
	unsigned int unanswered; /* no status was written */
	unsigned int requeried;	 /* of `moved`: the call said otherwise, a query afterwards found
				    them  there (huge pages) */
};

/* evicted_ms of every GPU of this process. */
struct stall_evicted {
	int count; /* -1: not readable */
	struct hcs_evicted gpu[HCS_KFD_MAX_GPUS];
};

/* Of iterations, ns. Percentiles have the precision of user/sys/hist.h (6.25 %), max is exact. */
struct stall_dist {
	uint64_t count;
	uint64_t p50, p90, p99, p99_9, max;
};

/* The iterations of the control phase or of one trial. */
struct stall_phase {
	struct stall_dist dist;
	uint64_t median_ns;	      /* exact */
	uint64_t max_begin_ns;	      /* CLOCK_BOOTTIME, as all times */
	struct stall_evicted evicted; /* how much it grew */
	bool copy_ok;		      /* trials only */
};

/* What a trial came to; the first three answer the question. */
enum stall_outcome {
	STALL_MOVED,   /* every page moved */
	STALL_REFUSED, /* driver memory, and the kernel refused every page, or the call */
	STALL_DONE,    /* a trigger that moves nothing took effect */
	STALL_NO_PAGE, /* ordinary memory without a page in it: nothing was tried */
	STALL_PART,    /* anything else */
};

struct stall_trial {
	uint64_t begin_ns, end_ns;
	int target_node;
	long rc;   /* of the trigger's call */
	int error; /* its errno, 0 when rc >= 0 */
	struct stall_pages pages;
	enum stall_outcome outcome;
	uint64_t move_begin_ns, move_end_ns;
	pid_t mover_pid, mover_tid;
	struct stall_phase phase;
};

/* One process of the run. Lives in memory shared by all ranks. */
struct stall_rank {
	pid_t pid;
	struct hcpool_info pool;
	struct stall_phase control;
	struct stall_phase *trial; /* trials_wanted of them */
};

struct stall_result {
	const char *allocator;
	const struct stall_trigger *trigger;
	struct hcpool_info pool;
	bool hugetlb; /* the pool is of hugetlb pages */
	char device_name[256];
	char driver[32]; /* of the GPU's render node */
	bool simulated;	 /* the driver is not amdgpu */
	struct hcs_drm_node gpu[HCS_DRM_MAX];
	int gpus;
	char gemm[256]; /* rocBLAS' version string */
	int node[HCS_NUMA_MAX];
	int nodes;
	unsigned int iterations, gemm_n;
	uint64_t copy_bytes, window_bytes;
	struct stall_phase control;	    /* evicted not 0: something else stopped the queues */
	unsigned int trials_wanted, trials; /* `trials` of them are complete */
	struct stall_trial *trial;
	unsigned int ranks;
	const struct stall_rank *rank; /* [1] and up; what rank 0 measured is above. NULL with one
					  rank */
	struct stall_ranks *shared;    /* the memory they are in */
};

#define STALL_MOVER_COMM "hcstall-mover"

/* Both print to stdout and return 0, or -1 when stdout does not take it. */
int stall_print_table(const struct stall_result *result);
int stall_print_json(const struct stall_result *result);

/* "moved", "refused", "done", "no page" or "part". */
const char *stall_outcome_name(enum stall_outcome outcome);

#endif
