/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows on real memory and two nodes: what hcstall counts must equal what an independent query of
 * the pages says. Prints "name moved no_page requeried shared query_moved" a case:
 * move_pages(nodes = NULL) of one page at a time, after the counting.
 *
 * Usage: window_check NODE     the node to move to; the memory is made on the other ones
 */
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../../tools/hcstall/stats.h"
#include "../../../tools/hcstall/window.h"

#define MIB ((size_t)1 << 20)

static unsigned int query_pages(const struct stall_window *w, int node)
{
	unsigned int i, found = 0;
	int status;

	for (i = 0; i < w->count; i++) {
		status = -1;
		if (!syscall(SYS_move_pages, 0, 1ul, &w->page[i], NULL, &status, 0) &&
		    status == node)
			found++;
	}
	return found;
}

static void check(const char *name, char *mem, size_t bytes, int node)
{
	struct stall_pages p;
	struct stall_window w;

	if (stall_window_open(&w, mem, bytes))
		exit(3);
	stall_window_query(&w, 0, w.before);
	if (stall_window_move(&w, 0, node, w.status) < 0)
		perror(name);
	stall_window_query(&w, 0, w.node);
	p = stall_count(w.before, w.status, w.node, w.count, node);
	printf("%s %u %u %u %u %u\n", name, p.moved, p.efault + p.enoent, p.requeried, p.eacces,
	       query_pages(&w, node));
	fflush(stdout);
	stall_window_close(&w);
}

/* Aligned to 2 MiB, on any node but `node`; not written. */
static char *map(size_t bytes, int node)
{
	unsigned long away = ~(1ul << node) & 3;
	char *mem = mmap(NULL, bytes + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (mem == MAP_FAILED)
		exit(3);
	syscall(SYS_mbind, mem, bytes + 2 * MIB, (long)MPOL_BIND, &away, 64ul, 0ul);
	return (char *)(((uintptr_t)mem + 2 * MIB - 1) & ~(2 * MIB - 1));
}

static void small_pages(const char *name, size_t bytes, int node)
{
	char *mem = map(bytes, node);

	madvise(mem, bytes, MADV_NOHUGEPAGE);
	memset(mem, 1, bytes);
	check(name, mem, bytes, node);
}

/* One page in three was never touched, one in three only read. */
static void holes(int node)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	char *mem = map(2 * MIB, node);

	madvise(mem, 2 * MIB, MADV_NOHUGEPAGE);
	for (i = 0; i < 512; i++) {
		if (i % 3 == 0)
			mem[i * page] = 1;
		else if (i % 3 == 1)
			(void)*(volatile char *)&mem[i * page];
	}
	check("holes", mem, 512 * page, node);
}

static void huge_page(int node)
{
	char *mem = map(2 * MIB, node);

	madvise(mem, 2 * MIB, MADV_HUGEPAGE);
	memset(mem, 1, 2 * MIB);
	check("thp", mem, 2 * MIB, node);
}

/* Of hugetlb the second address is -EACCES (6.1), as of a THP it is -EBUSY; skipped where none is
 * reserved. */
static void hugetlb(int node)
{
	unsigned long away = ~(1ul << node) & 3;
	char *mem = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (mem == MAP_FAILED)
		return;
	syscall(SYS_mbind, mem, 2 * MIB, (long)MPOL_BIND, &away, 64ul, 0ul);
	memset(mem, 1, 2 * MIB);
	check("hugetlb", mem, 2 * MIB, node);
	munmap(mem, 2 * MIB);
}

/* B7: a child that has the pages, too. */
static void shared(int node)
{
	char *mem = map(8 * 4096, node);
	int to_child[2];
	char byte;
	pid_t pid;

	madvise(mem, 8 * 4096, MADV_NOHUGEPAGE);
	memset(mem, 1, 8 * 4096);
	if (pipe(to_child))
		exit(3);
	pid = fork();
	if (!pid) {
		close(to_child[1]);
		_exit(read(to_child[0], &byte, 1) != 0);
	}
	check("shared", mem, 8 * 4096, node);
	close(to_child[1]);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	int node = argc > 1 ? atoi(argv[1]) : 1;

	small_pages("1mib", MIB, node);
	small_pages("2mib", 2 * MIB, node);
	small_pages("8mib", 8 * MIB, node);
	huge_page(node);
	hugetlb(node);
	holes(node);
	shared(node);
	return 0;
}
