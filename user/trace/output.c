/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "output.h"

int hcw_output_open(struct hcw_output *o, const char *path)
{
	struct stat st;

	/* stdout is duplicated: closing the copy still reports a failed write-back. */
	if (!strcmp(path, "-"))
		o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		o->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	if (o->fd < 0)
		return -errno;
	o->can_cut = !fstat(o->fd, &st) && S_ISREG(st.st_mode);
	o->end = o->can_cut ? lseek(o->fd, 0, SEEK_CUR) : 0;
	if (o->end < 0)
		o->can_cut = false;
	return 0;
}

#define STUCK_MS 1000 /* after a signal, for a reader that takes its time */

/*
 * A signal, seen as EINTR or as a write that stopped half way, may be the wish to end: from then on
 * a reader that does not read must not hold us. What poll() promises room for does not block.
 */
static int write_all(int fd, const char *p, size_t size)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	bool hurry = false;
	ssize_t n;

	while (size) {
		if (hurry && !poll(&room, 1, STUCK_MS))
			return -ETIMEDOUT;
		n = write(fd, p, hurry && size > PIPE_BUF ? PIPE_BUF : size);
		if (n < 0 && errno == EAGAIN) {
			poll(&room, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		} else {
			hurry |= n < (ssize_t)size;
			p += n > 0 ? n : 0;
			size -= n > 0 ? (size_t)n : 0;
		}
	}
	return 0;
}

/* Takes back a signal that the write sent to this thread; one that was pending before stays. */
static void swallow(int sig, const sigset_t *before)
{
	const struct timespec now = {0};
	sigset_t one;

	if (sigismember(before, sig))
		return;
	sigemptyset(&one);
	sigaddset(&one, sig);
	while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
		;
}

int hcw_output_block(struct hcw_output *o, const void *block, size_t size)
{
	sigset_t blocked, before, old;
	int ret;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	sigaddset(&blocked, SIGXFSZ);
	sigpending(&before);
	pthread_sigmask(SIG_BLOCK, &blocked, &old);
	ret = write_all(o->fd, block, size);
	if (ret == -EPIPE)
		swallow(SIGPIPE, &before);
	else if (ret == -EFBIG)
		swallow(SIGXFSZ, &before);
	pthread_sigmask(SIG_SETMASK, &old, NULL);

	if (!ret)
		o->end += (off_t)size;
	else if (o->can_cut && ftruncate(o->fd, o->end))
		o->can_cut = false; /* the reader copes with a cut frame */
	return ret;
}

int hcw_output_close(struct hcw_output *o)
{
	return close(o->fd) ? -errno : 0;
}
