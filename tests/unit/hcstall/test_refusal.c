/* SPDX-License-Identifier: BSD-2-Clause */
/* Every refusal is a class of its own: what, why, what to do, and an exit code. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../../bpf/hcwatch_abi.h"
#include "../../../tools/hcstall/evicted.h"
#include "../../../tools/hcstall/precheck.h"
#include "../../../tools/hcstall/refusal.h"
#include "../../../tools/hcstall/window.h"

static void test_classes(void **state)
{
	static const struct {
		int error, code;
		pid_t other;
		const char *what, *hint;
	} want[] = {
		{EPERM, HCW_EXIT_PERMISSION, 0, "move_pages is blocked here (EPERM)", "seccomp"},
		{ENOSYS, HCW_EXIT_UNSUPPORTED, 0, "move_pages is blocked here (ENOSYS)", "seccomp"},
		{EPERM, HCW_EXIT_PERMISSION, 1, "process 1 is not permitted", "CAP_SYS_NICE"},
		{EACCES, HCW_EXIT_PERMISSION, 0,
		 "node 1 is outside this task's cpuset (Mems_allowed_list: 0)", "cpuset.mems"},
		{ENODEV, HCW_EXIT_UNSUPPORTED, 0,
		 "node 1 is not there or has no memory (ENODEV); 7 pages had moved before",
		 "has_memory"},
		{EINVAL, HCW_EXIT_UNSUPPORTED, 0, "on memory of this kind", "--trigger list"},
		{ECHILD, HCW_EXIT_INCOMPLETE, 1, "second process of move_pages died", ""},
		{EFAULT, HCW_EXIT_UNSUPPORTED, 0, "move_pages to node 1 failed: Bad address", ""},
	};
	int root = hcs_root();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct stall_refused r = {.trigger = "move_pages",
					  .error = want[i].error,
					  .target_node = 1,
					  .other = want[i].other,
					  .moved = 7,
					  .allowed = "0"};
		struct stall_err err;

		assert_int_equal(stall_refused(root, &r, &err), -1);
		assert_int_equal(err.code, want[i].code);
		if (!strstr(err.what, want[i].what) || !strstr(err.hint, want[i].hint))
			fail_msg("\"%s\" and \"%s\" are not in: %s / %s", want[i].what,
				 want[i].hint, err.what, err.hint);
	}
	close(root);
}

/* B10: gone, zombie, kernel thread; and the same by a call that the kernel refused. */
static void assert_pid(int root, pid_t pid, const char *text)
{
	struct stall_refused r = {.trigger = "move_pages", .error = EINVAL, .other = pid};
	struct stall_err err;

	assert_int_equal(stall_check_pid(root, pid, &err), -1);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.what, text));
	memset(&err, 0, sizeof(err));
	assert_int_equal(stall_refused(root, &r, &err), -1);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.what, text));
}

static void test_pids(void **state)
{
	int root = hcs_root(), fixture;
	struct stall_err err;
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_int_equal(stall_check_pid(root, getpid(), &err), 0);
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_pid(root, pid, "has exited (zombie)");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_pid(root, pid, "no such process");
	close(root);
	fixture = open("fixtures/proc-sglang", O_PATH | O_DIRECTORY);
	assert_true(fixture >= 0);
	assert_pid(fixture, 121, "is a kernel thread, it has no memory");
	close(fixture);
}

/* --kfd-pid: whoever is not this process is refused, before and after the GPU is opened. */
static void test_kfd_pid(void **state)
{
	int fixture = open("fixtures/sysfs-mi355x", O_PATH | O_DIRECTORY);
	struct stall_evicted e;
	struct stall_err err;

	(void)state;
	assert_true(fixture >= 0);
	assert_int_equal(stall_kfd_pid_before(fixture, 0, &err), 0);
	/* in the host's pid namespace: no such process; in another: KFD knows it already */
	assert_int_equal(stall_kfd_pid_before(fixture, 48213, &err), -1);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.hint, "NSpid"));
	assert_int_equal(stall_kfd_pid_after(fixture, 48213, &err), 0);
	assert_int_equal(stall_kfd_pid_after(fixture, 48214, &err), -1);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.what, "KFD knows no process 48214"));
	/* and that number's counters are read */
	stall_evicted_read(fixture, 48213, &e);
	assert_int_equal(e.count, 4);
	stall_evicted_read(fixture, 48214, &e);
	assert_int_equal(e.count, -1);
	close(fixture);
}

