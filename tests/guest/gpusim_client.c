/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drives the test GPU by its ioctls alone, for smoke.sh. Prints "name value" lines; exits 1 when
 * something that no check is about went wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpusim_uapi.h"

#define GPUS	 2
#define MOVED	 512
#define PAGE	 4096UL
#define MIB	 (1UL << 20)
#define NS_PER_S 1000000000ULL

struct client {
	int kfd;
	int gpu[GPUS];
	__u32 gpu_id[GPUS];
	unsigned char *pool;
	size_t bytes;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_or_die(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void open_gpus(struct client *c)
{
	char path[32];

	for (int i = 0; i < GPUS; i++) {
		struct gpusim_info info;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", 128 + i);
		c->gpu[i] = open_or_die(path);
		if (ioctl(c->gpu[i], GPUSIM_IOCTL_INFO, &info))
			die("GPUSIM_IOCTL_INFO");
		c->gpu_id[i] = info.gpu_id;
	}
}

static void open_all(struct client *c)
{
	c->kfd = open_or_die("/dev/kfd");
	open_gpus(c);
}

static void make_pool(struct client *c, size_t bytes)
{
	c->bytes = bytes;
	c->pool = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->pool == MAP_FAILED)
		die("mmap of the pool");
	for (size_t i = 0; i < bytes / PAGE; i++)
		memset(c->pool + i * PAGE, (int)(i % 251), PAGE);
}

static int range_ioctl(int fd, unsigned long request, void *addr, size_t len)
{
	struct gpusim_range range = {.addr = (__u64)(uintptr_t)addr, .len = len};

	return ioctl(fd, request, &range) ? -errno : 0;
}

static void register_pool(struct client *c)
{
	errno = -range_ioctl(c->gpu[0], GPUSIM_IOCTL_REGISTER, c->pool, c->bytes);
	if (errno)
		die("GPUSIM_IOCTL_REGISTER");
}

static int submit(int fd, __u64 work_ns, __u64 *waited_ns, __u64 *left_ns)
{
	struct gpusim_submit s = {.work_ns = work_ns};
	int ret = ioctl(fd, GPUSIM_IOCTL_SUBMIT, &s) ? -errno : 0;

	if (waited_ns)
		*waited_ns = s.waited_ns;
	if (left_ns)
		*left_ns = s.work_ns;
	return ret;
}

static long move_pages_raw(void **pages, const int *nodes, int *status)
{
	return syscall(SYS_move_pages, 0, MOVED, pages, nodes, status, MPOL_MF_MOVE);
}

/* Moves the first 512 pages to the node they are not on, and prints the answers. */
static void move_and_print(unsigned char *base)
{
	int nodes[MOVED], status[MOVED], moved = 0, efault = 0, other = 0, target;
	void *pages[MOVED];

	for (int i = 0; i < MOVED; i++)
		pages[i] = base + (size_t)i * PAGE;
	if (move_pages_raw(pages, NULL, status) < 0)
		die("move_pages query");
	target = status[0] == 0;
	for (int i = 0; i < MOVED; i++)
		nodes[i] = target;
	if (move_pages_raw(pages, nodes, status) < 0)
		die("move_pages");
	for (int i = 0; i < MOVED; i++) {
		moved += status[i] == target;
		efault += status[i] == -EFAULT;
		other += status[i] != target && status[i] != -EFAULT;
	}
	printf("moved %d\nefault %d\nother %d\n", moved, efault, other);
}

static long long evicted_ms(__u32 gpu_id)
{
	long long ms = -1;
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/stats_%u/evicted_ms", getpid(),
		 gpu_id);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%lld", &ms) != 1)
		ms = -1;
	fclose(file);
	return ms;
}

static void print_evicted(const struct client *c)
{
	for (int i = 0; i < GPUS; i++)
		printf("evicted_ms_%d %lld\n", i, evicted_ms(c->gpu_id[i]));
}

