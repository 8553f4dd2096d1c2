/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "runner.h"

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

int bench_open(struct bench *b, const struct bench_shared *shared, size_t n, __u32 ring_bytes)
{
	struct bpf_map *map;
	size_t i;
	int ret;

	memset(b, 0, sizeof(*b));
	libbpf_set_print(getenv("HCW_LIBBPF_DEBUG") ? NULL : quiet);
	b->skel = bench_bpf__open();
	if (!b->skel)
		return -errno;
	if (ring_bytes)
		bpf_map__set_max_entries(b->skel->maps.ring, ring_bytes);
	for (i = 0; i < n; i++) {
		map = bpf_object__find_map_by_name(b->skel->obj, shared[i].name);
		ret = map ? bpf_map__reuse_fd(map, shared[i].fd) : 0;
		if (ret)
			return ret;
	}
	return bench_bpf__load(b->skel);
}

void bench_close(struct bench *b)
{
	bench_bpf__destroy(b->skel);
	memset(b, 0, sizeof(*b));
}

int bench_run(struct bench *b, struct bpf_program *prog, const __u64 args[BENCH_ARGS],
	      struct bench_result *out)
{
	__u64 tracepoint[12] = {0}; /* MAX_BPF_FUNC_ARGS of the kernel */
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = tracepoint,
		    .ctx_size_in = sizeof(tracepoint));
	__u32 zero = 0;
	int ret;

	memcpy(tracepoint, args, BENCH_ARGS * sizeof(*args));
	ret = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	if (ret)
		return ret;
	return bpf_map__lookup_elem(b->skel->maps.results, &zero, sizeof(zero), out, sizeof(*out),
				    0);
}

/* kernel/bpf/ringbuf.c: the reader's page may be written, the page after it is read only. */
int bench_ring_map(struct bench_ring *r, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *read = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	void *written = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);

	if (read == MAP_FAILED || written == MAP_FAILED)
		return -errno;
	*r = (struct bench_ring){read, written};
	return 0;
}
