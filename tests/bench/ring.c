/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way from the ring into the file, with the product's own recorder as the reader: the records
 * are written into the ring of a running `hcwatch record` by the product's code, and it does not
 * know that they are made up.
 *   bench_ring drain RECORDER VICTIM RECORDS ROUNDS  the reader stands still while the ring fills
 *   bench_ring rate RECORDER VICTIM PER_SECOND SECONDS
 *   bench_ring plain RECORDS ROUNDS                  peer: libbpf and write(2), nothing else
 * drain: "wall NS", "cpu NS", "emit NS" per record and round. rate: "emitted N", "lost N", "seconds
 * S". plain: "emit NS", "wall NS".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "borrow.h"

#define MAX_MAPS   64
#define BATCH	   1024 /* records a run of the program; a power of two */
#define STEP_NS	   1000000ull
#define RING_BYTES (64u << 20)
#define BUFFER	   (1u << 20)

struct feed {
	struct bench bench;
	struct bench_shared map[MAX_MAPS];
	size_t maps;
	struct bench_ring ring;
	pid_t recorder;
	__u64 victim, next;
};

struct counter {
	__u64 emitted, lost;
};

struct plain_sink {
	char buffer[BUFFER];
	size_t used;
	int fd;
};

static void die(const char *what, int ret)
{
	fprintf(stderr, "bench_ring: %s: %s\n", what, strerror(ret < 0 ? -ret : ret));
	exit(1);
}

static __u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (__u64)t.tv_sec * 1000000000ull + (__u64)t.tv_nsec;
}

/* Returns the ns it took, by the kernel's clock. */
static __u64 emit_records(struct feed *f, __u64 n)
{
	const __u64 args[BENCH_ARGS] = {n, f->next, f->victim};
	struct bench_result r;
	int ret = bench_run(&f->bench, f->bench.skel->progs.bench_emit, args, &r);

	if (ret)
		die("cannot run the program", ret);
	f->next += n;
	return r.ns;
}

static void start_feed(struct feed *f, pid_t recorder, __u64 victim)
{
	int n = bench_borrow(recorder, f->map, MAX_MAPS), ret;

	if (n < 0)
		die("cannot read the recorder's fdinfo", n);
	f->maps = (size_t)n;
	f->recorder = recorder;
	f->victim = victim;
	ret = bench_borrowed(f->map, f->maps, "ring");
	if (ret < 0)
		die("the recorder has no map called ring", ret);
	ret = bench_ring_map(&f->ring, ret);
	if (!ret)
		ret = bench_open(&f->bench, f->map, f->maps, 0);
	if (ret)
		die("cannot load", ret);
	emit_records(f, 1); /* tells of this task */
}

/* A value of `counters` begins with what was emitted; what follows was lost, by cause. */
static struct counter totals(const struct feed *f)
{
	int fd = bench_borrowed(f->map, f->maps, "counters"), cpus = libbpf_num_possible_cpus();
	struct bpf_map_info info = {0};
	__u32 size = sizeof(info), key = HCW_R_INVAL;
	struct counter sum = {0};
	size_t words, i;
	__u64 *value;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) || info.value_size % sizeof(*value))
		die("the recorder has no map called counters", ENOENT);
	words = info.value_size / sizeof(*value);
	value = calloc((size_t)cpus * words, sizeof(*value));
	if (!value || bpf_map_lookup_elem(fd, &key, value))
		die("cannot read the counters", errno);
	for (i = 0; i < (size_t)cpus * words; i++)
		*(i % words ? &sum.lost : &sum.emitted) += value[i];
	free(value);
	return sum;
}

static void wait_read(const struct feed *f)
{
	const struct timespec pause = {.tv_nsec = 200000};

	while (*f->ring.read != *f->ring.written) {
		if (kill(f->recorder, 0))
			die("the recorder is gone", ESRCH);
		nanosleep(&pause, NULL);
	}
}

static void drain_round(struct feed *f, __u64 records, clockid_t cpu)
{
	struct counter before = totals(f);
	__u64 emit, wall, spent;

	wait_read(f);
	kill(f->recorder, SIGSTOP);
	emit = emit_records(f, records);
	if (totals(f).emitted - before.emitted != records)
		die("the ring is too small for so many", ENOSPC);
	spent = clock_ns(cpu);
	wall = clock_ns(CLOCK_MONOTONIC);
	kill(f->recorder, SIGCONT);
	wait_read(f);
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	spent = clock_ns(cpu) - spent;
	printf("wall %.2f\ncpu %.2f\nemit %.2f\n", (double)wall / (double)records,
	       (double)spent / (double)records, (double)emit / (double)records);
	fflush(stdout);
}

