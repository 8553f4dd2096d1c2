/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a trace cannot be written, and writers that die. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trace_file.h"

static void test_never_overwrites(void **state)
{
	const char *path = test_path();
	struct hcw_err err = {0};
	struct hcw_writer *w;
	struct stat st;

	(void)state;
	write_file(path, "precious", 8);
	assert_int_equal(hcw_writer_open(&w, path, &err), -EEXIST);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.what, path));
	assert_true(err.hint[0]);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 8);
}

static void test_open_errors(void **state)
{
	struct hcw_err err = {0};
	struct hcw_writer *w;

	(void)state;
	assert_int_equal(hcw_writer_open(&w, "/nonexistent/folder/x.hcw", &err), -ENOENT);
	assert_true(err.what[0] && err.hint[0]);
	assert_int_equal(hcw_writer_open(&w, "/nonexistent/folder/x.hcw", NULL), -ENOENT);
	assert_int_equal(hcw_writer_close(NULL, NULL), 0);
}

static void test_mode(void **state)
{
	const char *path = test_path();
	mode_t old = umask(0);
	struct hcw_writer *w;
	struct stat st;

	(void)state;
	assert_int_equal(hcw_writer_open(&w, path, NULL), 0);
	umask(old);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(hcw_writer_close(w, NULL), 0);
}

static void test_odd_length(void **state)
{
	const struct hcw_rec rec = {.ts = 1, .type = 1, .len = 12};
	const char body[16] = "";
	struct hcw_err err = {0};
	struct hcw_writer *w;

	(void)state;
	assert_int_equal(hcw_writer_open(&w, test_path(), NULL), 0);
	assert_int_equal(hcw_writer_put(w, &rec, body, &err), -EINVAL);
	assert_true(err.what[0]);
	assert_int_equal(hcw_writer_records(w), 0);
	assert_int_equal(hcw_writer_close(w, NULL), 0);
}

/* A writer to stdout, with stdout replaced by fd for that moment. */
static struct hcw_writer *writer_to_fd(int fd)
{
	int saved = dup(STDOUT_FILENO);
	struct hcw_writer *w;

	assert_true(saved >= 0 && fd >= 0);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(hcw_writer_open(&w, "-", NULL), 0);
	assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	close(saved);
	close(fd);
	return w;
}

static void check_failed(struct hcw_writer *w, int ret)
{
	struct hcw_err err = {0};

	put_record(w, 0);
	assert_int_equal(hcw_writer_flush(w, &err), ret);
	assert_int_equal(err.code, HCW_EXIT_INCOMPLETE);
	assert_true(err.what[0] && err.hint[0]);
	/* the failure sticks, close says it again and frees */
	assert_int_equal(hcw_writer_flush(w, NULL), ret);
	assert_int_equal(hcw_writer_close(w, &err), ret);
}

static void test_full_disk(void **state)
{
	(void)state;
	check_failed(writer_to_fd(open("/dev/full", O_WRONLY)), -ENOSPC);
}

static void test_reader_of_pipe_gone(void **state)
{
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	check_failed(writer_to_fd(p[1]), -EPIPE); /* and SIGPIPE did not kill this test */
}

/* A signal that was pending for other reasons is still there afterwards. */
static void test_keeps_foreign_signal(void **state)
{
	sigset_t set, pending;
	int p[2];

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	raise(SIGPIPE);
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	check_failed(writer_to_fd(p[1]), -EPIPE);
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGPIPE));
	sigwaitinfo(&set, NULL);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

static void test_stdout(void **state)
{
	const char *path = test_path();
	struct hcw_writer *w;
	struct outcome o;

	(void)state;
	w = writer_to_fd(open(path, O_WRONLY | O_CREAT, 0600));
	put_record(w, 0);
	assert_int_equal(hcw_writer_close(w, NULL), 0);
	read_trace(path, &o);
	assert_int_equal(o.records, 1);
}

static void test_no_terminal(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDOUT_FILENO), slave;
	struct hcw_err err = {0};
	struct hcw_writer *w;
	int ret;

	(void)state;
	assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	dup2(slave, STDOUT_FILENO);
	ret = hcw_writer_open(&w, "-", &err);
	dup2(saved, STDOUT_FILENO);
	assert_int_equal(ret, -EINVAL);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	close(slave);
	close(master);
	close(saved);
}

/* Fails in a later frame at the file size limit: the frames before stay, nothing half is left. */
static void test_size_limit(void **state)
{
	const char *path = test_path();
	struct rlimit old, limit;
	struct hcw_err err = {0};
	struct hcw_writer *w;
	struct outcome o;
	struct stat st;
	uint64_t i = 0;
	int ret = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(hcw_writer_open(&w, path, NULL), 0);
	for (; i < 100; i++)
		put_record(w, i);
	assert_int_equal(hcw_writer_flush(w, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	limit = (struct rlimit){(rlim_t)st.st_size + 100, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (; i < 1000; i++)
		put_record(w, i);
	ret = hcw_writer_flush(w, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(ret, -EFBIG);
	assert_non_null(strstr(err.hint, "ulimit"));
	assert_int_equal(hcw_writer_close(w, NULL), -EFBIG);
	read_trace(path, &o);
	assert_int_equal(o.records, 100);
	assert_int_equal(o.holes | (uint64_t)o.cut, 0);
}

/* kill -9: everything flushed is readable. */
static void test_killed(void **state)
{
	const char *path = test_path();
	struct outcome o;
	int status;
	pid_t child = fork();

	(void)state;
	if (!child) {
		struct hcw_writer *w;

		if (hcw_writer_open(&w, path, NULL))
			_exit(1);
		for (uint64_t i = 0; i < 700; i++) {
			put_record(w, i);
			if (i == 499)
				hcw_writer_flush(w, NULL);
		}
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	read_trace(path, &o);
	assert_int_equal(o.open_ret | o.end_ret | o.cut, 0);
	assert_int_equal(o.records, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_overwrites),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_odd_length),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_reader_of_pipe_gone),
		cmocka_unit_test(test_keeps_foreign_signal),
		cmocka_unit_test(test_stdout),
		cmocka_unit_test(test_no_terminal),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, test_path_teardown);
}