/* What a container's profile does: move_pages gives `error`, all else works. */
static void block_move_pages(unsigned int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_move_pages, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &prog))
		_exit(99);
}

/* B9, with a real filter: the class and its exit code, in a child because filters stay. */
static int blocked_code(unsigned int error)
{
	struct stall_options opts = {
		.backing = HCPOOL_REGISTERED, .pool_bytes = 2 << 20, .ranks = 1};
	struct stall_result result = {0};
	struct stall_err err = {0};
	struct stall_window w;
	int status, here = 0;
	pid_t pid = fork();

	if (!pid) {
		struct stall_refused r = {.trigger = "move_pages"};

		block_move_pages(error);
		if (stall_window_open(&w, &here, 1) || stall_window_query(&w, 0, w.status) != -1)
			_exit(98);
		r.error = errno;
		stall_refused(AT_FDCWD, &r, &err);
		if (!strstr(err.what, "is blocked here") || !strstr(err.hint, "seccomp"))
			_exit(97);
		/* and by the check before a run, where there are two nodes to come so far */
		setenv("HSA_USERPTR_FOR_PAGED_MEM", "0", 1);
		status = err.code;
		if (!stall_precheck(hcs_root(), &opts, &result, &err) ||
		    (result.nodes > 1 && err.code != status))
			_exit(96);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_seccomp(void **state)
{
	(void)state;
	assert_int_equal(blocked_code(EPERM), HCW_EXIT_PERMISSION);
	assert_int_equal(blocked_code(ENOSYS), HCW_EXIT_UNSUPPORTED);
}

static void explained(const struct stall_trial *t, const char *want)
{
	char text[512];

	stall_explain(t, stall_trigger_default(), false, text, sizeof(text));
	if (!strstr(text, want))
		fail_msg("\"%s\" is not in: %s", want, text);
}

/* B1, B2, B7 and a positive return, in words. */
static void test_explanations(void **state)
{
	struct stall_trial t = {.outcome = STALL_PART, .pages = {.attempted = 8, .eacces = 8}};
	char text[512];

	(void)state;
	explained(&t, "8 are mapped by another process too: only MPOL_MF_MOVE_ALL (CAP_SYS_NICE)");
	t.pages = (struct stall_pages){.attempted = 4, .moved = 1, .efault = 2, .enoent = 1};
	explained(&t, "3 have no page");
	t.outcome = STALL_NO_PAGE;
	t.pages = (struct stall_pages){.attempted = 8, .efault = 8};
	explained(&t, "8 have no page: never written, the zero page, or not mapped");
	t.outcome = STALL_PART;
	t.rc = 5;
	t.pages = (struct stall_pages){
		.attempted = 8, .ebusy = 2, .unanswered = 3, .already = 2, .other = 1};
	explained(&t, "gave up on 5 pages (positive return)");
	explained(&t, "2 could not be isolated");
	explained(&t, "3 got no answer");
	explained(&t, "2 were on node 0 before");
	explained(&t, "1 stayed on another node");
	stall_explain(&t, stall_trigger_default(), false, text, 20);
	assert_int_equal(strlen(text), 19);
	/* of hugetlb, an address that is -EACCES is nobody else's */
	t.pages = (struct stall_pages){.attempted = 512, .eacces = 1, .unanswered = 511};
	stall_explain(&t, stall_trigger_default(), true, text, sizeof(text));
	assert_non_null(strstr(text, "512 addresses are in huge pages that did not move"));
	assert_null(strstr(text, "another process"));
	t.outcome = STALL_MOVED;
	stall_explain(&t, stall_trigger_default(), false, text, sizeof(text));
	assert_string_equal(text, "");
}

static void test_mems_allowed(void **state)
{
	char text[64];
	int root = hcs_root();

	(void)state;
	stall_mems_allowed(root, text, sizeof(text));
	close(root);
	assert_true(text[0] >= '0' && text[0] <= '9');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),	     cmocka_unit_test(test_pids),
		cmocka_unit_test(test_kfd_pid),	     cmocka_unit_test(test_seccomp),
		cmocka_unit_test(test_explanations), cmocka_unit_test(test_mems_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
