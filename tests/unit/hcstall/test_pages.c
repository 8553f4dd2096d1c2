/* SPDX-License-Identifier: BSD-2-Clause */
/* The window asked of the real kernel, the pattern, and the checks before a run. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../bpf/hcwatch_abi.h"
#include "../../../tools/hcstall/pool.h"
#include "../../../tools/hcstall/precheck.h"
#include "../../../tools/hcstall/stats.h"
#include "../../../tools/hcstall/window.h"

static void test_window_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static const size_t mib[] = {1, 2, 64};
	struct stall_window w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(mib) / sizeof(mib[0]); i++) {
		assert_int_equal(stall_window_open(&w, (void *)(16 * page), mib[i] << 20), 0);
		assert_int_equal(w.count, (mib[i] << 20) / page);
		assert_int_equal(w.bytes, mib[i] << 20);
		assert_ptr_equal(w.page[w.count - 1], (void *)((15 + w.count) * page));
		stall_window_close(&w);
	}
	assert_int_equal(stall_window_open(&w, (void *)(16 * page + 8), 1), 0);
	assert_int_equal(w.count, 1);
	assert_ptr_equal(w.page[0], (void *)(16 * page));
	stall_window_close(&w);
	assert_int_equal(stall_window_open(&w, (void *)(17 * page - 1), 2), 0);
	assert_int_equal(w.count, 2);
	stall_window_close(&w);
}

/* Written pages are on a node; a hole is -EFAULT. */
static void test_window_query(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *mem =
		mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stall_window w;
	struct stall_pages p;
	int node, before[4] = {-1, -1, -1, -1};

	(void)state;
	assert_ptr_not_equal(mem, MAP_FAILED);
	memset(mem, 1, 4 * page);
	assert_int_equal(stall_window_open(&w, mem, 4 * page), 0);
	if (stall_window_query(&w, 0, w.status) && (errno == EPERM || errno == ENOSYS))
		skip();
	node = stall_window_node(&w, w.status);
	assert_true(node >= 0);
	assert_int_equal(stall_window_move(&w, 0, node, w.status), 0); /* to where they are */
	assert_int_equal(stall_window_node(&w, w.status), node);

	munmap(mem + 2 * page, page);
	assert_int_equal(stall_window_move(&w, 0, node, w.status), 0);
	assert_int_equal(stall_window_node(&w, w.status), -1);
	p = stall_count(before, w.status, w.status, w.count, node);
	assert_int_equal(p.moved, 3);
	assert_int_equal(p.efault, 1);

	/* a node that does not exist: no page gets an answer */
	assert_int_equal(stall_window_move(&w, 0, 1 << 20, w.status), -1);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(w.status[0], STALL_NO_ANSWER);
	p = stall_count(before, w.status, w.before, w.count, 1);
	assert_int_equal(p.unanswered, 4);
	stall_window_close(&w);
	munmap(mem, 4 * page);
}

/* B1, asked of the real kernel: pages that were only read answer as driver memory does. */
static void test_zero_page(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	volatile char *mem =
		mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stall_trial t = {0};
	struct stall_window w;

	(void)state;
	assert_ptr_not_equal(mem, MAP_FAILED);
	for (i = 0; i < 8; i++)
		assert_int_equal(mem[i * page], 0);
	assert_int_equal(stall_window_open(&w, (void *)(uintptr_t)mem, 8 * page), 0);
	stall_window_query(&w, 0, w.before);
	if (stall_window_move(&w, 0, 0, w.status) && (errno == EPERM || errno == ENOSYS))
		skip();
	t.pages = stall_count(w.before, w.status, w.before, w.count, 0);
	assert_int_equal(t.pages.efault + t.pages.enoent, 8);
	assert_int_equal(stall_outcome(&t, stall_trigger_default(), HCPOOL_REGISTERED),
			 STALL_NO_PAGE);
	stall_window_close(&w);
	munmap((void *)(uintptr_t)mem, 8 * page);
}

