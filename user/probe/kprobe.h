/* SPDX-License-Identifier: BSD-2-Clause */
/* A kprobe by address, which libbpf cannot make. */
#ifndef HCW_KPROBE_H
#define HCW_KPROBE_H

#include <stdbool.h>
#include <stdint.h>

/* The fd of a perf event for the function at `addr`, or -errno; -ENOENT where kprobes cannot be
 * opened by perf_event_open(2) (before 4.17). */
int hcw_kprobe_open(uint64_t addr, bool on_return);

#endif
