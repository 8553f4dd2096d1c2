/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process of -p. A server that is restarted gets another pid: with `follow` its successor is
 * the first process that runs the same program with the same command line.
 */
#include <errno.h>
#include <string.h>
#include "../sys/proc.h"
#include "tracer_internal.h"

#define READ_MS	   1000
#define FAMILY_MAX 1024
#define SEARCH_NS  1000000000ull /* looks at every process: not more often */

static int identify(struct tracer *r, pid_t pid, struct identity *out)
{
	ssize_t n;

	n = hcs_proc_exe(r->root, pid, out->exe, sizeof(out->exe), hcs_deadline_ms(READ_MS));
	if (n > 0)
		n = hcs_proc_cmdline(r->root, pid, out->cmdline, sizeof(out->cmdline),
				     hcs_deadline_ms(READ_MS));
	return n < 0 ? (int)n : 0;
}

/* A process whose first thread has ended lives on as long as another one does. */
static bool running(struct tracer *r, pid_t pid, uint64_t *start_ticks)
{
	struct hcs_proc p;

	if (hcs_proc_read(r->root, pid, &p, hcs_deadline_ms(READ_MS)))
		return false;
	*start_ticks = p.start_ticks;
	return p.state != 'Z' || p.threads > 1;
}

struct family {
	struct tracer *r;
	__u32 member[FAMILY_MAX];
	size_t n;
	bool grew;
};

static bool in_family(const struct family *f, pid_t pid)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->member[i] == (__u32)pid)
			return true;
	return false;
}

static int join_family(pid_t pid, void *ctx)
{
	struct family *f = ctx;
	struct hcs_proc p;

	if (in_family(f, pid) || f->n == FAMILY_MAX ||
	    hcs_proc_read(f->r->root, pid, &p, hcs_deadline_ms(READ_MS)) || !in_family(f, p.parent))
		return 0;
	f->member[f->n++] = (__u32)pid;
	f->grew = true;
	return hcw_session_watch(f->r->session, pid, f->r->err);
}

/*
 * The children that are there already; those to come are followed in the kernel. A server's ranks
 * are children, and older than the wish to watch them. Again until a look finds none that is new:
 * one may be forked while we look.
 */
static int watch_family(struct tracer *r, pid_t pid)
{
	struct family f = {.r = r, .member = {(__u32)pid}, .n = 1};
	size_t i;
	int ret = 0;

	do {
		f.grew = false;
		ret = hcs_proc_each(r->root, join_family, &f, hcs_deadline_ms(READ_MS * 5));
	} while (!ret && f.grew);
	if (ret == -ETIMEDOUT)
		ret = hcw_err_set(r->err, ret, HCW_EXIT_INCOMPLETE,
				  "cannot list the children of process %d in time", (int)pid);
	for (i = 0; i < f.n; i++)
		watch_process(r, f.member[i]);
	return ret;
}

int target_start(struct tracer *r, pid_t pid)
{
	int ret;

	if (!running(r, pid, &r->start_ticks)) {
		hcw_err_set(r->err, -ESRCH, HCW_EXIT_USAGE, "no process %d", (int)pid);
		hcw_err_hint(r->err, "-p takes the pid of a running process, as this host sees it");
		return -ESRCH;
	}
	if (r->opts->follow && identify(r, pid, &r->identity))
		r->identity.exe[0] =
			'\0'; /* a kernel thread, or not ours to look at: nobody follows it */
	ret = hcw_session_watch(r->session, pid, r->err);
	if (ret)
		return ret;
	r->pid = r->last_pid = pid;
	return watch_family(r, pid);
}

struct search {
	struct tracer *r;
	pid_t found;
};

static int look_at(pid_t pid, void *ctx)
{
	struct search *s = ctx;
	struct identity id;
	uint64_t start;

	if (identify(s->r, pid, &id) || strcmp(id.exe, s->r->identity.exe) ||
	    strcmp(id.cmdline, s->r->identity.cmdline) || !running(s->r, pid, &start))
		return 0;
	s->found = pid;
	return 1;
}

static void find_successor(struct tracer *r)
{
	struct search s = {.r = r};

	if (hcs_proc_each(r->root, look_at, &s, hcs_deadline_ms(READ_MS)) != 1)
		return;
	if (target_start(r, s.found))
		r->pid = 0;
	else
		note_header(r); /* a failed sink is noticed at the next record */
}

bool target_over(struct tracer *r)
{
	uint64_t start;

	/* the same pid with another start is another process */
	if (r->pid && running(r, r->pid, &start) && start == r->start_ticks)
		return false;
	if (!r->opts->follow || !r->identity.exe[0])
		return true;
	r->pid = 0;
	if (hcs_boot_ns() >= r->next_search) {
		find_successor(r);
		r->next_search = hcs_boot_ns() + SEARCH_NS;
	}
	return false;
}