/* B3, asked of the real kernel: the [vvar] of every process is PFNMAP and IO. */
static void *find_vvar(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, found = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vvar]") && sscanf(line, "%lx-", &lo) == 1)
			found = lo;
	if (f)
		fclose(f);
	return (void *)found;
}

static void test_driver_memory(void **state)
{
	struct stall_trial t = {0};
	struct stall_window w;
	void *vvar = find_vvar();

	(void)state;
	if (!vvar)
		skip();
	assert_int_equal(stall_window_open(&w, vvar, 1), 0);
	stall_window_query(&w, 0, w.before);
	if (stall_window_move(&w, 0, 0, w.status) && (errno == EPERM || errno == ENOSYS))
		skip();
	t.pages = stall_count(w.before, w.status, w.before, w.count, 0);
	assert_int_equal(stall_outcome(&t, stall_trigger_default(), HCPOOL_GTT), STALL_REFUSED);
	stall_window_close(&w);
}

static void test_pattern(void **state)
{
	uint64_t mem[1024];
	size_t i;

	(void)state;
	stall_pattern_write(mem, sizeof(mem), 1);
	assert_true(stall_pattern_ok(mem, sizeof(mem), 1));
	assert_false(stall_pattern_ok(mem, sizeof(mem), 2)); /* a stale copy */
	for (i = 0; i < sizeof(mem); i += 511) {
		((unsigned char *)mem)[i] ^= 0x10;
		assert_false(stall_pattern_ok(mem, sizeof(mem), 1));
		((unsigned char *)mem)[i] ^= 0x10;
	}
	/* two pages in each other's place */
	for (i = 0; i < 512; i++)
		mem[i] = mem[i + 512];
	assert_false(stall_pattern_ok(mem, sizeof(mem), 1));
}

static void refused(const struct stall_options *opts, const char *text)
{
	struct stall_result result;
	struct stall_err err;
	int root = hcs_root();

	assert_int_equal(stall_precheck(root, opts, &result, &err), -1);
	close(root);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.what, text));
	assert_non_null(strstr(err.hint, "run it as"));
}

/* B11 */
static void test_environment(void **state)
{
	struct stall_options opts = {.backing = HCPOOL_GTT, .pool_bytes = 2 << 20, .ranks = 1};
	static const char *const wrong[] = {"", "1", "00"};
	size_t i;

	(void)state;
	for (; opts.backing <= HCPOOL_REGISTERED; opts.backing++) {
		unsetenv("HSA_USERPTR_FOR_PAGED_MEM");
		refused(&opts, "it is not set");
		for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			setenv("HSA_USERPTR_FOR_PAGED_MEM", wrong[i], 1);
			refused(&opts, "must be 0 for ");
		}
	}
	opts.backing = HCPOOL_USERPTR;
	setenv("HSA_USERPTR_FOR_PAGED_MEM", "0", 1);
	refused(&opts, "must not be 0 for userptr");
}

/* Whatever this machine has, more memory than any machine has is refused before it is taken. */
static void test_machine(void **state)
{
	struct stall_options opts = {
		.backing = HCPOOL_REGISTERED, .pool_bytes = 1ull << 44, .ranks = 1};
	struct stall_result result = {0};
	struct stall_err err = {0};
	int root = hcs_root();

	(void)state;
	setenv("HSA_USERPTR_FOR_PAGED_MEM", "0", 1);
	assert_int_equal(stall_precheck(root, &opts, &result, &err), -1);
	if (result.nodes < 2)
		assert_non_null(strstr(err.what, "needs two NUMA nodes"));
	else
		assert_true(err.code == HCW_EXIT_PERMISSION || strstr(err.what, "do not fit"));
	assert_true(err.code == HCW_EXIT_UNSUPPORTED || err.code == HCW_EXIT_PERMISSION);
	close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_pages), cmocka_unit_test(test_window_query),
		cmocka_unit_test(test_zero_page),    cmocka_unit_test(test_driver_memory),
		cmocka_unit_test(test_pattern),	     cmocka_unit_test(test_environment),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
