/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target without libFuzzer: each file of a corpus folder, then a fixed number of
 * mutations of it, the same ones every time. Usage: fuzz_NAME CORPUS_FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include "fuzz.h"

#define MUTATIONS  1500
#define SIZE_LIMIT (256u << 10)

struct rng {
	uint64_t s;
};

static uint32_t below(struct rng *r, size_t n)
{
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return n ? (uint32_t)((r->s >> 16) % n) : 0;
}

/* Changes the input in one way; returns its new size. */
static size_t mutate(struct rng *r, uint8_t *data, size_t size)
{
	static const uint8_t odd[] = {0, 0xff, 0x80, 0x7f, '\n', ' ', '-', '9', ')', 'f'};
	size_t at = below(r, size), n = below(r, 64);

	if (!size) {
		data[0] = odd[below(r, sizeof(odd))];
		return 1;
	}
	switch (below(r, 5)) {
	case 0: /* flip a bit */
		data[at] ^= (uint8_t)(1u << below(r, 8));
		return size;
	case 1: /* an odd byte */
		data[at] = odd[below(r, sizeof(odd))];
		return size;
	case 2: /* cut the end */
		return at;
	case 3: /* remove a piece */
		n = n < size - at ? n : size - at;
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	default: /* double a piece */
		n = n < size - at ? n : size - at;
		if (size + n > SIZE_LIMIT)
			return size;
		memmove(data + at + n, data + at, size - at);
		return size + n;
	}
}

/* libFuzzer gives exactly `size` bytes of heap, so that a read behind them is seen; so does this.
 */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	FUZZ_CHECK(copy);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_file(const char *path)
{
	static uint8_t seed[SIZE_LIMIT], data[SIZE_LIMIT];
	struct rng r = {88172645463325252ull};
	FILE *f = fopen(path, "rb");
	size_t size;

	FUZZ_CHECK(f);
	size = fread(seed, 1, sizeof(seed), f);
	fclose(f);
	run(seed, size);
	for (int i = 0; i < MUTATIONS; i++) {
		size_t n = size;

		memcpy(data, seed, size);
		for (uint32_t k = below(&r, 4); k < 4; k++)
			n = mutate(&r, data, n);
		run(data, n);
	}
}

int main(int argc, char **argv)
{
	struct dirent *d;
	int files = 0;
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;

	if (!dir) {
		fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
		return 2;
	}
	while ((d = readdir(dir))) {
		char path[512];

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], d->d_name);
		run_file(path);
		files++;
	}
	closedir(dir);
	printf("%d files, %d mutations each\n", files, MUTATIONS);
	return files ? 0 : 1;
}
