/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers with and without units, and kernel lists. */
#include <errno.h>
#include <string.h>
#include "fuzz.h"
#include "../../user/sys/num.h"
#include "../../user/sys/numa.h"

#define MIN 3
#define MAX 1000000000000

static void check_number(int ret, uint64_t v)
{
	FUZZ_CHECK(ret == 0 || ret == -EINVAL || ret == -ERANGE);
	FUZZ_CHECK(ret ? v == 1 : v >= MIN && v <= MAX);
}

static void check_list(const char *text)
{
	int v[16];
	int n = hcs_parse_list(text, v, 16);

	FUZZ_CHECK(n <= 16 && (n >= 0 || n == -EBADMSG || n == -E2BIG));
	for (int i = 0; i < n; i++)
		FUZZ_CHECK(v[i] >= 0 && (!i || v[i] > v[i - 1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t v[4] = {1, 1, 1, 1};
	int ret[4];

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	ret[0] = hcs_num_u64(text, MIN, MAX, &v[0]);
	ret[1] = hcs_num_bytes(text, MIN, MAX, &v[1]);
	ret[2] = hcs_num_ns(text, MIN, MAX, &v[2]);
	ret[3] = hcs_num_decimal(text, UINT64_MAX, MIN, MAX, &v[3]);
	for (int i = 0; i < 4; i++)
		check_number(ret[i], v[i]);
	check_list(text);
	free(text);
	return 0;
}
