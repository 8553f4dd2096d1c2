/* SPDX-License-Identifier: BSD-2-Clause */
/* maps and smaps of a process. */
#include <errno.h>
#include <string.h>
#include "fuzz.h"
#include "../../user/sys/maps.h"

#define MAX 8

static void check(const struct hcs_map *m, int n)
{
	FUZZ_CHECK(n <= MAX && (n >= 0 || n == -EBADMSG || n == -E2BIG));
	for (int i = 0; i < n; i++) {
		FUZZ_CHECK(m[i].lo < m[i].hi);
		FUZZ_CHECK(strlen(m[i].perms) == 4);
		FUZZ_CHECK(memchr(m[i].path, '\0', sizeof(m[i].path)));
	}
	hcs_maps_cover(m, n < 0 ? 0 : (size_t)n, 0x1000, 0x7fffffffffff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hcs_map m[MAX] = {0};

	check(m, hcs_maps_range(fuzz_root("proc/9/maps", data, size), 9, 0, UINT64_MAX, m, MAX, 0));
	check(m,
	      hcs_smaps_range(fuzz_root("proc/9/smaps", data, size), 9, 0, UINT64_MAX, m, MAX, 0));
	return 0;
}
