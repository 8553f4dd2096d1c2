/* SPDX-License-Identifier: BSD-2-Clause */
/* Huge pages of registered pools: given and verified, or refused with the reason. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../../user/sys/sys.h"
#include "harness.h"

static int alloc_flags(struct hcpool_ctx *ctx, enum hcpool_backing backing, uint32_t flags,
		       hcpool_id *id)
{
	struct hcpool_options opts = {
		.size = sizeof(opts), .backing = backing, .bytes = 3 << 20, .flags = flags};

	return hcpool_alloc(ctx, &opts, id);
}

static void test_flags(void **state)
{
	struct harness *h = *state;
	hcpool_id id = 0;

	assert_int_equal(alloc_flags(h->ctx, HCPOOL_REGISTERED, 4, &id), -EINVAL);
	assert_int_equal(alloc_flags(h->ctx, HCPOOL_REGISTERED, 3, &id), -EINVAL);
	assert_non_null(strstr(hcpool_last_error()->what, "two kinds"));
	assert_int_equal(alloc_flags(h->ctx, HCPOOL_GTT, HCPOOL_THP, &id), -EINVAL);
	assert_int_equal(alloc_flags(h->ctx, HCPOOL_USERPTR, HCPOOL_HUGE_2M, &id), -EINVAL);
	assert_int_equal(id, 0);
	assert_int_equal(fake_calls(h->hip), 0);
}

/* A caller built with the header of before: what lies behind its structure is not read. */
static void test_old_options(void **state)
{
	struct hcpool_options opts = {.size = HCPOOL_OPTIONS_SIZE_0,
				      .backing = HCPOOL_REGISTERED,
				      .bytes = 4096,
				      .flags = 0xffffffff,
				      .reserved = 0xffffffff};
	struct harness *h = *state;
	hcpool_id id;

	assert_int_equal(hcpool_alloc(h->ctx, &opts, &id), 0);
	assert_int_equal(hcpool_free(h->ctx, id), 0);
	opts.size = HCPOOL_OPTIONS_SIZE_0 - 1;
	assert_int_equal(hcpool_alloc(h->ctx, &opts, &id), -EINVAL);
}

static void check_given(struct harness *h, hcpool_id id, uint64_t reserved, uint64_t least)
{
	struct hcpool_info info = {.size = sizeof(info)};

	assert_int_equal(hcpool_query(h->ctx, id, &info), 0);
	assert_int_equal((uintptr_t)info.host % HUGE_2M, 0);
	assert_int_equal(info.bytes, 3 << 20);
	assert_int_equal(info.reserved, reserved);
	assert_true(info.huge_bytes >= least && info.huge_bytes <= reserved);
	assert_int_equal(hcpool_free(h->ctx, id), 0);
}

/* Whatever this machine has reserved. */
static void test_huge(void **state)
{
	struct harness *h = *state;
	uint64_t available = 0;
	hcpool_id id = 0;
	int ret;

	hcs_read_u64(h->ctx->root, "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
		     &available, 0);
	ret = alloc_flags(h->ctx, HCPOOL_REGISTERED, HCPOOL_HUGE_2M, &id);
	if (available >= 2) {
		assert_int_equal(ret, 0);
		check_given(h, id, 4 << 20, 4 << 20);
		return;
	}
	assert_int_equal(ret, -ENOMEM);
	assert_int_equal(fake_calls(h->hip), 0);
	assert_non_null(strstr(hcpool_last_error()->what, "2 huge pages of 2 MiB are needed"));
	assert_non_null(strstr(hcpool_last_error()->hint, "vm.nr_hugepages"));
}

/* Whatever this machine allows: huge pages, or a plain no. Never 4 KiB pages under the name. */
static void test_thp(void **state)
{
	struct harness *h = *state;
	hcpool_id id = 0;
	int ret = alloc_flags(h->ctx, HCPOOL_REGISTERED, HCPOOL_THP, &id);

	if (!ret) {
		check_given(h, id, 3 << 20, HUGE_2M);
		return;
	}
	assert_int_equal(ret, -ENOTSUP);
	assert_int_equal(h->hip->registers, 0);
	assert_non_null(strstr(hcpool_last_error()->hint, "shmem_enabled"));
}

/* Of two mappings in the range and one beside it, and of all three fields. */
static void test_thp_bytes(void **state)
{
	uint64_t bytes = 0;
	char dir[] = "thp-XXXXXX", path[64];
	FILE *f;
	int root;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "mkdir -p %s/proc/self", dir);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/proc/self/smaps", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("1000000-1400000 rw-s 00000000 00:01 7 /dev/zero (deleted)\n"
	      "Rss: 4096 kB\nAnonHugePages:         0 kB\nShmemPmdMapped:     2048 kB\n"
	      "1400000-1800000 rw-p 00000000 00:00 0 \n"
	      "AnonHugePages:      4096 kB\nShmemPmdMapped:        0 kB\nFilePmdMapped:  2048 kB\n"
	      "1800000-1c00000 rw-p 00000000 00:00 0 \nAnonHugePages:      4096 kB\n",
	      f);
	fclose(f);
	root = open(dir, O_PATH | O_DIRECTORY);
	assert_int_equal(thp_bytes(root, 0x1000000, 0x1800000, &bytes), 0);
	close(root);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	assert_int_equal(system(path), 0);
	assert_int_equal(bytes, 8 << 20);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, harness_setup, harness_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_flags), TEST(test_old_options), TEST(test_huge),
		TEST(test_thp),	  TEST(test_thp_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
