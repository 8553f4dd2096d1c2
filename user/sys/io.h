/* SPDX-License-Identifier: BSD-2-Clause */
/* File access shared by the readers. Internal to hcsys. Conventions: sys.h. */
#ifndef HCS_IO_H
#define HCS_IO_H

#include "sys.h"

#define HCS_PATH \
	192 /* longest path built here: fixed text, a directory entry of 64 bytes, numbers */

/* -ETIMEDOUT when the deadline has passed, else 0. */
int hcs_late(uint64_t deadline);

/* -errno of a failed call. ESRCH and ENODEV, which /proc and sysfs give for a vanished object,
 * become -ENOENT. */
int hcs_errno(void);

/* snprintf for paths: 0 or -ENAMETOOLONG. */
int hcs_path(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* "proc/self/<file>" for pid 0, "proc/<pid>/<file>" otherwise; -EINVAL for a negative pid. */
int hcs_proc_path(char *buf, size_t size, pid_t pid, const char *file);

/* The first size - 1 bytes of a file, NUL terminated. Returns the bytes read; a longer file is not
 * an error. */
ssize_t hcs_read_head(int root, const char *path, char *buf, size_t size, uint64_t deadline);

/* Calls entry(name, ctx) for each name but . and .. of a directory; a non-zero return ends the walk
 * and is returned. */
int hcs_each_name(int root, const char *path, int (*entry)(const char *name, void *ctx), void *ctx,
		  uint64_t deadline);

/* The same for the names that are a pid: fn(pid, ctx). In proc.c. */
int hcs_each_process(int root, const char *path, int (*fn)(pid_t pid, void *ctx), void *ctx,
		     uint64_t deadline);

/* 1 and *number when name is prefix + decimal number up to max, else 0. */
int hcs_name_number(const char *name, const char *prefix, uint64_t max, uint64_t *number);

/* Ascending order for qsort. */
int hcs_compare_int(const void *a, const void *b);

#endif
