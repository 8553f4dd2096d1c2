/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves pages of another process back and forth: for prolong.sh.
 *   mover NAME PID PAGES CALLS PERIOD_MS
 * The first PAGES of the middle of PID's largest anonymous mapping, to the node they are not on,
 * CALLS times, one every PERIOD_MS. Calls itself NAME. Prints its thread id and what was moved.
 */
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	  4096UL
#define MAX_PAGES 1024

struct window {
	pid_t pid;
	unsigned long pages;
	void *page[MAX_PAGES];
	int node[MAX_PAGES], status[MAX_PAGES];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A shared pool is a deleted file of /dev/zero, a private one has no name. */
static void find_pool(struct window *w)
{
	unsigned long start, end, size = 0, middle = 0, i;
	char path[32], line[512], mode[8];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", w->pid);
	maps = fopen(path, "re");
	if (!maps)
		die(path);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) != 3 || mode[0] != 'r' ||
		    mode[1] != 'w' || end - start <= size)
			continue;
		size = end - start;
		middle = start + size / 2 / PAGE * PAGE;
	}
	fclose(maps);
	if (size / 2 < w->pages * PAGE) {
		fprintf(stderr, "mover: process %d has no mapping that large\n", w->pid);
		exit(1);
	}
	for (i = 0; i < w->pages; i++)
		w->page[i] = (void *)(middle + i * PAGE);
}

/* Number of pages that went to the node asked for. */
static unsigned long move(struct window *w, int target)
{
	unsigned long i, moved = 0;

	for (i = 0; i < w->pages; i++)
		w->node[i] = target;
	if (syscall(SYS_move_pages, w->pid, w->pages, w->page, w->node, w->status, MPOL_MF_MOVE) <
	    0)
		die("move_pages");
	for (i = 0; i < w->pages; i++)
		moved += w->status[i] == target;
	return moved;
}

static int node_of_first(struct window *w)
{
	if (syscall(SYS_move_pages, w->pid, 1, w->page, NULL, w->status, 0))
		die("move_pages query");
	return w->status[0];
}

int main(int argc, char **argv)
{
	static struct window w;
	unsigned long calls, period_ms, i, moved = 0;
	int target;

	w.pages = argc == 6 ? strtoul(argv[3], NULL, 10) : 0;
	if (!w.pages || w.pages > MAX_PAGES) {
		fprintf(stderr, "usage: mover NAME PID PAGES CALLS PERIOD_MS (up to %d pages)\n",
			MAX_PAGES);
		return 2;
	}
	prctl(PR_SET_NAME, argv[1]);
	w.pid = (pid_t)strtol(argv[2], NULL, 10);
	calls = strtoul(argv[4], NULL, 10);
	period_ms = strtoul(argv[5], NULL, 10);
	find_pool(&w);
	target = node_of_first(&w) == 0;
	for (i = 0; i < calls; i++) {
		if (i)
			usleep((useconds_t)period_ms * 1000);
		moved += move(&w, target);
		target = !target;
	}
	printf("tid %d\nmoved %lu\n", getpid(), moved);
	return 0;
}
