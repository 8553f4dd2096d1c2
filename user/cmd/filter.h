/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whom a tracing is about: -p, --comm, --cgroup, --all. All of them select victims, whose pages
 * move, never those who move them. Several are a union.
 *
 * A process of -p is named by its pid on the host or, where nobody has that number there, by the
 * one it has in its container's pid namespace; "97@4026532441" says which namespace.
 */
#ifndef HCW_FILTER_H
#define HCW_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../base/err.h"

#define FILTER_MAX 64 /* of each kind */

struct filter_pid {
	pid_t number;
	uint64_t ns; /* inode of the pid namespace it is a number of, 0 = not said */
};

struct filter {
	struct filter_pid pid[FILTER_MAX];
	const char *comm[FILTER_MAX];	/* not owned; a pattern of fnmatch(3) or a name */
	const char *cgroup[FILTER_MAX]; /* not owned; begins with a slash */
	size_t n_pids, n_comms, n_cgroups;
	bool all;
};

/* A process that a filter_pid names. */
struct filter_process {
	pid_t pid;   /* as /proc numbers it */
	pid_t inner; /* in the namespace it was named by, 0 = /proc's own */
	uint64_t ns; /* inode of that namespace, 0 = not known */
	char comm[64];
};

/*
 * Take the argument of an option: 0, or -EINVAL with a message in `why` that fits "--comm: %s".
 * Strings are kept, not copied.
 */
int filter_add_pid(struct filter *f, const char *text, const char **why);
int filter_add_comm(struct filter *f, const char *text, const char **why);
int filter_add_cgroup(struct filter *f, const char *text, const char **why);

/* Whether anybody is named at all. */
bool filter_named(const struct filter *f);

/* Whether processes to come can match, too. */
bool filter_waits(const struct filter *f);

/* Whether --comm or --cgroup takes this process. One that is gone or not ours to look at: no. */
bool filter_takes(const struct filter *f, int root, pid_t pid);

/*
 * Finds the process. With several, or none, err lists them and says what to do. When an inner
 * number of another process is the same, and that one uses KFD, it is put into *other (pid 0
 * otherwise).
 */
int filter_find(int root, const struct filter_pid *named, struct filter_process *out,
		struct filter_process *other, struct hcw_err *err);

/*
 * Fails, naming it, when a --comm or --cgroup has nobody now. *at_kfd: how many of those it has
 * use KFD.
 */
int filter_check(const struct filter *f, int root, size_t *at_kfd, struct hcw_err *err);

/* "-p 97, --comm sglang*" into buf, cut to size. */
void filter_text(const struct filter *f, char *buf, size_t size);

/* What the pids in /proc are. Probes tell those of the initial namespace. */
enum filter_pids {
	FILTER_PIDS_HOST,    /* the same */
	FILTER_PIDS_INNER,   /* those of another namespace, which we are in */
	FILTER_PIDS_FOREIGN, /* those of a namespace we are not in */
};

enum filter_pids filter_pids(int root);

/* A child of ours as /proc numbers it, when that is the host's; -ENOENT. */
pid_t filter_child(int root, pid_t child);

#endif
