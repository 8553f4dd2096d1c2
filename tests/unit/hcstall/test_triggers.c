/* SPDX-License-Identifier: BSD-2-Clause */
/* Every trigger, fired at real memory of this process: it works, or says that it cannot, and what
 * it changed is as before. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../tools/hcstall/pool.h"
#include "../../../tools/hcstall/stats.h"
#include "../../../tools/hcstall/triggers.h"

#define BYTES ((size_t)1 << 20)

static const char *const names[] = {
	"move_pages", "move_pages-other", "migrate_pages", "mbind",	      "mprotect",
	"fork",	      "madvise-dontneed", "madvise-free",  "madvise-pageout", "soft-dirty"};

#define TRIGGERS (sizeof(names) / sizeof(names[0]))

static void test_table(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < TRIGGERS; i++)
		assert_string_equal(stall_trigger_find(names[i])->name, names[i]);
	assert_null(stall_trigger_find(""));
	assert_null(stall_trigger_find("MBIND"));
	assert_ptr_equal(stall_trigger_default(), stall_trigger_find("move_pages"));
}

/* Node 0 to node 0: allowed everywhere, and nothing has to be elsewhere for the call to be real. */
static void fire(const struct stall_trigger *trigger, int flags, struct stall_helper *helper)
{
	char *mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
	struct stall_window w;
	struct stall_shot shot = {.window = &w, .helper = helper};
	long rc;
	int error;

	assert_ptr_not_equal(mem, MAP_FAILED);
	stall_pattern_write(mem, BYTES, 3);
	assert_int_equal(stall_window_open(&w, mem, BYTES), 0);
	errno = 0;
	rc = trigger->fire(&shot);
	error = errno;
	if (rc < 0 && trigger->refusal && error == trigger->refusal)
		assert_true(strstr(trigger->name, "madvise-free") && flags == MAP_SHARED);
	else if (rc < 0 && error != EPERM && error != ENOSYS)
		fail_msg("%s: %s", trigger->name, strerror(error));
	/* what it changed is back: the content, and the right to write */
	assert_true(stall_pattern_ok(mem, BYTES, 3));
	stall_pattern_write(mem, BYTES, 4);
	assert_true(stall_pattern_ok(mem, BYTES, 4));
	if (rc >= 0 && trigger->counted == STALL_BY_STATUS)
		assert_int_equal(stall_window_node(&w, w.status), 0);
	stall_window_close(&w);
	munmap(mem, BYTES);
}

static void test_fire(void **state)
{
	struct stall_helper helper;
	struct stall_err err;
	size_t i;

	(void)state;
	assert_int_equal(stall_helper_start(&helper, BYTES / 4096 + 1, &err), 0);
	for (i = 0; i < TRIGGERS; i++) {
		fire(stall_trigger_find(names[i]), MAP_SHARED, &helper);
		fire(stall_trigger_find(names[i]), MAP_PRIVATE, &helper);
	}
	stall_helper_stop(&helper);
	stall_helper_stop(&helper);
}

/* mbind's policy does not stay on the window. */
static void test_policy(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *mem = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct stall_window w;
	struct stall_shot shot = {.window = &w};
	char line[512];
	FILE *f;

	(void)state;
	assert_ptr_not_equal(mem, MAP_FAILED);
	memset(mem, 1, page);
	assert_int_equal(stall_window_open(&w, mem, page), 0);
	stall_trigger_find("mbind")->fire(&shot);
	f = fopen("/proc/self/numa_maps", "r");
	while (f && fgets(line, sizeof(line), f))
		if (strtoull(line, NULL, 16) == (uintptr_t)mem)
			assert_null(strstr(line, "bind"));
	if (f)
		fclose(f);
	stall_window_close(&w);
	munmap(mem, page);
}

static void test_helper_dies(void **state)
{
	struct stall_helper helper;
	struct stall_window w;
	struct stall_err err;
	int here = 0;

	(void)state;
	assert_int_equal(stall_helper_start(&helper, 2, &err), 0);
	assert_int_equal(stall_window_open(&w, &here, 1), 0);
	kill(helper.pid, SIGKILL);
	assert_int_equal(stall_helper_move(&helper, &w, 0), -1);
	assert_int_equal(errno, ECHILD);
	stall_helper_stop(&helper);
	stall_window_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_fire),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_helper_dies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
