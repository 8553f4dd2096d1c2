/* SPDX-License-Identifier: BSD-2-Clause */
/* What `hcwatch lab` measured, and its two renderers. */
#ifndef HCW_OUT_LAB_H
#define HCW_OUT_LAB_H

#include "report.h"

#define LAB_MAX_TRIALS 100
#define LAB_MAX_ARMS   8

struct lab_evicted {
	__u32 gpuid;
	__u64 ms;
};

struct lab_trial {
	/* as hcstall counted */
	__u64 begin_ns, end_ns;		       /* CLOCK_BOOTTIME */
	__u64 attempted, moved, efault, other; /* all 0 when the trigger moves nothing */
	char outcome[16];		       /* hcstall's word: moved, refused, done, ... */
	__u32 mover_pid;		       /* process that fired the trigger, 0 = not told */
	double max_iteration_ms;
	struct lab_evicted evicted[HCW_MAX_GPUS];
	size_t n_evicted;
	bool evicted_known; /* false: evicted_ms could not be read */
	/* as the trace saw it */
	__u64 traced_moved; /* pages migrated at the request of hcstall or its helper */
	__u64 episodes, passes, episode_ns;
	__u64 stalled_ns; /* longest iteration that overlaps an episode of the trial, 0 = none */
	bool open;	  /* an episode had no end */
	struct hcw_actor actor; /* who started the first episode; tid 0 = none */
};

struct lab_arm {
	char allocator[32];
	__u64 pool_bytes;
	double control_median_ms, control_max_ms;
	struct lab_trial trial[LAB_MAX_TRIALS];
	size_t n_trials;
	enum hcw_verdict_word verdict; /* by lab's criterion: immune only by trial */
	enum hcw_evidence evidence;
	unsigned int reasons;
	char path[64]; /* of the pool's mapping */
	__u32 vmflags;
	__u64 lost;
	bool measured; /* hcstall said it measured all it was asked to */
};

struct lab_result {
	char device[64], driver[32], gemm[128];
	char trigger[32]; /* hcstall's name for what was done to the pools, "" = not told */
	bool simulated;
	size_t n_gpus;
	struct hcw_trace_info info; /* of the first arm's trace: kernel, probes */
	struct lab_arm *arm[LAB_MAX_ARMS];
	size_t n_arms;
	__u64 lost;
};

void lab_text(FILE *f, const struct lab_result *r);

/* One JSON object and a newline. 0, or -ENOMEM / -EIO. */
int lab_json(FILE *f, const struct lab_result *r);

#endif
