/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of -p. A server that is restarted gets another pid: with `follow` its successor is
 * the first process that runs the same program with the same command line.
 */
#include <errno.h>
#include <string.h>
#include "../base/escape.h"
#include "../sys/proc.h"
#include "tracer_internal.h"

#define READ_MS	  1000
#define SEARCH_NS 1000000000ull /* looks at every process: not more often */

/* What can be told without touching the process's memory. */
static int identify(struct tracer *r, pid_t pid, struct identity *out)
{
	struct hcs_proc p;
	ssize_t n = hcs_proc_read(r->root, pid, &p, hcs_deadline_ms(READ_MS));

	out->cmdline[0] = '\0';
	if (!n)
		n = hcs_proc_exe(r->root, pid, out->exe, sizeof(out->exe),
				 hcs_deadline_ms(READ_MS));
	if (n < 0)
		return (int)n;
	memcpy(out->comm, p.comm, sizeof(out->comm));
	return 0;
}

/* Under the process's mmap_lock: not while it may be evicted. -EBUSY. */
static int identify_command(struct tracer *r, pid_t pid, struct identity *out)
{
	ssize_t n = -EBUSY;

	if (quiet_process(r, pid))
		n = hcs_proc_cmdline(r->root, pid, out->cmdline, sizeof(out->cmdline),
				     hcs_deadline_ms(READ_MS));
	if (n > 0)
		return 0;
	out->cmdline[0] = '\0';
	return n ? (int)n : -ENOENT;
}

void target_identify(struct tracer *r)
{
	size_t i;

	for (i = 0; r->opts->follow && i < r->opts->filter.n_pids; i++) {
		struct target *t = &r->target[i];

		if (t->pid && t->identity.exe[0] && !t->identity.cmdline[0])
			identify_command(r, t->pid, &t->identity);
	}
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

static void say_inner(const struct filter_pid *asked, const struct filter_process *is)
{
	char comm[64];

	fprintf(stderr, "hcwatch: -p %d is process %d of this host, %s\n", (int)asked->number,
		(int)is->pid, hcw_escape(comm, sizeof(comm), is->comm, strnlen(is->comm, 15)));
	fprintf(stderr, "  (%d in pid namespace %llu)\n", (int)is->inner,
		(unsigned long long)is->ns);
}

static void say_other(const struct filter_pid *asked, const struct filter_process *other)
{
	char comm[64];

	fprintf(stderr, "hcwatch: -p %d is taken as the host's pid\n", (int)asked->number);
	fprintf(stderr, "  process %d, %s, has that number in a container: -p %d\n",
		(int)other->pid,
		hcw_escape(comm, sizeof(comm), other->comm, strnlen(other->comm, 15)),
		(int)other->pid);
}

/* Probes tell host pids: where /proc does not show these, nobody can be named, nor looked at. */
static int check_pids(struct tracer *r)
{
	r->pids = filter_pids(r->root);
	if (r->pids == FILTER_PIDS_HOST)
		return 0;
	if (!filter_named(&r->opts->filter) && !r->opts->argv) {
		fputs("hcwatch: pids are the host's, /proc here shows others: pools and\n"
		      "  iterations of running processes cannot be looked at\n",
		      stderr);
		return 0;
	}
	if (r->pids == FILTER_PIDS_FOREIGN)
		hcw_err_set(r->err, -EXDEV, HCW_EXIT_UNSUPPORTED,
			    "/proc shows another pid namespace than this process is in");
	else
		hcw_err_set(r->err, -EXDEV, HCW_EXIT_UNSUPPORTED,
			    "processes have other pids on the host than in this container");
	hcw_err_hint(r->err,
		     "Probes tell the host's. Run it on the host, where -p takes a\n"
		     "container's pids, too; or in a container with --pid=host. Without -p\n"
		     "and command, all processes at KFD can be traced from here.");
	return -EXDEV;
}

int target_resolve(struct tracer *r)
{
	const struct filter *f = &r->opts->filter;
	struct filter_process other;
	char text[40], shown[48];
	size_t i, at_kfd;
	int ret = check_pids(r);

	for (i = 0; !ret && i < f->n_pids; i++) {
		struct filter_process *is = &r->named[i];

		ret = filter_find(r->root, &f->pid[i], is, &other, r->err);
		if (!ret && !running(r, is->pid, &r->target[i].start_ticks))
			ret = hcw_err_set(r->err, -ESRCH, HCW_EXIT_USAGE,
					  "no process %d: it has ended", (int)is->pid);
		if (!ret && is->inner)
			say_inner(&f->pid[i], is);
		else if (!ret && other.pid)
			say_other(&f->pid[i], &other);
	}
	if (!ret)
		ret = filter_check(f, r->root, &at_kfd, r->err);
	if (!ret && filter_waits(f) && !at_kfd && !f->n_pids) {
		filter_text(f, text, sizeof(text));
		fprintf(stderr, "hcwatch: %s: nobody uses KFD yet, waiting\n",
			hcw_escape(shown, sizeof(shown), text, sizeof(text)));
	}
	return ret;
}

/* `start_ticks` tells it from another process that has got its number meanwhile. */
static int follow(struct tracer *r, struct target *t, pid_t pid, uint64_t start_ticks)
{
	int ret;

	if (!running(r, pid, &t->start_ticks) || t->start_ticks != start_ticks)
		return hcw_err_set(r->err, -ESRCH, HCW_EXIT_USAGE, "process %d has ended meanwhile",
				   (int)pid);
	if (r->opts->follow && identify(r, pid, &t->identity))
		t->identity.exe[0] =
			'\0'; /* a kernel thread, or not ours to look at: nobody follows it */
	ret = target_watch(r, pid);
	if (!ret)
		t->pid = t->last_pid = pid;
	return ret;
}

int target_start(struct tracer *r)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < r->opts->filter.n_pids; i++)
		ret = follow(r, &r->target[i], r->named[i].pid, r->target[i].start_ticks);
	return ret ? ret : filter_look(r);
}