static void print_intact(const struct client *c)
{
	int intact = 1;

	for (size_t i = 0; i < c->bytes / PAGE; i++)
		intact &= c->pool[i * PAGE] == i % 251 && c->pool[i * PAGE + PAGE - 1] == i % 251;
	printf("intact %d\n", intact);
}

struct submitter {
	int fd;
	atomic_bool stop;
	__u64 submits, waited_ns, worst_ns;
};

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * NS_PER_S + (__u64)ts.tv_nsec;
}

static void *submit_until_stopped(void *arg)
{
	struct submitter *s = arg;

	while (!atomic_load(&s->stop)) {
		__u64 start = now_ns(), waited, took;

		if (submit(s->fd, 1000000, &waited, NULL))
			die("GPUSIM_IOCTL_SUBMIT");
		took = now_ns() - start;
		s->submits++;
		s->waited_ns += waited;
		if (took > s->worst_ns)
			s->worst_ns = took;
	}
	return NULL;
}

/* Registers on one GPU, submits to the other: the queues are the process', not the node's. */
static int cmd_stall(size_t bytes)
{
	struct client c;
	struct submitter s = {0};
	struct gpusim_info info;
	pthread_t thread;

	open_all(&c);
	make_pool(&c, bytes);
	register_pool(&c);
	s.fd = c.gpu[1];
	if (pthread_create(&thread, NULL, submit_until_stopped, &s))
		die("pthread_create");
	usleep(50000);
	move_and_print(c.pool);
	if (submit(c.gpu[0], 0, NULL, NULL))
		die("GPUSIM_IOCTL_SUBMIT");
	atomic_store(&s.stop, true);
	pthread_join(thread, NULL);
	if (ioctl(c.gpu[0], GPUSIM_IOCTL_INFO, &info))
		die("GPUSIM_IOCTL_INFO");
	print_intact(&c);
	print_evicted(&c);
	printf("passes %u\nsubmits %llu\nwaited_ns %llu\nworst_ns %llu\n", info.restore_passes,
	       s.submits, s.waited_ns, s.worst_ns);
	printf("unregister %d\n", range_ioctl(c.gpu[0], GPUSIM_IOCTL_UNREGISTER, c.pool, c.bytes));
	return 0;
}

static void print_flags(const void *addr)
{
	unsigned long start, end;
	char line[512];
	bool here = false;
	FILE *smaps = fopen("/proc/self/smaps", "re");

	if (!smaps)
		die("/proc/self/smaps");
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = start == (unsigned long)(uintptr_t)addr;
		else if (here && !strncmp(line, "VmFlags:", 8))
			printf("flags %s", line + 8);
	}
	fclose(smaps);
}

static long long gtt_used(void)
{
	FILE *file = fopen("/sys/class/drm/renderD128/device/mem_info_gtt_used", "re");
	long long used = -1;

	if (!file || fscanf(file, "%lld", &used) != 1)
		die("mem_info_gtt_used");
	fclose(file);
	return used;
}

/* The guest's CPU 1 is node 1. */
static void run_on_node1(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

/* Pages ever allocated on node 1 as wanted. Free memory would not tell: CPUs keep pages of their
 * own. */
static long long node1_hits(void)
{
	FILE *file = fopen("/sys/devices/system/node/node1/numastat", "re");
	long long hits = -1;

	if (!file || fscanf(file, "numa_hit %lld", &hits) != 1)
		die("numastat of node 1");
	fclose(file);
	return hits;
}

static int cmd_gtt(size_t bytes)
{
	struct client c;
	unsigned char *p;
	long long hits;

	open_all(&c);
	run_on_node1();
	hits = node1_hits();
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c.gpu[0], 0);
	printf("mmap %d\nused_mapped %lld\n", p == MAP_FAILED ? -errno : 0, gtt_used());
	if (p == MAP_FAILED)
		return 0;
	printf("node1_pages %lld\n", node1_hits() - hits);
	printf("zeroed %d\n", p[0] == 0 && !memcmp(p, p + 1, bytes - 1));
	memset(p, 1, bytes);
	move_and_print(p);
	print_flags(p);
	print_evicted(&c);
	printf("register %d\n", range_ioctl(c.gpu[0], GPUSIM_IOCTL_REGISTER, p, bytes));
	munmap(p + bytes / 4, bytes / 2);
	printf("used_split %lld\n", gtt_used());
	printf("kept %d\n", p[0] == 1 && p[bytes - 1] == 1);
	munmap(p, bytes / 4);
	munmap(p + bytes / 4 * 3, bytes / 4);
	printf("used_unmapped %lld\n", gtt_used());
	return 0;
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void print_interrupted(const struct client *c)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval timer = {.it_value.tv_usec = 100000};
	__u64 left = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("submit_signal %d\n", submit(c->gpu[0], NS_PER_S, NULL, &left));
	printf("left_ms %llu\n", left / 1000000);
}

