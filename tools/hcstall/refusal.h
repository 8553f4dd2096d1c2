/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a call was refused, or a page did not move: what, why, what to do. Each is a class with its
 * own text and exit code. */
#ifndef HCSTALL_REFUSAL_H
#define HCSTALL_REFUSAL_H

#include "err.h"
#include "result.h"

/* Who refused what; for the text. */
struct stall_refused {
	const char *trigger; /* "move_pages", … */
	int error;	     /* errno */
	int target_node;
	pid_t other;	     /* process whose pages were asked for, 0 = this one */
	unsigned int moved;  /* pages that had moved before the call failed */
	const char *allowed; /* Mems_allowed_list, "" when not known */
};

/* A trigger that failed as a whole. Returns -1. */
int stall_refused(int root, const struct stall_refused *r, struct stall_err *err);

/*
 * What a process id stands for, when it is no live process with memory: gone, a zombie, a kernel
 * thread. -1 with err (HCW_EXIT_USAGE) then, 0 when there is nothing to say against it.
 */
int stall_check_pid(int root, pid_t pid, struct stall_err *err);

/* Mems_allowed_list of this task, "" when it cannot be read. */
void stall_mems_allowed(int root, char *text, size_t size);

/*
 * What a trial that did not answer the question says: a line for each kind of page, "" when there
 * is nothing to explain. `hugetlb`: the pool is of such pages.
 */
void stall_explain(const struct stall_trial *t, const struct stall_trigger *trigger, bool hugetlb,
		   char *text, size_t size);

#endif
