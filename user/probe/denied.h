/* SPDX-License-Identifier: BSD-2-Clause */
/* Why BPF cannot be used here, told from what the kernel says of this process. */
#ifndef HCW_DENIED_H
#define HCW_DENIED_H

#include "../base/err.h"

/* What is left without probes. */
#define HCW_WITHOUT_BPF                                                                  \
	"Without probes there are still: hcwatch doctor, hcwatch report, hcstall, and\n" \
	"each process's evicted_ms in /sys/class/kfd/kfd/proc/PID/stats_GPU."

/*
 * Tries whether tracing programs can be loaded at all, with the smallest there is: 0, or -errno.
 * Cheaper than trying each of ours.
 */
int hcw_bpf_try(void);

/*
 * Fills `err` for a refusal `ret` of bpf(2), and returns `ret`. `root` stands for "/"; -1: nothing
 * can be read.
 */
int hcw_bpf_denied(struct hcw_err *err, int ret, int root);

/* The same for type information of the kernel that is missing (-ENODATA) or bad (-EBADMSG). */
int hcw_btf_missing(struct hcw_err *err, int ret);

#endif
