/* SPDX-License-Identifier: BSD-2-Clause */
/* Out of memory: which memory, how much, and nothing left behind in HIP. Public cases A2 and A3. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "harness.h"

#define GIB 1073741824ull

static void put(const char *root, const char *path, const char *text)
{
	char full[512], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

struct oom {
	struct harness h;
	char root[64];
};

/* A context whose "/" is an empty folder. */
static int setup(void **state)
{
	struct oom *o = calloc(1, sizeof(*o));
	void *inner;

	assert_non_null(o);
	assert_int_equal(harness_setup(&inner), 0);
	o->h = *(struct harness *)inner;
	free(inner);
	assert_int_equal(hcpool_close(o->h.ctx), 0);
	strcpy(o->root, "/tmp/hcpool-test-XXXXXX");
	assert_non_null(mkdtemp(o->root));
	assert_int_equal(context_open(&o->h.ctx, open(o->root, O_PATH | O_DIRECTORY)), 0);
	o->h.hip->malloc_limit = 64 * GIB;
	*state = o;
	return 0;
}

static int teardown(void **state)
{
	struct oom *o = *state;
	struct harness *h = malloc(sizeof(*h));

	nftw(o->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	assert_non_null(h);
	*h = o->h;
	free(o);
	*state = h;
	return harness_teardown(state);
}

static void put_gpu(const struct oom *o, unsigned int minor, const char *total, const char *used)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/drm/renderD%u/device/mem_info_gtt_total", minor);
	put(o->root, path, total);
	snprintf(path, sizeof(path), "sys/class/drm/renderD%u/device/mem_info_gtt_used", minor);
	put(o->root, path, used);
}

static void fail_180_gib(struct oom *o, const char *expect)
{
	const struct hcpool_error *e = hcpool_last_error();
	hcpool_id id = 0;

	assert_int_equal(alloc_pool(o->h.ctx, HCPOOL_GTT, 180 * GIB, &id), -ENOMEM);
	assert_int_equal(id, 0);
	assert_int_equal(e->code, -ENOMEM);
	assert_int_equal(e->hip, hipErrorOutOfMemory);
	assert_string_equal(e->what, "hipHostMalloc of 193273528320 bytes failed "
				     "(hipErrorOutOfMemory, 2)");
	assert_string_equal(e->hint, expect);
	assert_int_equal(o->h.hip->registers, 0);
	assert_int_equal(o->h.hip->frees, 0);
}

static void test_text(void **state)
{
	struct oom *o = *state;

	put_gpu(o, 128, "68719476736\n", "1073741824\n");
	put(o->root, "sys/module/ttm/parameters/pages_limit", "16777216\n");
	fail_180_gib(o, "host memory (GTT), not VRAM: total 64.00 GiB, used 1.00, free 63.00, "
			"shared by\nall ranks of this node; limit from ttm.pages_limit "
			"(16777216 pages)\n"
			"reduce --hicache-size, or unset HSA_USERPTR_FOR_PAGED_MEM");
}

/* AMD's DKMS driver has its own TTM. */
static void test_dkms(void **state)
{
	struct oom *o = *state;

	put_gpu(o, 128, "68719476736\n", "68719476736\n");
	put(o->root, "sys/module/amdttm/parameters/pages_limit", "7\n");
	fail_180_gib(o, "host memory (GTT), not VRAM: total 64.00 GiB, used 64.00, free 0.00, "
			"shared by\nall ranks of this node; see also amdttm.pages_limit "
			"(7 pages)\n"
			"reduce --hicache-size, or unset HSA_USERPTR_FOR_PAGED_MEM");
}

static void test_unknown(void **state)
{
	fail_180_gib(*state, "host memory (GTT), not VRAM: GTT capacity unknown\n"
			     "reduce --hicache-size, or unset HSA_USERPTR_FOR_PAGED_MEM");
}

/* The first GPU the process may open is the one whose GTT is used. */
static void test_first_accessible(void **state)
{
	struct oom *o = *state;

	put_gpu(o, 128, "68719476736\n", "0\n");
	put_gpu(o, 129, "34359738368\n", "0\n");
	put(o->root, "dev/dri/renderD129", "");
	fail_180_gib(o, "host memory (GTT), not VRAM: total 32.00 GiB, used 0.00, free 32.00, "
			"shared by\nall ranks of this node\n"
			"reduce --hicache-size, or unset HSA_USERPTR_FOR_PAGED_MEM");
}

/* A3: the failure is not left in HIP for somebody else to find; the next request works. */
static void test_not_poisoned(void **state)
{
	struct oom *o = *state;
	hcpool_id id;

	assert_int_equal(alloc_pool(o->h.ctx, HCPOOL_GTT, 180 * GIB, &id), -ENOMEM);
	assert_int_equal(o->h.hip->last_error, hipSuccess);
	assert_int_equal(alloc_pool(o->h.ctx, HCPOOL_GTT, 1 * GIB, &id), 0);
	assert_int_equal(o->h.hip->size, 1 * GIB);
	assert_int_equal(hcpool_free(o->h.ctx, id), 0);
	assert_int_equal(hcpool_last_error()->hip, hipErrorOutOfMemory);
}

/* Another error is not called out of memory. */
static void test_other_error(void **state)
{
	struct oom *o = *state;
	hcpool_id id;

	o->h.hip->malloc_error = hipErrorNoDevice;
	assert_int_equal(alloc_pool(o->h.ctx, HCPOOL_GTT, 4096, &id), -EIO);
	assert_string_equal(hcpool_last_error()->what,
			    "hipHostMalloc of 4096 bytes failed (hipErrorNoDevice, 100)");
	assert_int_equal(o->h.hip->last_error, hipSuccess);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),	 TEST(test_dkms),
		TEST(test_unknown),	 TEST(test_first_accessible),
		TEST(test_not_poisoned), TEST(test_other_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
