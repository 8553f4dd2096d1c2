/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two pools in memory no page of which can be moved, for reload.sh: the kernel refuses each
 * attempt, driver or not. absent GO END The first is tried at once, the second when the file GO
 * exists; the program ends when END does. The memory is a device's, of /dev/mem: VM_IO and
 * VM_PFNMAP (drivers/char/mem.c mmap_mem()).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../allocator/src/usdt.h"

#define PAGE 4096UL
#define MOVE 2 /* MPOL_MF_MOVE of linux/mempolicy.h */

/* The window of a VGA card: no memory of the kernel's, so it may be mapped. 0 when not. */
static uint64_t device_memory(void)
{
	int fd = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd >= 0)
		at = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0xa0000);
	if (at == MAP_FAILED)
		perror("/dev/mem");
	return at == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)at;
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
	uint64_t at = device_memory();

	if (argc != 3 || !at) {
		fputs("Usage: absent GO END   (and /dev/mem)\n", stderr);
		return 2;
	}
	pool("first", at);
	wait_for(argv[1]);
	pool("second", at + PAGE);
	wait_for(argv[2]);
	return 0;
}
