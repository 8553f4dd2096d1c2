/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "ranks.h"

/* How long a dead rank can go unnoticed; nothing else depends on it. */
#define LOOK_NS (100l * 1000 * 1000)

struct member {
	pid_t pid;
	struct stall_err err;
	bool reaped; /* by rank 0 */
	int status;  /* then, of waitpid() */
};

/* All of it in one shared mapping, at the same address in every rank. */
struct stall_ranks {
	size_t bytes;
	unsigned int n;
	pid_t leader;
	_Atomic uint32_t arrived;
	_Atomic uint32_t meeting; /* futex: number of the next meeting */
	_Atomic uint32_t failed;  /* rank + 1 of the first that failed; its err is filled */
	/* Said by rank 0 before it comes; two places, since it cannot be two meetings ahead. */
	bool over[2];
	struct stall_rank *rank;
	struct member member[];
};

static struct stall_ranks *map_ranks(unsigned int n, unsigned int trials)
{
	size_t trial_bytes = trials * sizeof(struct stall_phase);
	size_t head = sizeof(struct stall_ranks) + n * sizeof(struct member);
	size_t bytes = head + n * (sizeof(struct stall_rank) + trial_bytes);
	struct stall_ranks *ranks;
	unsigned int i;
	char *trial;

	ranks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ranks == MAP_FAILED)
		return NULL;
	ranks->bytes = bytes;
	ranks->n = n;
	ranks->leader = getpid();
	ranks->rank = (void *)((char *)ranks + head);
	trial = (char *)&ranks->rank[n];
	for (i = 0; i < n; i++)
		ranks->rank[i].trial = (void *)(trial + i * trial_bytes);
	return ranks;
}

struct stall_rank *stall_ranks_at(struct stall_ranks *ranks, unsigned int rank)
{
	return &ranks->rank[rank];
}

