/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Left out, because they touch more than this process or cannot be undone: NUMA balancing, KSM,
 * compaction and drop_caches (settings of the host), MADV_SOFT_OFFLINE (the page is lost),
 * MADV_COLLAPSE (the huge page stays).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "triggers.h"

#define MAX_NODES 1024

struct node_mask {
	unsigned long bits[MAX_NODES / (8 * sizeof(unsigned long))];
};

static struct node_mask only(int node)
{
	const unsigned int width = 8 * sizeof(unsigned long);
	struct node_mask mask = {{0}};

	mask.bits[(unsigned int)node / width] = 1ul << ((unsigned int)node % width);
	return mask;
}

static long fire_move_pages(const struct stall_shot *shot)
{
	return stall_window_move(shot->window, 0, shot->target, shot->window->status);
}

static long fire_other(const struct stall_shot *shot)
{
	return stall_helper_move(shot->helper, shot->window, shot->target);
}

/*
 * With CAP_SYS_NICE, migrate_pages(2) also moves what others share with us, such as the C library
 * (mm/mempolicy.c kernel_migrate_pages(), MPOL_MF_MOVE_ALL). The calling thread lives for one
 * trial: what it gives up is given up with it.
 */
static int drop_sys_nice(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return -1;
	data[0].effective &= ~(1u << CAP_SYS_NICE);
	return (int)syscall(SYS_capset, &header, data);
}

static long fire_migrate_pages(const struct stall_shot *shot)
{
	struct node_mask from = only(shot->from);
	struct node_mask to = only(shot->target);

	if (drop_sys_nice())
		return -1;
	return syscall(SYS_migrate_pages, 0L, (unsigned long)MAX_NODES, from.bits, to.bits);
}

static long fire_mbind(const struct stall_shot *shot)
{
	const struct stall_window *w = shot->window;
	struct node_mask to = only(shot->target);
	long rc;
	int err;

	rc = syscall(SYS_mbind, w->start, w->bytes, (long)MPOL_BIND, to.bits,
		     (unsigned long)MAX_NODES, (unsigned long)MPOL_MF_MOVE);
	err = errno;
	/* The pages stay where they are; only the policy goes. */
	syscall(SYS_mbind, w->start, w->bytes, (long)MPOL_DEFAULT, NULL, 0ul, 0ul);
	errno = err;
	return rc;
}

static long fire_mprotect(const struct stall_shot *shot)
{
	const struct stall_window *w = shot->window;

	if (mprotect(w->start, w->bytes, PROT_READ))
		return -1;
	return mprotect(w->start, w->bytes, PROT_READ | PROT_WRITE);
}

static long fire_fork(const struct stall_shot *shot)
{
	pid_t child = fork();

	(void)shot;
	if (child < 0)
		return -1;
	if (!child)
		_exit(0);
	while (waitpid(child, NULL, 0) < 0)
		if (errno != EINTR)
			return -1;
	return 0;
}

/* Advice that may throw the content away: it is written back from a copy. */
static long advise_and_refill(const struct stall_window *w, int advice)
{
	void *copy = malloc(w->bytes);
	long rc;
	int err;

	if (!copy)
		return -1;
	memcpy(copy, w->start, w->bytes);
	rc = madvise(w->start, w->bytes, advice);
	err = errno;
	if (!rc)
		memcpy(w->start, copy, w->bytes);
	free(copy);
	errno = err;
	return rc;
}

static long fire_dontneed(const struct stall_shot *shot)
{
	return advise_and_refill(shot->window, MADV_DONTNEED);
}

static long fire_free(const struct stall_shot *shot)
{
	return advise_and_refill(shot->window, MADV_FREE);
}

/* Nothing is lost, only unmapped or swapped out; reading brings it back. */
static long fire_pageout(const struct stall_shot *shot)
{
	const struct stall_window *w = shot->window;
	unsigned int i;

	if (madvise(w->start, w->bytes, MADV_PAGEOUT))
		return -1;
	for (i = 0; i < w->count; i++)
		(void)*(volatile char *)w->page[i];
	return 0;
}

/* Starts soft-dirty tracking anew, of the whole process; nobody but a checkpointer looks at it. */
static long fire_soft_dirty(const struct stall_shot *shot)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC), err;
	ssize_t n;

	(void)shot;
	if (fd < 0)
		return -1;
	n = write(fd, "4", 1);
	err = errno;
	close(fd);
	errno = err;
	return n == 1 ? 0 : -1;
}

static const struct stall_trigger table[] = {
	{"move_pages", "move_pages(2) by a thread of hcstall (default)", false, STALL_BY_STATUS, 0,
	 fire_move_pages},
	{"move_pages-other", "the same by pid", true, STALL_BY_STATUS, 0, fire_other},
	{"migrate_pages", "migrate_pages(2): all pages of the process", false, STALL_BY_QUERY, 0,
	 fire_migrate_pages},
	{"mbind", "mbind(2), MPOL_MF_MOVE; policy reset", false, STALL_BY_QUERY, 0, fire_mbind},
	{"mprotect", "mprotect(2) to read-only and back", false, STALL_NOT, 0, fire_mprotect},
	{"fork", "fork(2) of a child that ends at once", false, STALL_NOT, 0, fire_fork},
	{"madvise-dontneed", "MADV_DONTNEED; content written back", false, STALL_NOT, EINVAL,
	 fire_dontneed},
	{"madvise-free", "MADV_FREE (userptr only); content written back", false, STALL_NOT, EINVAL,
	 fire_free},
	{"madvise-pageout", "MADV_PAGEOUT; read back", false, STALL_NOT, EINVAL, fire_pageout},
	{"soft-dirty", "4 to /proc/self/clear_refs, as CRIU does", false, STALL_NOT, 0,
	 fire_soft_dirty},
};

#define TRIGGERS (sizeof(table) / sizeof(table[0]))

const struct stall_trigger *stall_trigger_find(const char *name)
{
	size_t i;

	for (i = 0; i < TRIGGERS; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

const struct stall_trigger *stall_trigger_default(void)
{
	return &table[0];
}

static const char *counted(enum stall_counted c)
{
	static const char *const text[] = {"by status", "by query", "no move"};

	return text[c];
}

int stall_trigger_list(FILE *out)
{
	size_t i;

	fprintf(out, "%-16s  %-9s  %s\n", "trigger", "pages", "what it does");
	for (i = 0; i < TRIGGERS; i++)
		fprintf(out, "%-16s  %-9s  %s%s\n", table[i].name, counted(table[i].counted),
			table[i].what, table[i].other ? " (second process)" : "");
	return fflush(out) || ferror(out) ? -1 : 0;
}
