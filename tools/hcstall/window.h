/* SPDX-License-Identifier: BSD-2-Clause */
/* The pages that are moved, and what move_pages(2) says about them. */
#ifndef HCSTALL_WINDOW_H
#define HCSTALL_WINDOW_H

#include <stddef.h>
#include <sys/types.h>

#define STALL_WINDOW_MAX_MIB 1024 /* more statuses than a tracer reads (262,144) help nobody */

struct stall_window {
	void *start; /* of the first page */
	size_t bytes;
	unsigned int count;
	void **page;
	int *node;   /* scratch: where each page shall go */
	int *status; /* the kernel's last answer, or STALL_NO_ANSWER */
	int *before; /* answers from before the trial */
};

/* A window of every page that [start, start + bytes) begins or contains. 0 or -ENOMEM. */
int stall_window_open(struct stall_window *w, void *start, size_t bytes);
void stall_window_close(struct stall_window *w);

/*
 * Both are move_pages() of process `pid` (0 = this one): what it returned, with errno. `status` has
 * w->count entries and gets the answers; w->status is one to pass.
 */
long stall_window_query(const struct stall_window *w, pid_t pid, int *status);
long stall_window_move(struct stall_window *w, pid_t pid, int node, int *status);

/* The node all pages are on by these answers, -1 when there is none such. */
int stall_window_node(const struct stall_window *w, const int *status);

#endif
