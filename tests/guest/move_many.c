/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * move_pages() calls whose answers are known beforehand, for move_many.sh: a large one with every
 * kind of page, and those with arrays that are not all there.
 *   move_many PAGES FILE
 * FILE gets one line a call, in order:
 *   NAME requested=N read=N moved=N efault=N enoent=N eacces=N other=N rc=N range=LO..HI
 * what a tracer should say: counted here from the status array, where `other` are entries the
 * kernel did not write because it had stopped. The last line is "planned" when the kernel answered
 * the large call as it should.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	 4096UL
#define UNTOLD	 (-4095) /* no answer of the kernel */
#define HALF	 1024	 /* statuses in a page */
#define LARGEST	 262144	 /* what hcwatch reads of an array: HCW_MAX_STATUSES */
#define FAR_NODE 1
#define ZEROES	 10007 /* pages of the large call, by kind */
#define GTT	 10009
#define SHARED	 7
#define HOLES	 30011

struct call {
	const char *name;
	unsigned long n;
	void **page;
	int *node, *status;
	size_t told;  /* entries of the status array that are there, at most n */
	size_t named; /* the same of the page array; all n, or a tracer knows no range */
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* One answer a page: no huge page may be among them. */
static char *map(size_t bytes, int flags, int fd)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	if (flags & MAP_PRIVATE)
		madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void *map_array(size_t n, size_t item)
{
	return map((n * item + PAGE - 1) / PAGE * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static struct call new_call(const char *name, size_t n)
{
	struct call c = {.name = name, .n = n, .told = n, .named = n};
	size_t i;

	c.page = map_array(n, sizeof(*c.page));
	c.node = map_array(n, sizeof(*c.node));
	c.status = map_array(n, sizeof(*c.status));
	for (i = 0; i < n; i++) {
		c.node[i] = FAR_NODE;
		c.status[i] = UNTOLD;
	}
	return c;
}

static size_t answers(const struct call *c, int status)
{
	size_t i, n = 0;

	for (i = 0; i < c->told && i < LARGEST; i++)
		n += c->status[i] == status;
	return n;
}

static void print_range(FILE *out, const struct call *c)
{
	size_t i, n = c->n < LARGEST ? c->n : LARGEST;
	uintptr_t lo = UINTPTR_MAX, hi = 0, page;

	for (i = 0; i < n && c->named == c->n; i++) {
		page = (uintptr_t)c->page[i];
		lo = page < lo ? page : lo;
		hi = page > hi ? page : hi;
	}
	fprintf(out, " range=%lx..%lx\n", lo == UINTPTR_MAX ? 0 : lo, hi);
}

static void make(const struct call *c, FILE *out)
{
	long rc = syscall(SYS_move_pages, 0, c->n, c->page, c->node, c->status, MPOL_MF_MOVE);
	size_t read = c->told < LARGEST ? c->told : LARGEST;

	fprintf(out,
		"%s requested=%lu read=%zu moved=%zu efault=%zu enoent=%zu eacces=%zu other=%zu rc=%ld",
		c->name, c->n > UINT32_MAX ? UINT32_MAX : c->n, read,
		answers(c, 0) + answers(c, FAR_NODE), answers(c, -EFAULT), answers(c, -ENOENT),
		answers(c, -EACCES), answers(c, UNTOLD), rc < 0 ? -(long)errno : rc);
	print_range(out, c);
}

/* A child that has the pages mapped too, for as long as we live. */
static pid_t share(const char *pages)
{
	volatile char sink;
	pid_t child;
	int fd[2], i;
	char byte = 0;

	if (pipe(fd))
		die("pipe");
	child = fork();
	if (child) {
		if (read(fd[0], &byte, 1) != 1)
			die("the child");
		return child;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < SHARED; i++)
		sink = pages[(size_t)i * PAGE];
	(void)sink;
	if (write(fd[1], &byte, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static size_t add(struct call *c, size_t at, char *base, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		c->page[at + i] = base + i * PAGE;
	return at + pages;
}

static char *touch(char *base, size_t pages, int write)
{
	volatile char *p = base;
	size_t i;

	for (i = 0; i < pages; i++)
		if (write)
			p[i * PAGE] = 1;
		else
			(void)p[i * PAGE];
	return base;
}

/* So that no chunk of the array is like another. */
static void shuffle(void **page, size_t n)
{
	size_t i, j;
	void *other;

	srandom(100003);
	for (i = n - 1; i; i--) {
		j = (size_t)random() % (i + 1);
		other = page[i];
		page[i] = page[j];
		page[j] = other;
	}
}

static char *private_pages(size_t pages)
{
	return map(pages * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* -ENOENT; in private memory without a page table 6.1 answers -EFAULT instead. */
static char *holes_of_a_file(size_t pages)
{
	return map(pages * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
}

static void fill(struct call *c, char *shared, size_t nodes)
{
	int gpu = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	size_t at = 0;

	if (gpu < 0)
		die("/dev/dri/renderD128");
	at = add(c, at, touch(private_pages(nodes), nodes, 1), nodes);
	at = add(c, at, holes_of_a_file(HOLES), HOLES);
	at = add(c, at, touch(private_pages(ZEROES), ZEROES, 0), ZEROES);
	at = add(c, at, map(GTT * PAGE, MAP_SHARED, gpu), GTT);
	add(c, at, shared, SHARED);
	shuffle(c->page, c->n);
}

static void planned(const struct call *c, int status, size_t want)
{
	size_t got = answers(c, status);

	if (got == want)
		return;
	fprintf(stderr, "move_many: status %d for %zu pages, not %zu\n", status, got, want);
	exit(1);
}

static void large(size_t pages, FILE *out)
{
	char *shared = touch(map(SHARED * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1), SHARED, 1);
	size_t nodes = pages - HOLES - ZEROES - GTT - SHARED;
	pid_t child = share(shared); /* before there is anything else to share */
	struct call c = new_call("large", pages);

	fill(&c, shared, nodes);
	make(&c, out);
	planned(&c, FAR_NODE, nodes);
	planned(&c, -ENOENT, HOLES);
	planned(&c, -EFAULT, ZEROES + GTT);
	planned(&c, -EACCES, SHARED);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Where nothing was ever mapped, and nothing will be. */
static void *hole(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static struct call holes(const char *name, size_t n)
{
	struct call c = new_call(name, n);
	char *nothing = holes_of_a_file(1);
	size_t i;

	for (i = 0; i < n; i++)
		c.page[i] = nothing;
	return c;
}

static void cut(void *array, size_t at, size_t bytes)
{
	if (mprotect((char *)array + at, bytes - at, PROT_NONE))
		die("mprotect");
}

static void absent_arrays(FILE *out)
{
	struct call c = holes("null_status", HALF);

	c.status = NULL;
	c.told = 0;
	make(&c, out);
	c = holes("bad_status", HALF);
	c.status = hole(HALF * sizeof(*c.status));
	c.told = 0;
	make(&c, out);
	c = holes("bad_pages", HALF);
	c.page = hole(HALF * sizeof(*c.page));
	c.named = 0;
	make(&c, out);
	/* a query tells nothing of moves: no line */
	c = holes("query", HALF);
	if (syscall(SYS_move_pages, 0, c.n, c.page, NULL, c.status, 0))
		die("query");
	c = holes("bad_nodes", HALF);
	c.node = hole(HALF * sizeof(*c.node));
	make(&c, out);
}

static void cut_arrays(FILE *out)
{
	struct call c = holes("half_status", 2UL * HALF);

	cut(c.status, PAGE, 2 * PAGE);
	c.told = HALF;
	make(&c, out);
	c = holes("half_pages", HALF);
	cut(c.page, PAGE, 2 * PAGE);
	c.named = HALF / 2;
	make(&c, out);
	c = holes("truncated", LARGEST + 7);
	make(&c, out);
	/* more than a record can say; nothing of ours lies behind what is there */
	c = holes("huge", LARGEST);
	cut(c.status, PAGE, LARGEST * sizeof(*c.status));
	cut(c.page, 2 * PAGE, LARGEST * sizeof(*c.page));
	c.told = HALF;
	c.named = HALF;
	c.n = (1UL << 32) + 1;
	make(&c, out);
}

/* The guest's CPU 0 is node 0: a page that is on the far node already is answered otherwise. */
static void run_near(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

int main(int argc, char **argv)
{
	size_t pages = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	FILE *out;

	if (pages <= HOLES + ZEROES + GTT + SHARED) {
		fprintf(stderr, "Usage: move_many PAGES FILE\n");
		return 2;
	}
	out = fopen(argv[2], "we");
	if (!out)
		die(argv[2]);
	run_near();
	large(pages, out);
	absent_arrays(out);
	cut_arrays(out);
	fprintf(out, "planned\n");
	return fclose(out) ? 1 : 0;
}