static void wake(struct stall_ranks *ranks)
{
	syscall(SYS_futex, &ranks->meeting, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void stall_ranks_fail(struct stall_ranks *ranks, unsigned int rank, const struct stall_err *err)
{
	uint32_t nobody = 0;

	if (!ranks)
		return;
	ranks->member[rank].err = *err;
	atomic_compare_exchange_strong(&ranks->failed, &nobody, rank + 1);
	wake(ranks);
}

/* What a rank's end says; 0 when it ended well. */
static int judge(const struct stall_ranks *ranks, unsigned int rank, struct stall_err *err)
{
	const struct member *m = &ranks->member[rank];

	if (WIFEXITED(m->status) && !WEXITSTATUS(m->status))
		return 0;
	if (WIFSIGNALED(m->status))
		return stall_fail(err, HCW_EXIT_INCOMPLETE,
				  "rank %u (process %d) was killed by signal %d", rank, (int)m->pid,
				  WTERMSIG(m->status));
	if (!m->err.code)
		return stall_fail(err, HCW_EXIT_INCOMPLETE,
				  "rank %u (process %d) ended with code %d", rank, (int)m->pid,
				  WEXITSTATUS(m->status));
	stall_fail(err, m->err.code, "rank %u: %.480s", rank, m->err.what);
	stall_hint(err, "%s", m->err.hint);
	return -1;
}

/* Rank 0: a rank that has ended while others wait. -1 with err when there is one. */
static int look_for_dead(struct stall_ranks *ranks, struct stall_err *err)
{
	unsigned int i;

	for (i = 1; i < ranks->n; i++) {
		struct member *m = &ranks->member[i];

		if (!m->reaped && waitpid(m->pid, &m->status, WNOHANG) == m->pid)
			m->reaped = true;
		if (!m->reaped)
			continue;
		if (!judge(ranks, i, err))
			stall_fail(err, HCW_EXIT_INCOMPLETE, "rank %u ended early", i);
		return -1;
	}
	return 0;
}

/* -1 with err when the meeting cannot take place any more. */
static int anyone_missing(struct stall_ranks *ranks, unsigned int rank, struct stall_err *err)
{
	uint32_t failed = atomic_load(&ranks->failed);

	if (failed && failed - 1 != rank) {
		const struct stall_err *why = &ranks->member[failed - 1].err;

		stall_fail(err, why->code, "rank %u: %.480s", failed - 1, why->what);
		stall_hint(err, "%s", why->hint);
		return -1;
	}
	if (!rank)
		return look_for_dead(ranks, err);
	if (getppid() != ranks->leader)
		return stall_fail(err, HCW_EXIT_INCOMPLETE, "rank 0 died");
	return 0;
}

int stall_ranks_meet(struct stall_ranks *ranks, unsigned int rank, bool *over,
		     struct stall_err *err)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	uint32_t meeting;

	if (!ranks)
		return 0;
	meeting = atomic_load(&ranks->meeting);
	if (!rank)
		ranks->over[meeting & 1] = *over;
	if (atomic_fetch_add(&ranks->arrived, 1) + 1 == ranks->n) {
		atomic_store(&ranks->arrived, 0);
		atomic_fetch_add(&ranks->meeting, 1);
		wake(ranks);
	}
	while (atomic_load(&ranks->meeting) == meeting) {
		/* Whoever came last may have ended since: the meeting took place all the same. */
		if (anyone_missing(ranks, rank, err) && atomic_load(&ranks->meeting) == meeting)
			return -1;
		syscall(SYS_futex, &ranks->meeting, FUTEX_WAIT, meeting, &look, NULL, 0);
	}
	*over = ranks->over[meeting & 1];
	return 0;
}

static void run_follower(struct stall_ranks *ranks, unsigned int rank,
			 int (*follow)(struct stall_ranks *ranks, unsigned int rank, void *arg,
				       struct stall_err *err),
			 void *arg)
{
	struct stall_err err = {0};

	/* Asks for a clean end; a rank that hangs is killed by nobody but the user. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	ranks->rank[rank].pid = getpid();
	if (!follow(ranks, rank, arg, &err))
		_exit(0);
	stall_ranks_fail(ranks, rank, &err);
	_exit(err.code ? err.code : HCW_EXIT_INCOMPLETE);
}

int stall_ranks_start(struct stall_ranks **out, unsigned int n, unsigned int trials,
		      int (*follow)(struct stall_ranks *ranks, unsigned int rank, void *arg,
				    struct stall_err *err),
		      void *arg, struct stall_err *err)
{
	struct stall_err ignored;
	struct stall_ranks *ranks;
	unsigned int i;
	pid_t pid;

	*out = NULL;
	if (n < 2)
		return 0;
	ranks = map_ranks(n, trials);
	if (!ranks)
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "no memory for %u ranks", n);
	ranks->rank[0].pid = getpid();
	for (i = 1; i < n; i++) {
		pid = fork();
		if (!pid)
			run_follower(ranks, i, follow, arg);
		if (pid < 0) {
			stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot start rank %u: %s", i,
				   strerror(errno));
			ranks->n = i;
			stall_ranks_fail(ranks, 0, err);
			stall_ranks_join(ranks, &ignored);
			stall_ranks_free(ranks);
			return -1;
		}
		ranks->member[i].pid = pid;
	}
	*out = ranks;
	return 0;
}

int stall_ranks_join(struct stall_ranks *ranks, struct stall_err *err)
{
	unsigned int i;
	int ret = 0;

	if (!ranks)
		return 0;
	for (i = 1; i < ranks->n; i++) {
		struct member *m = &ranks->member[i];

		while (!m->reaped && waitpid(m->pid, &m->status, 0) < 0 && errno == EINTR)
			;
		m->reaped = true;
		if (!ret)
			ret = judge(ranks, i, err);
	}
	return ret;
}

void stall_ranks_free(struct stall_ranks *ranks)
{
	if (ranks)
		munmap(ranks, ranks->bytes);
}
