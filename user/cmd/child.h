/* SPDX-License-Identifier: BSD-2-Clause */
/* The command hcwatch runs: started held, so that everything is attached before its first
 * instruction. */
#ifndef HCW_CHILD_H
#define HCW_CHILD_H

#include <stdbool.h>
#include <sys/types.h>
#include "../base/err.h"

struct hcw_child {
	pid_t pid;
	int hold_fd;  /* closing it lets the child exec */
	int error_fd; /* errno of a failed exec arrives here */
	bool ours;
	bool released;
	bool ended;
	int status; /* as from waitpid(), valid when ended */
};

/*
 * Forks and holds the child. stdout_fd -1 = inherit; it is not closed here. `ours`: the command is
 * our own tool, which dies with us; otherwise it is the user's, whom we only watch.
 */
int child_start(struct hcw_child *c, char *const argv[], int stdout_fd, bool ours,
		struct hcw_err *err);

/* Lets it exec; fails when exec failed. */
int child_release(struct hcw_child *c, struct hcw_err *err);

/* Looks, without waiting, whether it ended. */
bool child_ended(struct hcw_child *c);

/*
 * Passes `sig` on (0 = it has had it already) and waits up to `ms`. Then a command of our own is
 * killed; one of the user's is left running. One that was never released is killed in any case: it
 * is still ourselves.
 */
void child_leave(struct hcw_child *c, int sig, unsigned int ms);

/* Finds `name` as execvp would. 0, or -ENOENT. */
int child_path(const char *name, char *buf, size_t size);

#endif
