/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves 2 MiB of its own pool, as hcstall does: for each line on stdin one move_pages() call to the
 * other node, and the ns it took on stdout. The pool is SGLang's kind, registered at the test GPU,
 * so that every page tells a notifier. First it prints its pid.
 *   bench_move
 */
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "gpusim_uapi.h"

#define PAGE  4096UL
#define MOVED 512
#define POOL  (64UL << 20)

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The files stay open: the last one closed would unregister the pool. */
static char *make_pool(void)
{
	int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	int gpu = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	char *pool = mmap(NULL, POOL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct gpusim_range range = {.addr = (uintptr_t)pool, .len = POOL};

	if (kfd < 0 || gpu < 0)
		die("cannot open the test GPU");
	if (pool == MAP_FAILED)
		die("mmap");
	memset(pool, 1, POOL);
	if (ioctl(gpu, GPUSIM_IOCTL_REGISTER, &range))
		die("GPUSIM_IOCTL_REGISTER");
	return pool;
}

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

/* All pages must have gone: a call that moves nothing is fast. */
static unsigned long long move(char *base, int to)
{
	int node[MOVED], status[MOVED], i;
	unsigned long long start;
	void *page[MOVED];

	for (i = 0; i < MOVED; i++) {
		page[i] = base + (size_t)i * PAGE;
		node[i] = to;
		status[i] = -1;
	}
	start = now_ns();
	if (syscall(SYS_move_pages, 0, (long)MOVED, page, node, status, MPOL_MF_MOVE))
		die("move_pages");
	start = now_ns() - start;
	for (i = 0; i < MOVED; i++)
		if (status[i] != to) {
			fprintf(stderr, "bench_move: page %d: status %d\n", i, status[i]);
			exit(1);
		}
	return start;
}

int main(void)
{
	char *pool = make_pool(), line[16];
	int to = 1;

	move(pool + POOL / 2, !to);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%llu\n", move(pool + POOL / 2, to));
		fflush(stdout);
		to = !to;
	}
	return 0;
}
