/* SPDX-License-Identifier: BSD-2-Clause */
/* userptr pools: ordinary memory by hipHostMalloc, and nothing else under that name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"

#define ENV "HSA_USERPTR_FOR_PAGED_MEM"

static int setup(void **state)
{
	struct harness *h;

	harness_setup(state);
	unsetenv(ENV);
	h = *state;
	h->hip->memory = FAKE_ORDINARY;
	return 0;
}

/* Exactly "0" is the one value that makes HIP give driver memory. */
static void test_refused(void **state)
{
	struct harness *h = *state;
	hcpool_id id = 0;

	setenv(ENV, "0", 1);
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_USERPTR, 4096, &id), -EPERM);
	assert_int_equal(id, 0);
	assert_int_equal(fake_calls(h->hip), 0);
	assert_non_null(strstr(hcpool_last_error()->what, "userptr needs " ENV " unset"));
	assert_non_null(strstr(hcpool_last_error()->hint, "unset it"));
}

/* Asked of the real kernel: the fake gives anonymous memory. */
static void test_whole(void **state)
{
	static const char *const values[] = {NULL, "", "1", "00", " 0"};
	struct harness *h = *state;
	struct hcpool_info info;
	hcpool_id id;
	size_t i;

	h->hip->device_offset = 4096;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i])
			setenv(ENV, values[i], 1);
		assert_int_equal(alloc_pool(h->ctx, HCPOOL_USERPTR, 100000, &id), 0);
		info.size = sizeof(info);
		assert_int_equal(hcpool_query(h->ctx, id, &info), 0);
		assert_int_equal(info.backing, HCPOOL_USERPTR);
		assert_int_equal(info.evidence, HCPOOL_BY_PAGES | HCPOOL_BY_MAPS);
		assert_int_equal(info.bytes, 100000);
		assert_ptr_equal(info.device, (char *)info.host + 4096);
		assert_int_equal(h->hip->size, 100000);
		assert_int_equal(h->hip->flags, 0);
		assert_int_equal(hcpool_free(h->ctx, id), 0);
		assert_int_equal(h->hip->frees, i + 1);
	}
	assert_int_equal(h->hip->registers + h->hip->unregisters, 0);
	assert_string_equal(hcpool_backing_name(HCPOOL_USERPTR), "userptr");
}

static void assert_wrong(struct harness *h, const char *text)
{
	hcpool_id id = 0;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_USERPTR, 4096, &id), -ENOTSUP);
	assert_int_equal(id, 0);
	assert_int_equal(h->hip->frees, 1);
	if (!strstr(hcpool_last_error()->what, text))
		fail_msg("\"%s\" is not in: %s", text, hcpool_last_error()->what);
}

/* The variable was taken away after HIP had read it. */
static void test_driver_memory(void **state)
{
	struct harness *h = *state;

	h->hip->memory = FAKE_DRIVER;
	assert_wrong(h, "looks like driver memory");
}

static void test_special_memory(void **state)
{
	struct harness *h = *state;

	h->hip->memory = FAKE_VVAR;
	assert_wrong(h, "looks like driver memory");
}

/* Ordinary for the kernel's special flags, but mapped from a device all the same. */
static void test_device_path(void **state)
{
	struct harness *h = *state;
	struct pool pool = {0};

	h->hip->driver_lo = 0x10000;
	h->hip->driver_hi = 0x11000;
	pool.host = (void *)0x10000;
	pool.reserved = 0x1000;
	assert_int_equal(verify_userptr(h->ctx, &pool), -ENOTSUP);
	h->hip->driver_lo = h->hip->driver_hi = 0;
}

static void test_no_memory(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	h->hip->malloc_error = hipErrorOutOfMemory;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_USERPTR, 4096, &id), -ENOMEM);
	assert_int_equal(hcpool_last_error()->hip, hipErrorOutOfMemory);
	assert_non_null(strstr(hcpool_last_error()->hint, "not GTT"));
	assert_int_equal(h->hip->last_error, hipSuccess);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, harness_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_refused),	   TEST(test_whole),	   TEST(test_driver_memory),
		TEST(test_special_memory), TEST(test_device_path), TEST(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
