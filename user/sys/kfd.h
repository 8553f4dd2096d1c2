/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KFD's sysfs: topology and per-process eviction time. Source: drivers/gpu/drm/amd/amdkfd,
 * kfd_process.c kfd_procfs_stats_show() and kfd_topology.c node_show(), Linux 6.1 to 7.3.
 */
#ifndef HCS_KFD_H
#define HCS_KFD_H

#include "sys.h"

#define HCS_KFD_MAX_GPUS 128 /* CPX mode: 8 sockets x 8 partitions, twice */

struct hcs_evicted {
	uint32_t gpuid;	     /* decimal id, as in topology/nodes/N/gpu_id */
	uint64_t evicted_ms; /* grows only when a restore has finished; one jiffy of resolution */
};

/*
 * Reads /sys/class/kfd/kfd/proc/<pid>/stats_<gpuid>/evicted_ms of every GPU, sorted by gpuid.
 * `pid` is the host (init namespace) pid. Returns the number of GPUs (may be 0), -ENOENT when KFD
 * does not know the process or there is no KFD, -E2BIG when there are more than `max`.
 */
int hcs_kfd_evicted(int root, pid_t pid, struct hcs_evicted *out, size_t max, uint64_t deadline);

/*
 * Calls fn(pid, ctx) for every process KFD knows, by its host pid, in no order. A non-zero return
 * of `fn` ends the walk and is returned. -ENOENT without KFD.
 */
int hcs_kfd_each(int root, int (*fn)(pid_t pid, void *ctx), void *ctx, uint64_t deadline);

/*
 * gpu_id of every GPU node of /sys/class/kfd/kfd/topology, in node order. Left out: CPU nodes
 * (gpu_id 0) and GPUs that the device cgroup hides from this process. Count or -errno; -ENOENT
 * without KFD.
 */
int hcs_kfd_gpus(int root, uint32_t *gpuid, size_t max, uint64_t deadline);

#endif