static bool followed(const struct tracer *r, pid_t pid)
{
	size_t i;

	for (i = 0; i < r->opts->filter.n_pids; i++)
		if (r->target[i].pid == pid)
			return true;
	return false;
}

struct search {
	struct tracer *r;
	const struct identity *identity;
	pid_t found;
	uint64_t start_ticks;
};

/* The command line last, and only of those that are alike so far: most are none of ours. */
static bool same(struct tracer *r, pid_t pid, const struct identity *as)
{
	struct identity id;

	if (identify(r, pid, &id) || strcmp(id.comm, as->comm) || strcmp(id.exe, as->exe))
		return false;
	return !as->cmdline[0] ||
	       (!identify_command(r, pid, &id) && !strcmp(id.cmdline, as->cmdline));
}

static int look_at(pid_t pid, void *ctx)
{
	struct search *s = ctx;

	/* ranks of one server can look the same */
	if (followed(s->r, pid) || !running(s->r, pid, &s->start_ticks) ||
	    !same(s->r, pid, s->identity))
		return 0;
	s->found = pid;
	return 1;
}

static void find_successor(struct tracer *r, struct target *t)
{
	struct search s = {.r = r, .identity = &t->identity};

	if (hcs_proc_each(r->root, look_at, &s, hcs_deadline_ms(READ_MS)) != 1)
		return;
	if (follow(r, t, s.found, s.start_ticks))
		t->pid = 0;
	else
		note_header(r); /* a failed sink is noticed at the next record */
}

/* The same pid with another start is another process. */
static bool gone(struct tracer *r, struct target *t)
{
	uint64_t start;

	if (t->pid && running(r, t->pid, &start) && start == t->start_ticks)
		return false;
	if (t->pid && r->opts->follow && t->identity.exe[0] && !t->identity.cmdline[0]) {
		fprintf(stderr, "hcwatch: process %d ended before it was quiet: its successor\n",
			(int)t->pid);
		fputs("  is known by program and name, not by its command line\n", stderr);
	}
	t->pid = 0;
	return true;
}

bool target_over(struct tracer *r)
{
	bool search = hcs_boot_ns() >= r->next_search, over = true;
	size_t i;

	for (i = 0; i < r->opts->filter.n_pids; i++) {
		struct target *t = &r->target[i];

		if (!gone(r, t)) {
			over = false;
			continue;
		}
		if (!r->opts->follow || !t->identity.exe[0])
			continue;
		over = false;
		if (!search)
			continue;
		find_successor(r, t);
		r->next_search = hcs_boot_ns() + SEARCH_NS;
	}
	return over && !filter_waits(&r->opts->filter);
}

pid_t target_shown(const struct tracer *r)
{
	if (r->opts->argv)
		return r->command;
	return r->opts->filter.n_pids ? r->target[0].last_pid : r->first_taken;
}
