/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles: freed once, by whoever comes first; bad arguments. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include "harness.h"

#define THREADS 8
#define ROUNDS	50

static void test_double_free(void **state)
{
	struct harness *h = *state;
	struct hcpool_info info = {.size = sizeof(info)};
	hcpool_id first, second;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &first), 0);
	assert_int_equal(hcpool_free(h->ctx, first), 0);
	assert_int_equal(hcpool_free(h->ctx, first), -EALREADY);
	assert_non_null(strstr(hcpool_last_error()->what, "already freed"));
	assert_int_equal(hcpool_query(h->ctx, first, &info), -EALREADY);
	/* a later pool does not get the old handle */
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &second), 0);
	assert_int_not_equal(first, second);
	assert_int_equal(hcpool_free(h->ctx, first), -EALREADY);
	assert_int_equal(h->hip->frees, 1);
	assert_int_equal(hcpool_free(h->ctx, second), 0);
	assert_int_equal(h->hip->frees, 2);
}

static void test_unknown(void **state)
{
	struct harness *h = *state;

	assert_int_equal(hcpool_free(h->ctx, 0), -EINVAL);
	assert_int_equal(hcpool_free(h->ctx, 1), -EINVAL);
	assert_int_equal(hcpool_free(h->ctx, UINT64_MAX), -EINVAL);
	assert_int_equal(hcpool_free(NULL, 1), -EINVAL);
	assert_int_equal(fake_calls(h->hip), 0);
}

static void test_hip_refuses_free(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), 0);
	h->hip->free_error = hipErrorInvalidValue;
	assert_int_equal(hcpool_free(h->ctx, id), -EIO);
	assert_int_equal(hcpool_last_error()->hip, hipErrorInvalidValue);
	assert_int_equal(h->hip->last_error, hipSuccess);
	assert_int_equal(hcpool_free(h->ctx, id), -EALREADY);
	assert_int_equal(h->hip->frees, 1);
}

static void test_bad_options(void **state)
{
	struct harness *h = *state;
	struct hcpool_options opts = {0, HCPOOL_GTT, 4096};
	hcpool_id id;

	assert_int_equal(hcpool_alloc(h->ctx, &opts, &id), -EINVAL);
	assert_int_equal(hcpool_alloc(h->ctx, NULL, &id), -EINVAL);
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, NULL), -EINVAL);
	assert_int_equal(alloc_pool(NULL, HCPOOL_GTT, 4096, &id), -EINVAL);
	assert_int_equal(alloc_pool(h->ctx, 0, 4096, &id), -EINVAL);
	assert_int_equal(alloc_pool(h->ctx, 4, 4096, &id), -EINVAL);
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 0, &id), -EINVAL);
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_REGISTERED, UINT64_MAX, &id), -EINVAL);
	assert_int_equal(hcpool_open(NULL), -EINVAL);
	assert_int_equal(fake_calls(h->hip), 0);
}

/* A program built against an older header gets the part it knows. */
static void test_short_info(void **state)
{
	struct harness *h = *state;
	struct hcpool_info info;
	hcpool_id id;

	memset(&info, 0x55, sizeof(info));
	info.size = offsetof(struct hcpool_info, host);
	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), 0);
	assert_int_equal(hcpool_query(h->ctx, id, &info), 0);
	assert_int_equal(info.backing, HCPOOL_GTT);
	assert_int_equal(info.bytes, 0x5555555555555555);
	assert_int_equal(hcpool_free(h->ctx, id), 0);
}

static void test_close_busy(void **state)
{
	struct harness *h = *state;
	hcpool_id id;

	assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), 0);
	assert_int_equal(hcpool_close(h->ctx), -EBUSY);
	assert_int_equal(hcpool_free(h->ctx, id), 0);
	assert_int_equal(hcpool_close(NULL), 0);
}

static void *fail_elsewhere(void *arg)
{
	struct harness *h = arg;

	assert_int_equal(hcpool_last_error()->code, 0);
	hcpool_free(h->ctx, 78);
	assert_string_equal(hcpool_last_error()->what, "there is no pool #78");
	return NULL;
}

static void test_last_error_by_thread(void **state)
{
	struct harness *h = *state;
	pthread_t thread;

	assert_int_equal(hcpool_free(h->ctx, 77), -EINVAL);
	assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, h), 0);
	pthread_join(thread, NULL);
	assert_string_equal(hcpool_last_error()->what, "there is no pool #77");
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(hcpool_backing_name(HCPOOL_GTT), "gtt");
	assert_string_equal(hcpool_backing_name(HCPOOL_REGISTERED), "registered");
	assert_string_equal(hcpool_backing_name(9), "unknown");
	assert_string_equal(hcpool_version(), HCW_VERSION);
}

struct racer {
	struct hcpool_ctx *ctx;
	pthread_barrier_t *barrier;
	const hcpool_id *id;
	int won;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	int i, ret;

	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(r->barrier);
		ret = hcpool_free(r->ctx, *r->id);
		if (!ret)
			r->won++;
		else if (ret != -EALREADY || hcpool_last_error()->code != -EALREADY)
			r->won += 1000; /* shows in the sum */
		pthread_barrier_wait(r->barrier);
	}
	return NULL;
}

/* One pool a round and eight threads that all free it. */
static void test_race(void **state)
{
	struct harness *h = *state;
	pthread_barrier_t barrier;
	pthread_t thread[THREADS];
	struct racer racer[THREADS];
	hcpool_id id = 0;
	int i, won = 0;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++) {
		racer[i] = (struct racer){h->ctx, &barrier, &id, 0};
		assert_int_equal(pthread_create(&thread[i], NULL, race, &racer[i]), 0);
	}
	for (i = 0; i < ROUNDS; i++) {
		assert_int_equal(alloc_pool(h->ctx, HCPOOL_GTT, 4096, &id), 0);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		won += racer[i].won;
	}
	pthread_barrier_destroy(&barrier);
	assert_int_equal(won, ROUNDS);
	assert_int_equal(h->hip->frees, ROUNDS);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, harness_setup, harness_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_double_free),
		TEST(test_unknown),
		TEST(test_hip_refuses_free),
		TEST(test_bad_options),
		TEST(test_short_info),
		TEST(test_close_busy),
		TEST(test_race),
		TEST(test_last_error_by_thread),
		TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
