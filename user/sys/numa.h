/* SPDX-License-Identifier: BSD-2-Clause */
/* NUMA nodes: those with memory, and those this process may use. */
#ifndef HCS_NUMA_H
#define HCS_NUMA_H

#include "sys.h"

#define HCS_NUMA_MAX 64

/* Nodes that have memory (MemTotal > 0), ascending. Numbers can have gaps. Returns the count;
 * -ENOENT on a kernel without NUMA. */
int hcs_numa_nodes(int root, int *node, size_t max, uint64_t deadline);

/* The same, limited to Mems_allowed_list of /proc/<pid>/status (0 = self). */
int hcs_numa_allowed(int root, pid_t pid, int *node, size_t max, uint64_t deadline);

/*
 * Parses a kernel list such as "0-2,5", with or without a newline, into ascending numbers; an empty
 * list is 0 numbers. Count, -EBADMSG, -E2BIG.
 */
int hcs_parse_list(const char *text, int *out, size_t max);

#endif
