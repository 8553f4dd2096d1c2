/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/mempolicy.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "stats.h"
#include "window.h"

void stall_window_set(struct stall_window *w, void *start, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t addr = (uintptr_t)start & ~(page - 1);
	uintptr_t end = (uintptr_t)start + bytes;

	for (w->count = 0; addr < end && w->count < STALL_WINDOW_PAGES; addr += page)
		w->page[w->count++] = (void *)addr;
}

static long call(struct stall_window *w, const int *nodes)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		w->status[i] = STALL_NO_ANSWER;
	return syscall(SYS_move_pages, 0, (unsigned long)w->count, w->page, nodes, w->status,
		       MPOL_MF_MOVE);
}

long stall_window_query(struct stall_window *w)
{
	return call(w, NULL);
}

long stall_window_move(struct stall_window *w, int node)
{
	int nodes[STALL_WINDOW_PAGES];
	unsigned int i;

	for (i = 0; i < w->count; i++)
		nodes[i] = node;
	return call(w, nodes);
}

int stall_window_node(const struct stall_window *w)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (w->status[i] < 0 || w->status[i] != w->status[0])
			return -1;
	return w->count ? w->status[0] : -1;
}
