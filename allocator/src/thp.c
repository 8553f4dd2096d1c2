/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of a range transparent huge pages really map. */
#include <stdio.h>
#include <string.h>
#include "../../user/sys/sys.h"
#include "internal.h"

/* smaps of a process with terabytes of populated memory takes this long (13 ms per GiB) */
#define DEADLINE_MS 60000

struct walk {
	uint64_t lo, hi;
	bool inside; /* the mapping at hand lies in the range */
	uint64_t kib;
};

/* The three fields that count pages mapped by a PMD (fs/proc/task_mmu.c __show_smap()). */
static bool is_huge_field(const char *line, unsigned long long *kib)
{
	static const char *const field[] = {"AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:"};
	size_t i;

	for (i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		if (!strncmp(line, field[i], strlen(field[i])))
			return sscanf(line + strlen(field[i]), " %llu kB", kib) == 1;
	return false;
}

static int smaps_line(char *line, void *ctx)
{
	struct walk *w = ctx;
	unsigned long long lo, hi, kib;

	if (sscanf(line, "%llx-%llx ", &lo, &hi) == 2)
		w->inside = lo >= w->lo && hi <= w->hi;
	else if (w->inside && is_huge_field(line, &kib))
		w->kib += kib;
	return 0;
}

int thp_bytes(int root, uint64_t lo, uint64_t hi, uint64_t *bytes)
{
	struct walk w = {.lo = lo, .hi = hi};
	int ret = hcs_each_line(root, "proc/self/smaps", smaps_line, &w,
				hcs_deadline_ms(DEADLINE_MS));

	if (!ret)
		*bytes = w.kib << 10;
	return ret;
}
