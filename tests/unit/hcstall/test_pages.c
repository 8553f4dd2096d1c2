/* SPDX-License-Identifier: BSD-2-Clause */
/* The window asked of the real kernel, the pattern, and the checks before a run. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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
	struct stall_window w;

	(void)state;
	stall_window_set(&w, (void *)(16 * page), STALL_WINDOW_BYTES);
	assert_int_equal(w.count, STALL_WINDOW_BYTES / page);
	assert_ptr_equal(w.page[1], (void *)(17 * page));
	stall_window_set(&w, (void *)(16 * page + 8), 1);
	assert_int_equal(w.count, 1);
	assert_ptr_equal(w.page[0], (void *)(16 * page));
	stall_window_set(&w, (void *)(17 * page - 1), 2);
	assert_int_equal(w.count, 2);
	stall_window_set(&w, (void *)(16 * page), 4 * STALL_WINDOW_BYTES);
	assert_int_equal(w.count, STALL_WINDOW_PAGES);
}

/* Written pages are on a node; a hole is -EFAULT. */
static void test_window_query(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *mem =
		mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stall_window w;
	struct stall_pages p;
	int node;

	(void)state;
	assert_ptr_not_equal(mem, MAP_FAILED);
	memset(mem, 1, 4 * page);
	stall_window_set(&w, mem, 4 * page);
	if (stall_window_query(&w) && (errno == EPERM || errno == ENOSYS))
		skip();
	node = stall_window_node(&w);
	assert_true(node >= 0);
	assert_int_equal(stall_window_move(&w, node), 0); /* to where they are */
	assert_int_equal(stall_window_node(&w), node);

	munmap(mem + 2 * page, page);
	assert_int_equal(stall_window_move(&w, node), 0);
	assert_int_equal(stall_window_node(&w), -1);
	p = stall_count(w.status, w.count, node);
	assert_int_equal(p.moved, 3);
	assert_int_equal(p.efault, 1);

	/* a node that does not exist: no page gets an answer */
	assert_int_equal(stall_window_move(&w, 1 << 20), -1);
	assert_int_equal(w.status[0], STALL_NO_ANSWER);
	munmap(mem, 4 * page);
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

static void test_environment(void **state)
{
	struct stall_options opts = {.backing = HCPOOL_REGISTERED, .pool_bytes = 2 << 20};
	static const char *const wrong[] = {"", "1", "00"};
	struct stall_result result;
	struct stall_err err;
	size_t i;
	int root = hcs_root();

	(void)state;
	unsetenv("HSA_USERPTR_FOR_PAGED_MEM");
	assert_int_equal(stall_precheck(root, &opts, &result, &err), -1);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.what, "it is not set"));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("HSA_USERPTR_FOR_PAGED_MEM", wrong[i], 1);
		assert_int_equal(stall_precheck(root, &opts, &result, &err), -1);
		assert_int_equal(err.code, HCW_EXIT_USAGE);
	}
	close(root);
}

/* Whatever this machine has, more memory than any machine has is refused before it is taken. */
static void test_machine(void **state)
{
	struct stall_options opts = {.backing = HCPOOL_REGISTERED, .pool_bytes = 1ull << 44};
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

static void test_refusals(void **state)
{
	static const struct {
		int error, code;
		const char *text;
	} want[] = {
		{EPERM, HCW_EXIT_PERMISSION, "move_pages is blocked here (EPERM)"},
		{ENOSYS, HCW_EXIT_UNSUPPORTED, "move_pages is blocked here (ENOSYS)"},
		{EACCES, HCW_EXIT_PERMISSION, "node 1 is outside this task's cpuset"},
		{ENODEV, HCW_EXIT_UNSUPPORTED, "move_pages to node 1 failed: No such device"},
	};
	struct stall_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(stall_move_refused(want[i].error, 1, &err), -1);
		assert_int_equal(err.code, want[i].code);
		assert_non_null(strstr(err.what, want[i].text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_pages), cmocka_unit_test(test_window_query),
		cmocka_unit_test(test_pattern),	     cmocka_unit_test(test_environment),
		cmocka_unit_test(test_machine),	     cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
