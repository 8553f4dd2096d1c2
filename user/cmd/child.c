/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "child.h"

static void child_run(int hold, int error, char *const argv[], int stdout_fd, bool ours)
{
	sigset_t none;
	char byte;
	int e;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* ours would swallow a signal that comes before exec; ignored ones stay so over it */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (ours)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (stdout_fd >= 0 && dup2(stdout_fd, STDOUT_FILENO) < 0)
		goto fail;
	/* read() returns 0 when the parent closes its end: to let go, or because it died */
	while (read(hold, &byte, 1) < 0 && errno == EINTR)
		;
	execvp(argv[0], argv);
fail:
	e = errno;
	if (write(error, &e, sizeof(e)) < 0)
		_exit(126);
	_exit(127);
}

int child_start(struct hcw_child *c, char *const argv[], int stdout_fd, bool ours,
		struct hcw_err *err)
{
	int hold[2], error[2];
	pid_t pid;

	*c = (struct hcw_child){.hold_fd = -1, .error_fd = -1, .ours = ours};
	if (pipe2(hold, O_CLOEXEC))
		return hcw_err_set(err, -errno, HCW_EXIT_UNSUPPORTED, "cannot make a pipe: %s",
				   strerror(errno));
	if (pipe2(error, O_CLOEXEC)) {
		close(hold[0]);
		close(hold[1]);
		return hcw_err_set(err, -EMFILE, HCW_EXIT_UNSUPPORTED, "cannot make a pipe");
	}
	pid = fork();
	if (!pid) {
		close(hold[1]);
		child_run(hold[0], error[1], argv, stdout_fd, ours);
	}
	close(hold[0]);
	close(error[1]);
	c->pid = pid;
	c->hold_fd = hold[1];
	c->error_fd = error[0];
	if (pid < 0) {
		close(hold[1]);
		close(error[0]);
		return hcw_err_set(err, -EAGAIN, HCW_EXIT_UNSUPPORTED, "cannot start a process");
	}
	return 0;
}

int child_release(struct hcw_child *c, struct hcw_err *err)
{
	int e = 0;
	ssize_t n;

	close(c->hold_fd);
	c->hold_fd = -1;
	c->released = true;
	do {
		n = read(c->error_fd, &e,
			 sizeof(e)); /* ends with exec, which closes the other end */
	} while (n < 0 && errno == EINTR);
	close(c->error_fd);
	c->error_fd = -1;
	if (n <= 0)
		return 0;
	waitpid(c->pid, &c->status, 0);
	c->ended = true;
	return hcw_err_set(err, -e, e == EACCES ? HCW_EXIT_PERMISSION : HCW_EXIT_USAGE,
			   "cannot run the command: %s", strerror(e));
}

bool child_ended(struct hcw_child *c)
{
	if (!c->ended && c->pid > 0 && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->ended = true;
	return c->ended;
}

void child_leave(struct hcw_child *c, int sig, unsigned int ms)
{
	unsigned int waited;

	if (c->pid <= 0 || child_ended(c))
		return;
	if (!c->released) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &c->status, 0);
		c->ended = true;
	}
	if (c->hold_fd >= 0)
		close(c->hold_fd);
	if (c->error_fd >= 0)
		close(c->error_fd);
	c->hold_fd = c->error_fd = -1;
	if (sig && !c->ended)
		kill(c->pid, sig);
	for (waited = 0; waited < ms && !child_ended(c); waited += 10)
		poll(NULL, 0, 10);
	if (!c->ours || child_ended(c))
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, &c->status, 0);
	c->ended = true;
}

int child_path(const char *name, char *buf, size_t size)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/')) {
		snprintf(buf, size, "%s", name);
		return access(buf, X_OK) ? -ENOENT : 0;
	}
	for (; path && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		snprintf(buf, size, "%.*s/%s", (int)(end - path), path, name);
		if (!access(buf, X_OK))
			return 0;
	}
	return -ENOENT;
}
