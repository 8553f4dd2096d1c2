/* SPDX-License-Identifier: BSD-2-Clause */
/* Which HIP runtime is bound: none, one, two, an incomplete one. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include "harness.h"

static void test_none(void **state)
{
	struct hcpool_ctx *ctx = NULL;

	(void)state;
	assert_int_equal(hcpool_open(&ctx), -ENOENT);
	assert_null(ctx);
	assert_int_equal(hcpool_last_error()->code, -ENOENT);
	assert_non_null(strstr(hcpool_last_error()->what, "no HIP runtime"));
	/* and none was loaded to make it work */
	assert_null(dlopen(FAKE_A, RTLD_NOW | RTLD_NOLOAD));
}

static void test_one(void **state)
{
	struct fake_hip *a;
	void *lib = load_fake(FAKE_A, &a);
	struct hcpool_ctx *ctx = NULL;
	hcpool_id id;

	(void)state;
	assert_int_equal(hcpool_open(&ctx), 0);
	assert_string_equal(hcpool_runtime_path(ctx), FAKE_A);
	assert_null(dlopen(FAKE_B, RTLD_NOW | RTLD_NOLOAD));
	assert_int_equal(alloc_pool(ctx, HCPOOL_REGISTERED, 4096, &id), 0);
	assert_int_equal(a->registers, 1);
	assert_int_equal(hcpool_free(ctx, id), 0);
	assert_int_equal(hcpool_close(ctx), 0);
	dlclose(lib);
}

/* The context holds the runtime: it must not vanish below a live pool. */
static void test_kept(void **state)
{
	struct fake_hip *a;
	void *lib = load_fake(FAKE_A, &a);
	struct hcpool_ctx *ctx = NULL;

	(void)state;
	assert_int_equal(hcpool_open(&ctx), 0);
	dlclose(lib);
	lib = dlopen(FAKE_A, RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(lib);
	dlclose(lib);
	assert_int_equal(hcpool_close(ctx), 0);
	assert_null(dlopen(FAKE_A, RTLD_NOW | RTLD_NOLOAD));
}

static void test_two(void **state)
{
	struct fake_hip *a, *b;
	void *lib_a = load_fake(FAKE_A, &a), *lib_b = load_fake(FAKE_B, &b);
	struct hcpool_ctx *ctx = NULL;

	(void)state;
	assert_int_equal(hcpool_open(&ctx), -EEXIST);
	assert_non_null(strstr(hcpool_last_error()->what, FAKE_A));
	assert_non_null(strstr(hcpool_last_error()->what, FAKE_B));
	assert_int_equal(fake_calls(a) + fake_calls(b), 0);
	dlclose(lib_a);
	dlclose(lib_b);
}

static void test_incomplete(void **state)
{
	void *lib = dlopen(FAKE_INCOMPLETE_LIB, RTLD_NOW | RTLD_LOCAL);
	struct hcpool_ctx *ctx = NULL;

	(void)state;
	assert_non_null(lib);
	assert_int_equal(hcpool_open(&ctx), -ENOSYS);
	assert_non_null(strstr(hcpool_last_error()->what, "hipGetLastError"));
	assert_non_null(strstr(hcpool_last_error()->what, FAKE_INCOMPLETE_LIB));
	dlclose(lib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),	   cmocka_unit_test(test_one),
		cmocka_unit_test(test_kept),	   cmocka_unit_test(test_two),
		cmocka_unit_test(test_incomplete), cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
