/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run measured: plain data, filled by run.c, rendered by table.c and json.c. */
#ifndef HCSTALL_RESULT_H
#define HCSTALL_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../../allocator/include/hcpool/hcpool.h"
#include "../../user/sys/drm.h"
#include "../../user/sys/kfd.h"
#include "../../user/sys/numa.h"

/* What the kernel answered for the pages of one move_pages(). The sum of the last six is
 * `attempted`. */
struct stall_pages {
	unsigned int attempted;
	unsigned int moved; /* status is the target node */
	unsigned int efault, enoent, ebusy, eacces;
	unsigned int other; /* also: on another node, or no answer written */
};

/* evicted_ms of every GPU of this process. */
struct stall_evicted {
	int count; /* -1: not readable */
	struct hcs_evicted gpu[HCS_KFD_MAX_GPUS];
};

struct stall_trial {
	uint64_t begin_ns, end_ns; /* CLOCK_BOOTTIME, as all times */
	int target_node;
	long rc;   /* of move_pages */
	int error; /* its errno, 0 when rc >= 0 */
	struct stall_pages pages;
	uint64_t move_begin_ns, move_end_ns;
	pid_t mover_tid;
	uint64_t median_ns, max_ns, max_begin_ns; /* of the iterations */
	struct stall_evicted evicted;		  /* how much it grew */
	bool copy_ok;
};

struct stall_result {
	const char *allocator;
	struct hcpool_info pool;
	char device_name[256];
	char driver[32]; /* of the GPU's render node */
	bool simulated;	 /* the driver is not amdgpu */
	struct hcs_drm_node gpu[HCS_DRM_MAX];
	int gpus;
	char gemm[256]; /* rocBLAS' version string */
	int node[HCS_NUMA_MAX];
	int nodes;
	unsigned int iterations;
	uint64_t control_median_ns, control_max_ns;
	struct stall_evicted control_evicted; /* not 0: something else stopped the queues */
	unsigned int trials_wanted, trials;   /* `trials` of them are complete */
	struct stall_trial *trial;
};

#define STALL_MOVER_COMM "hcstall-mover"

/* Both print to stdout and return 0, or -1 when stdout does not take it. */
int stall_print_table(const struct stall_result *result);
int stall_print_json(const struct stall_result *result);

#endif
