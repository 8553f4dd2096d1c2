/* SPDX-License-Identifier: BSD-2-Clause */
/* registered pools: made whole, undone whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../../user/sys/maps.h"
#include "harness.h"

#define BYTES 100000 /* not a whole number of pages */

static struct hcpool_info info_of(struct hcpool_ctx *ctx, hcpool_id id)
{
	struct hcpool_info info = {.size = sizeof(info)};

	assert_int_equal(hcpool_query(ctx, id, &info), 0);
	return info;
}

static int is_mapped(const void *ptr)
{
	unsigned char in_core;

	return !mincore((void *)(uintptr_t)ptr, 1, &in_core);
}

/* Shared anonymous memory by the real kernel's own word, every page there. */
static void assert_shared_and_populated(const struct hcpool_info *info)
{
	unsigned char in_core[64];
	uint64_t lo = (uintptr_t)info->host, i;
	struct hcs_map map[2];
	int root = hcs_root();

	assert_int_equal(hcs_maps_range(root, 0, lo, lo + info->reserved, map, 2, 0), 1);
	close(root);
	assert_string_equal(map[0].perms, "rw-s");
	assert_string_equal(map[0].path, "/dev/zero (deleted)");
	assert_int_equal(mincore(info->host, info->reserved, in_core), 0);
	for (i = 0; i < info->reserved / (uint64_t)sysconf(_SC_PAGESIZE); i++)
		assert_true(in_core[i] & 1);
}

static void test_whole(void **state)
{
	struct harness *h = *state;
	struct hcpool_info info;
	hcpool_id id;

	h->hip->device_offset = -0x9a0000;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, BYTES, &id), 0);
	info = info_of(h->ctx, id);
	assert_int_equal(info.backing, HCPOOL_REGISTERED);
	assert_int_equal(info.bytes, BYTES);
	assert_int_equal(info.reserved, round_to_pages(BYTES));
	assert_int_equal(info.evidence, HCPOOL_BY_PAGES | HCPOOL_BY_MAPS);
	assert_ptr_equal(info.device, (char *)info.host - 0x9a0000);
	assert_int_equal(h->hip->registers, 1);
	assert_int_equal(h->hip->size, BYTES);
	assert_int_equal(h->hip->flags, 0);
	assert_int_equal(h->hip->mallocs, 0);
	assert_shared_and_populated(&info);

	assert_int_equal(hcpool_free(h->ctx, id), 0);
	assert_int_equal(h->hip->unregisters, 1);
	assert_ptr_equal(h->hip->ptr, info.host); /* by the host's address, not the device's */
	assert_false(is_mapped(info.host));
}

/* It needs no environment variable. */
static void test_two_pools(void **state)
{
	struct harness *h = *state;
	struct hcpool_info a, b;
	hcpool_id id[2];

	h->hip->device_offset = -0x9a0000;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, BYTES, &id[0]), 0);
	h->hip->device_offset = -(80 << 20);
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, BYTES, &id[1]), 0);
	a = info_of(h->ctx, id[0]);
	b = info_of(h->ctx, id[1]);
	assert_ptr_equal(a.device, (char *)a.host - 0x9a0000);
	assert_ptr_equal(b.device, (char *)b.host - (80 << 20));
	assert_int_equal(hcpool_free(h->ctx, id[0]), 0);
	assert_int_equal(hcpool_free(h->ctx, id[1]), 0);
}

static void test_register_fails(void **state)
{
	struct harness *h = *state;
	hcpool_id id = 0;

	h->hip->register_error = hipErrorHostMemoryAlreadyRegistered;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, BYTES, &id), -EIO);
	assert_int_equal(id, 0);
	assert_int_equal(hcpool_last_error()->hip, 712);
	assert_non_null(strstr(hcpool_last_error()->what, "hipHostRegister of 100000 bytes at 0x"));
	assert_int_equal(h->hip->unregisters, 0); /* it never was registered */
	assert_false(is_mapped(h->hip->ptr));
	assert_int_equal(h->hip->last_error, hipSuccess);
}

static void test_pointer_fails(void **state)
{
	struct harness *h = *state;
	hcpool_id id = 0;

	h->hip->pointer_error = hipErrorInvalidValue;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, BYTES, &id), -EIO);
	assert_int_equal(h->hip->unregisters, 1);
	assert_false(is_mapped(h->hip->ptr));
	assert_int_equal(h->hip->last_error, hipSuccess);
}

/* What the GPU may still work from is not unmapped below it. */
static void test_unregister_fails(void **state)
{
	struct harness *h = *state;
	struct hcpool_info info;
	hcpool_id id;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, BYTES, &id), 0);
	info = info_of(h->ctx, id);
	h->hip->unregister_error = hipErrorHostMemoryNotRegistered;
	assert_int_equal(hcpool_free(h->ctx, id), -EIO);
	assert_true(is_mapped(info.host));
	assert_int_equal(hcpool_free(h->ctx, id), -EALREADY);
	assert_int_equal(h->hip->unregisters, 1);
	munmap(info.host, info.reserved);
}

static void test_no_memory(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, 1ull << 62, &id), -ENOMEM);
	assert_int_equal(fake_calls(h->hip), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, harness_setup, harness_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole),	  TEST(test_two_pools),	       TEST(test_register_fails),
		TEST(test_pointer_fails), TEST(test_unregister_fails), TEST(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
