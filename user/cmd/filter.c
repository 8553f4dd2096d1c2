/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../base/escape.h"
#include "../sys/cgroup.h"
#include "../sys/kfd.h"
#include "../sys/num.h"
#include "../sys/pidns.h"
#include "../sys/proc.h"
#include "filter.h"

#define READ_MS	   1000
#define WALK_MS	   10000
#define MAX_PID	   4194304 /* PID_MAX_LIMIT */
#define COMM_BYTES (HCW_COMM_LEN - 1)
#define MOUNT	   "/sys/fs/cgroup"

static int refuse(const char **why, const char *text)
{
	*why = text;
	return -EINVAL;
}

int filter_add_pid(struct filter *f, const char *text, const char **why)
{
	const char *at = strchr(text, '@');
	char number[16];
	uint64_t pid, ns = 0;

	if (f->n_pids == FILTER_MAX)
		return refuse(why, "too many processes");
	snprintf(number, sizeof(number), "%.*s", at ? (int)(at - text) : 15, text);
	if (hcs_num_u64(number, 1, MAX_PID, &pid))
		return refuse(why, "not a pid");
	if (at && hcs_num_u64(at + 1, 1, UINT32_MAX, &ns))
		return refuse(why, "not a pid namespace, as lsns(8) prints it");
	f->pid[f->n_pids++] = (struct filter_pid){.number = (pid_t)pid, .ns = ns};
	return 0;
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

int filter_add_comm(struct filter *f, const char *text, const char **why)
{
	if (f->n_comms == FILTER_MAX)
		return refuse(why, "too many names");
	if (!*text)
		return refuse(why, "no name");
	if (strlen(text) > COMM_BYTES && !is_pattern(text))
		return refuse(why, "a comm has 15 bytes at most; cut it there, as ps -o comm does");
	f->comm[f->n_comms++] = text;
	return 0;
}

int filter_add_cgroup(struct filter *f, const char *text, const char **why)
{
	size_t mount = strlen(MOUNT);

	if (f->n_cgroups == FILTER_MAX)
		return refuse(why, "too many groups");
	if (!strncmp(text, MOUNT "/", mount + 1))
		text += mount;
	if (*text != '/')
		return refuse(why, "not a path, as it stands in /proc/PID/cgroup: /a/b");
	f->cgroup[f->n_cgroups++] = text;
	return 0;
}

bool filter_waits(const struct filter *f)
{
	return f->n_comms || f->n_cgroups;
}

bool filter_named(const struct filter *f)
{
	return f->n_pids || filter_waits(f);
}

/* A name is taken as it is first: brackets are allowed in one. */
static bool comm_matches(const char *pattern, const char *comm)
{
	return !strcmp(pattern, comm) || (is_pattern(pattern) && !fnmatch(pattern, comm, 0));
}

bool filter_takes(const struct filter *f, int root, pid_t pid)
{
	struct hcs_proc p;
	size_t i;

	if (f->n_comms && !hcs_proc_read(root, pid, &p, hcs_deadline_ms(READ_MS)))
		for (i = 0; i < f->n_comms; i++)
			if (comm_matches(f->comm[i], p.comm))
				return true;
	for (i = 0; i < f->n_cgroups; i++)
		if (hcs_cgroup_in(root, pid, f->cgroup[i], hcs_deadline_ms(READ_MS)) == 1)
			return true;
	return false;
}

struct search {
	int root;
	const struct filter_pid *named;
	pid_t but; /* not this one */
	struct filter_process found[FILTER_MAX];
	size_t n; /* found, also those there was no room for */
};

/* Which of its numbers, but the one in /proc, is the one named; 0 = none. */
static unsigned int level_of(int root, const struct hcs_pid_names *names,
			     const struct filter_pid *named, uint64_t *ns)
{
	uint64_t inode[HCS_PIDNS_LEVELS] = {0};
	unsigned int i;

	for (i = 1; i < names->levels && names->number[i] != named->number;)
		i++;
	if (i == names->levels)
		return 0;
	hcs_pid_ns_levels(root, names->tgid, inode, names->levels, hcs_deadline_ms(READ_MS));
	for (; i < names->levels; i++) {
		if (names->number[i] != named->number || (named->ns && inode[i] != named->ns))
			continue;
		*ns = inode[i];
		return i;
	}
	return 0;
}

static int consider(pid_t pid, void *ctx)
{
	struct filter_process found = {.pid = pid, .comm = "?"};
	struct hcs_pid_names names;
	struct search *s = ctx;
	struct hcs_proc p;

	if (pid == s->but || hcs_pid_names(s->root, pid, &names, hcs_deadline_ms(READ_MS)) ||
	    !level_of(s->root, &names, s->named, &found.ns))
		return 0;
	found.inner = s->named->number;
	if (!hcs_proc_read(s->root, pid, &p, hcs_deadline_ms(READ_MS)))
		memcpy(found.comm, p.comm, sizeof(found.comm));
	if (s->n < FILTER_MAX)
		s->found[s->n] = found;
	s->n++;
	return 0;
}

__attribute__((format(printf, 3, 4))) static void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + n, size - n, fmt, args);
	va_end(args);
}