static void drain(struct feed *f, __u64 records, __u64 rounds)
{
	clockid_t cpu;

	if (clock_getcpuclockid(f->recorder, &cpu))
		die("no clock of the recorder", ESRCH);
	while (rounds--)
		drain_round(f, records, cpu);
}

/* In equal portions, on time; late ones are caught up with, as a burst would come. */
static void rate(struct feed *f, __u64 per_second, __u64 seconds)
{
	struct counter before = totals(f), after;
	__u64 start = clock_ns(CLOCK_MONOTONIC), now = start, due, sent = 0;
	__u64 all = per_second * seconds;
	struct timespec until;

	while (sent < all) {
		due = (__u64)((double)(now - start) * (double)per_second / 1e9);
		if (due > all)
			due = all;
		for (; sent < due; sent += due - sent < BATCH ? due - sent : BATCH)
			emit_records(f, due - sent < BATCH ? due - sent : BATCH);
		until.tv_sec = (time_t)((now + STEP_NS) / 1000000000ull);
		until.tv_nsec = (long)((now + STEP_NS) % 1000000000ull);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	after = totals(f);
	printf("emitted %llu\nlost %llu\nseconds %.3f\n", after.emitted - before.emitted,
	       after.lost - before.lost, (double)(now - start) / 1e9);
}

static void plain_flush(struct plain_sink *s)
{
	if (write(s->fd, s->buffer, s->used) != (ssize_t)s->used)
		die("write", errno);
	s->used = 0;
}

static int plain_record(void *ctx, void *data, size_t size)
{
	struct plain_sink *s = ctx;

	if (s->used + size > sizeof(s->buffer))
		plain_flush(s);
	memcpy(s->buffer + s->used, data, size);
	s->used += size;
	return 0;
}

static void plain(struct feed *f, __u64 records, __u64 rounds)
{
	struct plain_sink *sink = calloc(1, sizeof(*sink));
	int ret = bench_open(&f->bench, NULL, 0, RING_BYTES);
	struct ring_buffer *ring;
	FILE *file = tmpfile();
	__u64 start;

	if (ret || !sink || !file)
		die("cannot start", ret ? ret : errno);
	sink->fd = fileno(file);
	ring = ring_buffer__new(bpf_map__fd(f->bench.skel->maps.ring), plain_record, sink, NULL);
	if (!ring)
		die("ring", errno);
	while (rounds--) {
		printf("emit %.2f\n", (double)emit_records(f, records) / (double)records);
		start = clock_ns(CLOCK_MONOTONIC);
		if (ring_buffer__consume(ring) < (int)records)
			die("the ring is too small for so many", ENOSPC);
		plain_flush(sink);
		printf("wall %.2f\n",
		       (double)(clock_ns(CLOCK_MONOTONIC) - start) / (double)records);
	}
	ring_buffer__free(ring);
	fclose(file);
	free(sink);
}

static __u64 number(const char *text)
{
	char *end;
	__u64 value = strtoull(text, &end, 10);

	if (*end || !value)
		die(text, EINVAL);
	return value;
}

int main(int argc, char **argv)
{
	static struct feed f;

	if (argc == 4 && !strcmp(argv[1], "plain")) {
		plain(&f, number(argv[2]), number(argv[3]));
	} else if (argc == 6 && (!strcmp(argv[1], "drain") || !strcmp(argv[1], "rate"))) {
		start_feed(&f, (pid_t)number(argv[2]), number(argv[3]));
		if (*argv[1] == 'd')
			drain(&f, number(argv[4]), number(argv[5]));
		else
			rate(&f, number(argv[4]), number(argv[5]));
	} else {
		fprintf(stderr, "Usage: bench_ring drain RECORDER VICTIM RECORDS ROUNDS\n"
				"       bench_ring rate RECORDER VICTIM PER_SECOND SECONDS\n"
				"       bench_ring plain RECORDS ROUNDS\n");
		return 2;
	}
	bench_close(&f.bench);
	return 0;
}
