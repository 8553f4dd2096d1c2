/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads programs.bpf.c and runs one of its programs in this very thread. */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include <stddef.h>
#include <bpf/libbpf.h>
#include "programs.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "bench.skel.h"
#pragma GCC diagnostic pop

#define BENCH_ARGS 3

struct bench {
	struct bench_bpf *skel;
};

/* A map to use instead of an own one. */
struct bench_shared {
	char name[16];
	int fd; /* stays the caller's */
};

/* The two ends of a ring, in bytes since it was made. */
struct bench_ring {
	const volatile __u64 *read, *written;
};

/* ring_bytes: of an own ring, 0 = the product's default. 0 or -errno; HCW_LIBBPF_DEBUG in the
 * environment shows libbpf's messages. Close it either way. */
int bench_open(struct bench *b, const struct bench_shared *shared, size_t n, __u32 ring_bytes);
void bench_close(struct bench *b);

/* 0 or -errno. */
int bench_run(struct bench *b, struct bpf_program *prog, const __u64 args[BENCH_ARGS],
	      struct bench_result *out);

/* Maps the ends, until the process ends. 0 or -errno. */
int bench_ring_map(struct bench_ring *r, int fd);

#endif