static int several(const struct search *s, struct hcw_err *err)
{
	char list[sizeof(err->hint) - 128] = "";
	size_t i, shown = s->n < 4 ? s->n : 4;
	char comm[64];

	for (i = 0; i < shown; i++)
		add(list, sizeof(list), "process %d, %s, in pid namespace %llu\n",
		    (int)s->found[i].pid,
		    hcw_escape(comm, sizeof(comm), s->found[i].comm, strnlen(s->found[i].comm, 15)),
		    (unsigned long long)s->found[i].ns);
	if (s->n > shown)
		add(list, sizeof(list), "and %zu more\n", s->n - shown);
	hcw_err_set(err, -ESRCH, HCW_EXIT_USAGE,
		    "no process %d on this host, but %zu have that number in a container",
		    (int)s->named->number, s->n);
	hcw_err_hint(err, "%sTake one: -p %d@NAMESPACE, or its pid on the host.", list,
		     (int)s->named->number);
	return -ESRCH;
}

static int none(const struct filter_pid *named, struct hcw_err *err)
{
	if (named->ns) {
		hcw_err_set(err, -ESRCH, HCW_EXIT_USAGE, "no process %d in pid namespace %llu",
			    (int)named->number, (unsigned long long)named->ns);
		hcw_err_hint(err, "lsns -t pid lists the namespaces, and a process of each.");
		return -ESRCH;
	}
	hcw_err_set(err, -ESRCH, HCW_EXIT_USAGE, "no process %d", (int)named->number);
	hcw_err_hint(err, "-p takes the pid of a running process, as this host sees it\n"
			  "or as its container does.");
	return -ESRCH;
}

/* 1: it is a process of /proc's own namespace. */
static int on_host(int root, const struct filter_pid *named, struct filter_process *out,
		   struct hcw_err *err)
{
	struct hcs_pid_names names;
	struct hcs_proc p;
	uint64_t ns;

	if (hcs_pid_names(root, named->number, &names, hcs_deadline_ms(READ_MS)))
		return 0;
	if (named->ns &&
	    (names.levels > 1 || hcs_pid_ns(root, named->number, &ns, hcs_deadline_ms(READ_MS)) ||
	     ns != named->ns))
		return 0;
	if (names.tgid != named->number) {
		hcw_err_set(err, -ESRCH, HCW_EXIT_USAGE, "%d is a thread of process %d",
			    (int)named->number, (int)names.tgid);
		hcw_err_hint(err, "Whole processes are watched: -p %d.", (int)names.tgid);
		return -ESRCH;
	}
	*out = (struct filter_process){.pid = named->number, .comm = "?"};
	if (!hcs_proc_read(root, named->number, &p, hcs_deadline_ms(READ_MS)))
		memcpy(out->comm, p.comm, sizeof(out->comm));
	return 1;
}

int filter_find(int root, const struct filter_pid *named, struct filter_process *out,
		struct filter_process *other, struct hcw_err *err)
{
	struct search s = {.root = root, .named = named};
	int ret = on_host(root, named, out, err);

	*other = (struct filter_process){0};
	if (ret < 0)
		return ret;
	if (ret) {
		s.but = out->pid;
		if (!named->ns)
			hcs_kfd_each(root, consider, &s, hcs_deadline_ms(WALK_MS));
		if (s.n)
			*other = s.found[0];
		return 0;
	}
	ret = hcs_proc_each(root, consider, &s, hcs_deadline_ms(WALK_MS));
	if (ret < 0)
		return hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED,
				   "cannot list the processes in /proc: %s", strerror(-ret));
	if (!s.n)
		return none(named, err);
	if (s.n > 1)
		return several(&s, err);
	*out = s.found[0];
	return 0;
}

struct census {
	const struct filter *f;
	int root;
	bool comm[FILTER_MAX], cgroup[FILTER_MAX]; /* has somebody */
	size_t taken;
};

static int count_matches(pid_t pid, void *ctx)
{
	struct census *c = ctx;
	struct hcs_proc p;
	size_t i;

	if (hcs_proc_read(c->root, pid, &p, hcs_deadline_ms(READ_MS)))
		return 0;
	for (i = 0; i < c->f->n_comms; i++)
		c->comm[i] |= comm_matches(c->f->comm[i], p.comm);
	for (i = 0; i < c->f->n_cgroups; i++)
		c->cgroup[i] |=
			hcs_cgroup_in(c->root, pid, c->f->cgroup[i], hcs_deadline_ms(READ_MS)) == 1;
	return 0;
}

