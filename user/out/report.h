/* SPDX-License-Identifier: BSD-2-Clause */
/* Renderers of one analysed trace. They read the model and print; they decide nothing. */
#ifndef HCW_REPORT_H
#define HCW_REPORT_H

#include <stdio.h>
#include "../chain/chain.h"

#define HCW_MAX_PROBES 32
#define HCW_MAX_GPUS   128

struct hcw_probe_info {
	char point[32], tier[16], target[64], reason[160];
	bool active;
};

struct hcw_gpu_info {
	unsigned int render; /* minor of the render node */
	char driver[32];
};

/* What a trace's header says; every string is untrusted. */
struct hcw_trace_info {
	char tool[64], host[65], kernel[65];
	struct hcw_probe_info probe[HCW_MAX_PROBES];
	size_t n_probes;
	struct hcw_gpu_info gpu[HCW_MAX_GPUS];
	size_t n_gpus;
	bool simulated; /* a GPU of it is not driven by amdgpu */
	__u32 target;	/* tgid, 0 = every process */
	char target_cmdline[256];
	char filter[160];      /* who was watched, as options; "" = a command, or every process */
	__s64 realtime_offset; /* CLOCK_REALTIME - CLOCK_BOOTTIME, ns */
	bool cut;	       /* the file ends in the middle */
	__u64 file_bytes;      /* its length, 0 = not known (a pipe) */
};

/* Whether nothing is ever "clean" or "immune" without this probe point. */
bool report_point_needed(const char *point);

/* Whether anything is missing that makes the report "at least". */
bool report_incomplete(const struct hcw_trace_info *info, const struct hcw_model *m);

/* Whether the trace watched a process and nothing of it was ever seen at KFD: neither a sample of
 * its evicted_ms, nor an episode or a part of one, nor a pool. */
bool report_not_at_kfd(const struct hcw_trace_info *info, const struct hcw_model *m);

/*
 * "stalled": an episode was seen. "clean": none, and everything was watched. "cannot-tell": none,
 * but something was not watched.
 */
const char *report_verdict(const struct hcw_trace_info *info, const struct hcw_model *m);

/* Exit code of `hcwatch report`: incomplete before finding (an episode or an exposed pool) before
 * ok. */
enum hcw_exit report_exit(const struct hcw_trace_info *info, const struct hcw_model *m);

/* The text of `hcwatch report`, at most 80 columns wide. `path` is the name shown; `bold` sets
 * headings off with escape sequences, for a terminal. */
void report_text(FILE *f, const char *path, const struct hcw_trace_info *info,
		 const struct hcw_chain *chain, bool bold);

/* One JSON object (schema 1, hcwatch-report(8)) and a newline. 0 or -EIO. */
int report_json(FILE *f, const char *path, const struct hcw_trace_info *info,
		const struct hcw_chain *chain);

#endif
