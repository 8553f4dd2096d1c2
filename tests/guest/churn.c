/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process with one pool under the test GPU and a thread that maps and unmaps memory all the
 * while, as an allocator does: for harm.sh and container.sh.
 *   churn shared|gtt MIB MS [NAME]
 * Iterations run in a thread of their own. After MS milliseconds, or on SIGTERM, it says how often
 * the loop ran, its worst turn, the time of all turns that took over a millisecond, and how often
 * it had to wait. On SIGUSR1 it calls itself NAME.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../../allocator/src/usdt.h"
#include "../../bpf/hcwatch_abi.h"
#include "gpusim_uapi.h"

#define ITERATION_NS 5000000
#define LOOP_BYTES   (64UL << 10)
#define LOOP_US	     500
#define SLOW_NS	     1000000ULL

struct churn {
	int kfd, gpu;
	unsigned char *pool;
	size_t bytes;
	uint64_t loops, worst_ns, slow_ns;
	long waits;
	const char *name; /* to be taken, NULL = none */
};

static atomic_bool stop, rename_now;

static void on_signal(int sig)
{
	atomic_store(sig == SIGUSR1 ? &rename_now : &stop, true);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int open_or_die(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void make_gtt(struct churn *c)
{
	c->pool = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->gpu, 0);
	if (c->pool == MAP_FAILED)
		die("mmap of GTT");
	memset(c->pool, 1, c->bytes);
	usdt_alloc((uintptr_t)c->pool, c->bytes, HCW_BACKING_GTT);
}

static void make_shared(struct churn *c)
{
	struct gpusim_range range = {.len = c->bytes};

	c->pool = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->pool == MAP_FAILED)
		die("mmap of the pool");
	memset(c->pool, 1, c->bytes);
	range.addr = (uintptr_t)c->pool;
	if (ioctl(c->gpu, GPUSIM_IOCTL_REGISTER, &range))
		die("GPUSIM_IOCTL_REGISTER");
	usdt_alloc((uintptr_t)c->pool, c->bytes, HCW_BACKING_REGISTERED);
}

static void *iterate(void *arg)
{
	const struct churn *c = arg;
	uint64_t i;

	for (i = 0; !atomic_load(&stop); i++) {
		struct gpusim_submit work = {.work_ns = ITERATION_NS};

		hcwatch_iteration_begin(i);
		/* a signal may come to this thread */
		while (ioctl(c->gpu, GPUSIM_IOCTL_SUBMIT, &work) && !atomic_load(&stop))
			continue;
		hcwatch_iteration_end(i);
	}
	return NULL;
}

static void turn(struct churn *c)
{
	struct rusage before, after;
	uint64_t start, ns;
	void *p;

	getrusage(RUSAGE_THREAD, &before);
	start = now_ns();
	p = mmap(NULL, LOOP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap of the loop");
	*(volatile char *)p = 1;
	munmap(p, LOOP_BYTES);
	ns = now_ns() - start;
	getrusage(RUSAGE_THREAD, &after);
	c->loops++;
	c->waits += after.ru_nvcsw - before.ru_nvcsw;
	if (ns > c->worst_ns)
		c->worst_ns = ns;
	if (ns > SLOW_NS)
		c->slow_ns += ns;
}

static void live(struct churn *c, uint64_t ms)
{
	uint64_t start = now_ns(), until = start + ms * 1000000u;
	pthread_t thread;

	if (pthread_create(&thread, NULL, iterate, c))
		die("pthread_create");
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (!atomic_load(&stop) && now_ns() < until) {
		turn(c);
		if (c->name && atomic_exchange(&rename_now, false))
			prctl(PR_SET_NAME, c->name);
		usleep(LOOP_US);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	usdt_free((uintptr_t)c->pool);
	printf("total_us %llu\nloops %llu\n", (unsigned long long)(now_ns() - start) / 1000,
	       (unsigned long long)c->loops);
	printf("worst_us %llu\nslow_us %llu\nwaits %ld\n", (unsigned long long)c->worst_ns / 1000,
	       (unsigned long long)c->slow_ns / 1000, c->waits);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	struct churn c = {0};
	bool gtt;

	if (argc < 4 || argc > 5 || (strcmp(argv[1], "shared") && strcmp(argv[1], "gtt"))) {
		fprintf(stderr, "usage: churn shared|gtt MIB MS [NAME]\n");
		return 2;
	}
	gtt = !strcmp(argv[1], "gtt");
	c.bytes = strtoul(argv[2], NULL, 10) << 20;
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	c.name = argv[4];
	c.kfd = open_or_die("/dev/kfd");
	c.gpu = open_or_die("/dev/dri/renderD128");
	if (gtt)
		make_gtt(&c);
	else
		make_shared(&c);
	live(&c, strtoul(argv[3], NULL, 10));
	return 0;
}