static int count_at_kfd(pid_t pid, void *ctx)
{
	struct census *c = ctx;

	c->taken += filter_takes(c->f, c->root, pid);
	return 0;
}

static int nobody(struct hcw_err *err, const char *what, const char *name, const char *where)
{
	hcw_err_set(err, -ESRCH, HCW_EXIT_USAGE, "no process %s %s", what, name);
	hcw_err_hint(err,
		     "%s\n"
		     "For one that is not there yet: give its command, or --all.",
		     where);
	return -ESRCH;
}

int filter_check(const struct filter *f, int root, size_t *at_kfd, struct hcw_err *err)
{
	struct census c = {.f = f, .root = root};
	size_t i;
	int ret;

	*at_kfd = 0;
	if (!filter_waits(f))
		return 0;
	ret = hcs_proc_each(root, count_matches, &c, hcs_deadline_ms(WALK_MS));
	if (ret < 0)
		return hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED,
				   "cannot list the processes in /proc: %s", strerror(-ret));
	for (i = 0; i < f->n_comms; i++)
		if (!c.comm[i])
			return nobody(err, "is named", f->comm[i],
				      "ps -eo pid,comm lists the names; a * stands for anything.");
	for (i = 0; i < f->n_cgroups; i++)
		if (!c.cgroup[i])
			return nobody(err, "is in cgroup", f->cgroup[i],
				      "/proc/PID/cgroup says where a process is.");
	hcs_kfd_each(root, count_at_kfd, &c, hcs_deadline_ms(WALK_MS));
	*at_kfd = c.taken;
	return 0;
}

void filter_text(const struct filter *f, char *buf, size_t size)
{
	size_t i;

	buf[0] = '\0';
	for (i = 0; i < f->n_pids; i++) {
		add(buf, size, "%s-p %d", *buf ? ", " : "", (int)f->pid[i].number);
		if (f->pid[i].ns)
			add(buf, size, "@%llu", (unsigned long long)f->pid[i].ns);
	}
	for (i = 0; i < f->n_comms; i++)
		add(buf, size, "%s--comm %s", *buf ? ", " : "", f->comm[i]);
	for (i = 0; i < f->n_cgroups; i++)
		add(buf, size, "%s--cgroup %s", *buf ? ", " : "", f->cgroup[i]);
}

/*
 * Whether /proc was mounted in the initial namespace: by the first process there, or where that is
 * not ours to look at by the father of the kernel's threads, whom no other shows.
 */
static bool is_of_host(int root, uint64_t deadline)
{
	struct hcs_proc p;
	char line[8];
	uint64_t ns;

	if (!hcs_pid_ns(root, 1, &ns, deadline))
		return ns == HCS_PIDNS_INITIAL;
	return !hcs_proc_read(root, 2, &p, deadline) && !p.parent && !strcmp(p.comm, "kthreadd") &&
	       !hcs_proc_cmdline(root, 2, line, sizeof(line), deadline);
}

enum filter_pids filter_pids(int root)
{
	uint64_t deadline = hcs_deadline_ms(READ_MS), ns;
	struct hcs_pid_names names;
	pid_t self;

	if (hcs_pid_self(root, &self, deadline) || hcs_pid_names(root, self, &names, deadline))
		return FILTER_PIDS_FOREIGN;
	if (names.levels == 1 && self != getpid())
		return FILTER_PIDS_FOREIGN;
	if (names.levels > 1 && names.number[names.levels - 1] != getpid())
		return FILTER_PIDS_FOREIGN;
	if (names.levels > 1)
		return is_of_host(root, deadline) ? FILTER_PIDS_HOST : FILTER_PIDS_INNER;
	if (hcs_pid_ns(root, self, &ns, deadline))
		return FILTER_PIDS_INNER;
	return ns == HCS_PIDNS_INITIAL ? FILTER_PIDS_HOST : FILTER_PIDS_INNER;
}

struct child_search {
	int root;
	pid_t parent, child; /* as /proc numbers the one, as we number the other */
	pid_t found;
};

static int is_child(pid_t pid, void *ctx)
{
	struct hcs_pid_names names;
	struct child_search *s = ctx;
	struct hcs_proc p;

	if (hcs_proc_read(s->root, pid, &p, hcs_deadline_ms(READ_MS)) || p.parent != s->parent ||
	    hcs_pid_names(s->root, pid, &names, hcs_deadline_ms(READ_MS)) ||
	    names.number[names.levels - 1] != s->child)
		return 0;
	s->found = pid;
	return 1;
}

pid_t filter_child(int root, pid_t child)
{
	struct child_search s = {.root = root, .child = child};

	if (hcs_pid_self(root, &s.parent, hcs_deadline_ms(READ_MS)))
		return -ENOENT;
	if (s.parent == getpid())
		return child;
	hcs_proc_each(root, is_child, &s, hcs_deadline_ms(WALK_MS));
	return s.found ? s.found : -ENOENT;
}
