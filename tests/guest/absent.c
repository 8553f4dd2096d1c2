/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two pools in memory no page of which can be moved, for reload.sh: the kernel refuses each
 * attempt, driver or not. absent GO END The first is tried at once, the second when the file GO
 * exists; the program ends when END does. "vdso" memory of every process: VM_IO and VM_PFNMAP (lab:
 * -EFAULT for each page).
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../allocator/src/usdt.h"

#define PAGE 4096UL
#define MOVE 2 /* MPOL_MF_MOVE of linux/mempolicy.h */

static uint64_t vvar(void)
{
	unsigned long long lo = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vvar]") && sscanf(line, "%llx-", &lo) == 1)
			break;
	if (f)
		fclose(f);
	return lo;
}

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		usleep(20000);
}

/* A pool of one page, and a move that is refused. */
static void pool(const char *name, uint64_t at)
{
	void *page = (void *)(uintptr_t)at;
	int node = 0, status = 0;

	usdt_alloc(at, PAGE, 0);
	usleep(1500000); /* its mapping is read meanwhile */
	if (syscall(SYS_move_pages, 0, 1UL, &page, &node, &status, MOVE))
		perror("move_pages");
	printf("%s %llx %d\n", name, (unsigned long long)at, status);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t at = vvar();

	if (argc != 3 || !at) {
		fputs("Usage: absent GO END   (and a [vvar] mapping)\n", stderr);
		return 2;
	}
	pool("first", at);
	wait_for(argv[1]);
	pool("second", at + PAGE);
	wait_for(argv[2]);
	return 0;
}
