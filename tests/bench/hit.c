/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a notifier hit of a process that nobody watches costs, by the product's inline code:
 *   bench_hit ROUNDS
 * Prints "hit NS", "hit_all NS" (everybody at KFD is watched, this process is not there) and
 * "empty NS" (the loop alone) for each round, all per hit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runner.h"

#define HITS 200000ull

static void die(const char *what, int ret)
{
	fprintf(stderr, "bench_hit: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static void print_round(struct bench *b, const char *name, __u64 empty)
{
	const __u64 args[BENCH_ARGS] = {HITS, empty};
	struct bench_result r;
	int ret = bench_run(b, b->skel->progs.bench_hit, args, &r);

	if (ret)
		die("cannot run the program", ret);
	printf("%s %.2f\n", name, (double)r.ns / (double)HITS);
}

static void watch_all(struct bench *b, __u32 value)
{
	__u32 key = 0;
	int ret = bpf_map__update_elem(b->skel->maps.watch_all, &key, sizeof(key), &value,
				       sizeof(value), 0);

	if (ret)
		die("cannot write watch_all", ret);
}

/* A hit that is recorded after all would be another cost. */
static void check_unwatched(struct bench *b)
{
	struct bench_ring ring;
	int ret = bench_ring_map(&ring, bpf_map__fd(b->skel->maps.ring));

	if (ret)
		die("cannot map the ring", ret);
	if (*ring.written) {
		fprintf(stderr, "bench_hit: the hits were recorded\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;
	struct bench b;
	int ret;

	if (rounds <= 0) {
		fprintf(stderr, "Usage: bench_hit ROUNDS\n");
		return 2;
	}
	ret = bench_open(&b, NULL, 0, 0);
	if (ret)
		die("cannot load", ret);
	while (rounds--) {
		print_round(&b, "empty", 1);
		watch_all(&b, 0);
		print_round(&b, "hit", 0);
		watch_all(&b, 1);
		print_round(&b, "hit_all", 0);
	}
	check_unwatched(&b);
	bench_close(&b);
	return 0;
}
