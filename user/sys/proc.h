/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/<pid>: identity of a process. */
#ifndef HCS_PROC_H
#define HCS_PROC_H

#include "sys.h"

struct hcs_proc {
	pid_t tgid, parent;
	char state;    /* 'R', 'S', 'Z' … */
	char comm[64]; /* any byte but NUL; kernel workers have long names */
	unsigned int
		threads; /* alive; more than one in state 'Z': only the first thread has ended */
	uint64_t start_ticks; /* since boot, in clock ticks: with tgid the identity of a process */
};

/*
 * From /proc/<pid>/stat (0 = self); a comm with blanks or ')' in it is read rightly. -ENOENT when
 * it is gone. `pid` is a process id: for another thread's id the values would be that thread's.
 */
int hcs_proc_read(int root, pid_t pid, struct hcs_proc *out, uint64_t deadline);

/*
 * cmdline with its NULs turned into blanks, NUL terminated, cut to size. Returns its length (0 for
 * kernel threads). The kernel reads it from the process's memory under its mmap_lock.
 */
ssize_t hcs_proc_cmdline(int root, pid_t pid, char *buf, size_t size, uint64_t deadline);

/*
 * The program a process runs, as /proc/<pid>/exe names it (a deleted file ends in " (deleted)"),
 * NUL terminated. Returns its length, -ENOENT for kernel threads and processes that are gone,
 * -EACCES when it is not ours to look at, -E2BIG.
 */
ssize_t hcs_proc_exe(int root, pid_t pid, char *buf, size_t size, uint64_t deadline);

/*
 * Calls fn(pid, ctx) for every process (thread group) there is, in no order; one that starts
 * meanwhile may be missed. A non-zero return of `fn` ends the walk and is returned.
 */
int hcs_proc_each(int root, int (*fn)(pid_t pid, void *ctx), void *ctx, uint64_t deadline);

#endif
