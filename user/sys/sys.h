/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conventions of hcsys, the leaf library of kernel-interface readers. libc only.
 *
 * Every reader takes `root`, a directory fd that stands for "/" (hcs_root() for the real one; tests
 * pass a fixture tree), and `deadline`, an absolute CLOCK_MONOTONIC time in ns (0 = none). The
 * deadline is checked before each read and each directory entry: one read that the kernel does not
 * answer (a process whose mmap_lock is held) cannot be interrupted and delays the return.
 *
 * Returns: 0 or a count on success, a negative errno on failure; -ETIMEDOUT when the deadline
 * passed, -EBADMSG when the file's text is not what the kernel writes, -E2BIG when it is longer
 * than allowed, -ENOENT also when the process or device vanished in the middle (ESRCH, ENODEV of
 * the kernel). Output is written only on success unless said otherwise.
 *
 * No global state; all functions are thread safe. Nothing is printed.
 */
#ifndef HCS_SYS_H
#define HCS_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An O_PATH fd of "/", to be closed by the caller; negative errno on failure. */
int hcs_root(void);

/* Now + ms, as a deadline. */
uint64_t hcs_deadline_ms(unsigned int ms);

/* CLOCK_BOOTTIME now, ns: the clock of every record. */
uint64_t hcs_boot_ns(void);

/*
 * Reads the whole file `path` (relative to root, no leading slash) into buf and NUL-terminates it.
 * Returns the bytes read, -E2BIG if the file has more than size - 1 bytes. buf is written in any
 * case.
 */
ssize_t hcs_read_file(int root, const char *path, char *buf, size_t size, uint64_t deadline);

/* Reads one unsigned decimal number, with or without a newline. */
int hcs_read_u64(int root, const char *path, uint64_t *value, uint64_t deadline);

/*
 * Calls line(text, ctx) for each line of a file of any length, without its newline; a line of more
 * than 4095 bytes is cut there. A non-zero return of `line` ends the walk and is returned. -EBADMSG
 * for a line with a NUL in it. `line` may change its text.
 */
int hcs_each_line(int root, const char *path, int (*line)(char *text, void *ctx), void *ctx,
		  uint64_t deadline);

#endif
