/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "stats.h"
#include "window.h"

int stall_window_open(struct stall_window *w, void *start, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t addr = (uintptr_t)start & ~(page - 1);
	uintptr_t end = ((uintptr_t)start + bytes + page - 1) & ~(page - 1);
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->start = (void *)addr;
	w->bytes = end - addr;
	w->count = (unsigned int)(w->bytes / page);
	w->page = calloc(w->count, sizeof(*w->page));
	w->node = calloc(w->count, sizeof(*w->node));
	w->status = calloc(w->count, sizeof(*w->status));
	w->before = calloc(w->count, sizeof(*w->before));
	if (!w->page || !w->node || !w->status || !w->before) {
		stall_window_close(w);
		return -ENOMEM;
	}
	for (i = 0; i < w->count; i++)
		w->page[i] = (void *)(addr + i * page);
	return 0;
}

void stall_window_close(struct stall_window *w)
{
	free(w->page);
	free(w->node);
	free(w->status);
	free(w->before);
	memset(w, 0, sizeof(*w));
}

/* The array is filled first with what no kernel answers: a call that ends early writes only a part
 * of it. */
static long call(const struct stall_window *w, pid_t pid, const int *nodes, int *status)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		status[i] = STALL_NO_ANSWER;
	return syscall(SYS_move_pages, (long)pid, (unsigned long)w->count, w->page, nodes, status,
		       MPOL_MF_MOVE);
}

long stall_window_query(const struct stall_window *w, pid_t pid, int *status)
{
	return call(w, pid, NULL, status);
}

long stall_window_move(struct stall_window *w, pid_t pid, int node, int *status)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		w->node[i] = node;
	return call(w, pid, w->node, status);
}

int stall_window_node(const struct stall_window *w, const int *status)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (status[i] < 0 || status[i] != status[0])
			return -1;
	return w->count ? status[0] : -1;
}
