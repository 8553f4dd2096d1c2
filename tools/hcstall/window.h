/* SPDX-License-Identifier: BSD-2-Clause */
/* The pages that are moved: move_pages(2) on this process's own memory. */
#ifndef HCSTALL_WINDOW_H
#define HCSTALL_WINDOW_H

#include <stddef.h>

#define STALL_WINDOW_BYTES ((size_t)2 << 20)
#define STALL_WINDOW_PAGES 512 /* with pages of 4 KiB, fewer with larger ones */

struct stall_window {
	unsigned int count;
	void *page[STALL_WINDOW_PAGES];
	int status[STALL_WINDOW_PAGES]; /* the kernel's answer, or STALL_NO_ANSWER */
};

/* Makes a window of every page that [start, start + bytes) begins or contains, at most
 * STALL_WINDOW_PAGES. */
void stall_window_set(struct stall_window *w, void *start, size_t bytes);

/* Both are move_pages(): what it returned, with errno; w->status has the answers. */
long stall_window_query(struct stall_window *w);
long stall_window_move(struct stall_window *w, int node);

/* The node all pages are on by the last answers, -1 when there is none such. */
int stall_window_node(const struct stall_window *w);

#endif
