/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "helper.h"
#include "result.h"

struct request {
	void *start;
	size_t bytes;
	int node;
};

struct reply {
	long rc;
	int error;
};

/* The window's addresses are the same numbers here; what they name is the other's memory. */
static struct reply answer(const struct request *req, pid_t victim, int *status)
{
	struct reply reply = {.rc = -1};
	struct stall_window w;

	if (stall_window_open(&w, req->start, req->bytes)) {
		reply.error = ENOMEM;
		return reply;
	}
	reply.rc = stall_window_move(&w, victim, req->node, status);
	reply.error = reply.rc < 0 ? errno : 0;
	stall_window_close(&w);
	return reply;
}

static void serve(int socket, pid_t victim, int *status)
{
	struct request req;
	struct reply reply;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, STALL_MOVER_COMM);
	while (recv(socket, &req, sizeof(req), MSG_WAITALL) == sizeof(req)) {
		reply = answer(&req, victim, status);
		if (send(socket, &reply, sizeof(reply), MSG_NOSIGNAL) != sizeof(reply))
			break;
	}
	_exit(0);
}

int stall_helper_start(struct stall_helper *h, unsigned int pages, struct stall_err *err)
{
	pid_t self = getpid();
	int pair[2];

	memset(h, 0, sizeof(*h));
	h->bytes = pages * sizeof(*h->status);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "socketpair: %s", strerror(errno));
	h->status = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	h->pid = h->status == MAP_FAILED ? -1 : fork();
	if (h->pid < 0) {
		stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot start a second process: %s",
			   strerror(errno));
		if (h->status != MAP_FAILED)
			munmap(h->status, h->bytes);
		close(pair[0]);
		close(pair[1]);
		memset(h, 0, sizeof(*h));
		return -1;
	}
	if (!h->pid) {
		close(pair[0]);
		serve(pair[1], self, h->status);
	}
	close(pair[1]);
	h->socket = pair[0];
	return 0;
}

long stall_helper_move(struct stall_helper *h, struct stall_window *w, int node)
{
	struct request req = {.start = w->start, .bytes = w->bytes, .node = node};
	struct reply reply;

	if (send(h->socket, &req, sizeof(req), MSG_NOSIGNAL) != sizeof(req) ||
	    recv(h->socket, &reply, sizeof(reply), MSG_WAITALL) != sizeof(reply)) {
		errno = ECHILD;
		return -1;
	}
	memcpy(w->status, h->status, w->count * sizeof(*w->status));
	errno = reply.error;
	return reply.rc;
}

void stall_helper_stop(struct stall_helper *h)
{
	if (h->pid <= 0)
		return;
	close(h->socket);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(h->status, h->bytes);
	memset(h, 0, sizeof(*h));
}
