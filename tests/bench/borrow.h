/* SPDX-License-Identifier: BSD-2-Clause */
/* The BPF maps of another process, found by what /proc/PID/fdinfo says of its files. */
#ifndef BENCH_BORROW_H
#define BENCH_BORROW_H

#include <sys/types.h>
#include "runner.h"

/*
 * Opens every map the process holds, with its name. Names are cut at 15 characters by the kernel.
 * Returns their number, at most max, or -errno; the fds are the caller's.
 */
int bench_borrow(pid_t pid, struct bench_shared *out, size_t max);

/* -ENOENT when there is none of that name. */
int bench_borrowed(const struct bench_shared *maps, size_t n, const char *name);

#endif
