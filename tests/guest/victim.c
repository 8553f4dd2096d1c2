/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process with one pool under the test GPU, whose pages others move: for prolong.sh.
 *   victim shared|private MIB MS
 * Iterations run in a thread of their own for MS milliseconds. The main thread sleeps over a shared
 * pool; a private one it reads all the while, so that NUMA balancing scans it. It does so from the
 * pool's own node: there is nothing to be moved.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../allocator/src/usdt.h"
#include "../../bpf/hcwatch_abi.h"
#include "gpusim_uapi.h"

#define PAGE	     4096UL
#define ITERATION_NS 2000000
#define NS_PER_MS    1000000ULL

struct victim {
	int kfd, gpu;
	bool private;
	unsigned char *pool;
	size_t bytes;
	atomic_bool stop;
	uint64_t iterations;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / NS_PER_MS;
}

/* Each CPU of the guest is a node. */
static void run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

static int open_or_die(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void make_pool(struct victim *v)
{
	int flags = MAP_ANONYMOUS | (v->private ? MAP_PRIVATE : MAP_SHARED);
	struct gpusim_range range = {.len = v->bytes};

	v->pool = mmap(NULL, v->bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (v->pool == MAP_FAILED)
		die("mmap of the pool");
	if (madvise(v->pool, v->bytes, MADV_NOHUGEPAGE))
		die("MADV_NOHUGEPAGE");
	memset(v->pool, 1, v->bytes);
	range.addr = (uintptr_t)v->pool;
	if (ioctl(v->gpu, GPUSIM_IOCTL_REGISTER, &range))
		die("GPUSIM_IOCTL_REGISTER");
	usdt_alloc((uintptr_t)v->pool, v->bytes,
		   v->private ? HCW_BACKING_USERPTR : HCW_BACKING_REGISTERED);
}

static void *iterate(void *arg)
{
	struct victim *v = arg;

	while (!atomic_load(&v->stop)) {
		struct gpusim_submit work = {.work_ns = ITERATION_NS};

		hcwatch_iteration_begin(v->iterations);
		if (ioctl(v->gpu, GPUSIM_IOCTL_SUBMIT, &work))
			die("GPUSIM_IOCTL_SUBMIT");
		hcwatch_iteration_end(v->iterations);
		v->iterations++;
	}
	return NULL;
}

static unsigned int read_pool(const struct victim *v, uint64_t until)
{
	unsigned int sum = 0;
	size_t i;

	while (now_ms() < until)
		for (i = 0; i < v->bytes; i += PAGE)
			sum += *(volatile unsigned char *)&v->pool[i];
	return sum;
}

static void live(struct victim *v, uint64_t ms)
{
	uint64_t until = now_ms() + ms;
	unsigned int sum = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, iterate, v))
		die("pthread_create");
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (v->private)
		sum = read_pool(v, until);
	else
		usleep((useconds_t)ms * 1000);
	atomic_store(&v->stop, true);
	pthread_join(thread, NULL);
	usdt_free((uintptr_t)v->pool);
	printf("sum %u\niterations %llu\n", sum, (unsigned long long)v->iterations);
}

int main(int argc, char **argv)
{
	struct victim v = {0};
	unsigned long mib, ms;

	if (argc != 4 || (strcmp(argv[1], "shared") && strcmp(argv[1], "private"))) {
		fprintf(stderr, "usage: victim shared|private MIB MS\n");
		return 2;
	}
	v.private = !strcmp(argv[1], "private");
	mib = strtoul(argv[2], NULL, 10);
	ms = strtoul(argv[3], NULL, 10);
	v.bytes = mib << 20;
	v.kfd = open_or_die("/dev/kfd");
	v.gpu = open_or_die("/dev/dri/renderD128");
	run_on(0);
	make_pool(&v);
	live(&v, ms);
	return 0;
}
