/* SPDX-License-Identifier: BSD-2-Clause */
/* gtt pools: the environment, exact sizes, and memory that is not what was asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../../user/sys/maps.h"
#include "harness.h"

#define ENV "HSA_USERPTR_FOR_PAGED_MEM"

static void assert_refused(struct harness *h)
{
	hcpool_id id = 0;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), -EPERM);
	assert_int_equal(id, 0);
	assert_int_equal(fake_calls(h->hip), 0);
	assert_non_null(strstr(hcpool_last_error()->what, ENV));
	assert_non_null(strstr(hcpool_last_error()->hint, "export " ENV "=0"));
}

static void test_environment(void **state)
{
	static const char *const wrong[] = {"", "1", "00", "false", " 0", "0 ", "-0", "0x0"};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv(ENV, wrong[i], 1);
		assert_refused(*state);
	}
	unsetenv(ENV);
	assert_refused(*state);
}

/* A1: no rounding to a power of two, not even to a page. */
static void test_exact_sizes(void **state)
{
	static const uint64_t sizes[] = {5368709120, 135790592, 4097, 1};
	struct harness *h = *state;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct hcpool_info info;
	hcpool_id id;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, sizes[i], &id), 0);
		assert_int_equal(h->hip->size, sizes[i]);
		assert_int_equal(h->hip->flags, 0);
		info.size = sizeof(info);
		assert_int_equal(hcpool_query(h->ctx, id, &info), 0);
		assert_int_equal(info.bytes, sizes[i]);
		assert_int_equal(info.reserved, (sizes[i] + page - 1) / page * page);
		assert_int_equal(info.backing, HCPOOL_GTT);
		assert_int_equal(info.evidence,
				 HCPOOL_BY_PAGES | HCPOOL_BY_MAPS | HCPOOL_BY_VMFLAGS);
		assert_ptr_equal(info.host, h->hip->ptr);
		assert_int_equal(hcpool_free(h->ctx, id), 0);
		assert_int_equal(h->hip->frees, i + 1);
	}
	assert_int_equal(h->hip->mallocs, i);
	assert_int_equal(h->hip->registers + h->hip->unregisters, 0);
}

/* A5: where the device sees it elsewhere, both addresses are told. */
static void test_device_pointer(void **state)
{
	struct harness *h = *state;
	struct hcpool_info info = {.size = sizeof(info)};
	hcpool_id id;

	h->hip->device_offset = -0x9a0000;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 8192, &id), 0);
	assert_int_equal(hcpool_query(h->ctx, id, &info), 0);
	assert_ptr_equal(info.device, (char *)info.host - 0x9a0000);
	assert_int_equal(hcpool_free(h->ctx, id), 0);
	assert_ptr_equal(h->hip->ptr, info.host);
}

static void test_no_device_pointer(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	h->hip->pointer_error = hipErrorInvalidValue;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 8192, &id), -EIO);
	assert_int_equal(h->hip->frees, 1);
	assert_int_equal(hcpool_last_error()->hip, hipErrorInvalidValue);
	assert_int_equal(h->hip->last_error, hipSuccess);
}

static void assert_wrong_memory(struct harness *h, const char *text)
{
	hcpool_id id = 0;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), -ENOTSUP);
	assert_int_equal(id, 0);
	assert_int_equal(h->hip->mallocs, 1);
	assert_int_equal(h->hip->frees, 1);
	assert_int_equal(h->hip->registers, 0);
	if (!strstr(hcpool_last_error()->what, text))
		fail_msg("\"%s\" is not in: %s", text, hcpool_last_error()->what);
}

/* Asked of the real kernel: anonymous memory, the variable set too late. */
static void test_ordinary_memory(void **state)
{
	struct harness *h = *state;

	h->hip->memory = FAKE_ORDINARY;
	assert_wrong_memory(h, "its mapping is anonymous");
}

/* Asked of the real kernel: PFNMAP and IO, but nobody's render node. */
static void test_not_a_render_node(void **state)
{
	struct harness *h = *state;

	h->hip->memory = FAKE_VVAR;
	assert_wrong_memory(h, "[vvar]");
}

static void test_wrong_path(void **state)
{
	played.path = "/dev/dri/card0";
	assert_wrong_memory(*state, "/dev/dri/card0");
}

static void test_migratable_flags(void **state)
{
	played.vmflags = HCS_VM_SHARED;
	assert_wrong_memory(*state, "neither io nor pf");
}

static void test_unreadable_flags(void **state)
{
	played.vmflags = HCS_VM_IO | HCS_VM_UNREADABLE;
	assert_wrong_memory(*state, "neither io nor pf");
}

static void test_hole(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	played.hole = 4096;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 3 * 4096, &id), -ENOTSUP);
	assert_non_null(strstr(hcpool_last_error()->what, "not mapped as a whole"));
	assert_int_equal(h->hip->frees, 1);
}

/* Either flag is enough for the kernel's vma_migratable() to refuse. */
static void test_one_flag(void **state)
{
	static const uint32_t flags[] = {HCS_VM_IO, HCS_VM_PFNMAP};
	struct harness *h = *state;
	hcpool_id id;
	size_t i;

	for (i = 0; i < 2; i++) {
		played.vmflags = flags[i];
		assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), 0);
		assert_int_equal(hcpool_free(h->ctx, id), 0);
	}
}

static void test_null_pointer(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	h->hip->memory = FAKE_NOTHING;
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), -EIO);
	assert_int_equal(h->hip->frees, 0);
}

static void test_too_large(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, HCPOOL_GTT_MAX_BYTES, &id), -EFBIG);
	assert_int_equal(fake_calls(h->hip), 0);
	assert_non_null(strstr(hcpool_last_error()->what, "512 GiB"));
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, HCPOOL_GTT_MAX_BYTES - 4096, &id), 0);
	assert_int_equal(hcpool_free(h->ctx, id), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, harness_setup, harness_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_environment),	     TEST(test_exact_sizes),
		TEST(test_device_pointer),   TEST(test_no_device_pointer),
		TEST(test_ordinary_memory),  TEST(test_not_a_render_node),
		TEST(test_wrong_path),	     TEST(test_migratable_flags),
		TEST(test_unreadable_flags), TEST(test_hole),
		TEST(test_one_flag),	     TEST(test_null_pointer),
		TEST(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