static void print_inherited(const struct client *c)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(-submit(c->gpu[0], 0, NULL, NULL));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork");
	printf("submit_inherited %d\n", -WEXITSTATUS(status));
}

/* What is refused, and how. Opens a GPU before /dev/kfd, which the stats folders must survive. */
static int cmd_errors(size_t bytes)
{
	struct client c;

	open_gpus(&c);
	make_pool(&c, bytes);
	printf("stats_before_kfd %lld\n", evicted_ms(c.gpu_id[0]));
	c.kfd = open_or_die("/dev/kfd");
	register_pool(&c);
	printf("stats_after_register %lld\n", evicted_ms(c.gpu_id[1]));
	printf("register_twice %d\n",
	       range_ioctl(c.gpu[1], GPUSIM_IOCTL_REGISTER, c.pool, c.bytes));
	printf("register_unaligned %d\n",
	       range_ioctl(c.gpu[0], GPUSIM_IOCTL_REGISTER, c.pool + 1, PAGE));
	printf("register_empty %d\n", range_ioctl(c.gpu[0], GPUSIM_IOCTL_REGISTER, c.pool, 0));
	printf("register_unmapped %d\n",
	       range_ioctl(c.gpu[0], GPUSIM_IOCTL_REGISTER, (void *)PAGE, PAGE));
	printf("unregister_other_length %d\n",
	       range_ioctl(c.gpu[0], GPUSIM_IOCTL_UNREGISTER, c.pool, PAGE));
	printf("unregister_other_gpu %d\n",
	       range_ioctl(c.gpu[1], GPUSIM_IOCTL_UNREGISTER, c.pool, c.bytes));
	printf("unregister_twice %d\n",
	       range_ioctl(c.gpu[0], GPUSIM_IOCTL_UNREGISTER, c.pool, c.bytes));
	print_interrupted(&c);
	print_inherited(&c);
	return 0;
}

static void evict_self(struct client *c, size_t bytes)
{
	open_all(c);
	make_pool(c, bytes);
	register_pool(c);
	move_and_print(c->pool);
}

/* To be killed in the stall it brings upon itself. */
static int cmd_hang(size_t bytes)
{
	struct client c;

	evict_self(&c, bytes);
	puts("hanging 1");
	fflush(stdout);
	submit(c.gpu[0], 0, NULL, NULL);
	puts("hanging 0");
	return 0;
}

/* Closes the GPUs while evicted; the process and its KFD queues live on. */
static int cmd_close(size_t bytes)
{
	struct client c;

	evict_self(&c, bytes);
	for (int i = 0; i < GPUS; i++)
		close(c.gpu[i]);
	printf("stats_after_close %lld\n", evicted_ms(c.gpu_id[0]));
	open_gpus(&c);
	printf("submit_reopened %d\n", submit(c.gpu[0], 0, NULL, NULL));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(size_t bytes);
	} commands[] = {
		{"stall", cmd_stall}, {"gtt", cmd_gtt},	    {"errors", cmd_errors},
		{"hang", cmd_hang},   {"close", cmd_close},
	};
	unsigned long mib = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; mib && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(mib * MIB);
	fprintf(stderr, "usage: gpusim_client stall|gtt|errors|hang|close MIB\n");
	return 2;
}
