/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "../../bpf/hcwatch_abi.h"
#include "../../user/sys/proc.h"
#include "refusal.h"

#define DEADLINE_MS 1000
#define KTHREADD    2 /* parent of every kernel thread */

int stall_check_pid(int root, pid_t pid, struct stall_err *err)
{
	struct hcs_proc p;
	int ret = hcs_proc_read(root, pid, &p, hcs_deadline_ms(DEADLINE_MS));

	if (ret == -ENOENT)
		return stall_fail(err, HCW_EXIT_USAGE, "no such process: %d", (int)pid);
	if (ret)
		return 0;
	if (p.state == 'Z' || p.state == 'X')
		return stall_fail(err, HCW_EXIT_USAGE, "process %d has exited (zombie)", (int)pid);
	if (pid == KTHREADD || p.parent == KTHREADD)
		return stall_fail(err, HCW_EXIT_USAGE,
				  "process %d is a kernel thread, it has no memory", (int)pid);
	return 0;
}

static int find_allowed(char *line, void *ctx)
{
	static const char key[] = "Mems_allowed_list:\t";

	if (strncmp(line, key, sizeof(key) - 1) != 0)
		return 0;
	snprintf(ctx, 64, "%s", line + sizeof(key) - 1);
	return 1;
}

void stall_mems_allowed(int root, char *text, size_t size)
{
	char found[64] = "";

	hcs_each_line(root, "proc/self/status", find_allowed, found, hcs_deadline_ms(DEADLINE_MS));
	snprintf(text, size, "%s", found);
}

/* EPERM and ENOSYS: not the pages are refused, the call is. */
static int blocked(const struct stall_refused *r, struct stall_err *err)
{
	bool perm = r->error == EPERM;

	if (r->other && perm) {
		stall_fail(err, HCW_EXIT_PERMISSION,
			   "moving pages of process %d is not permitted (EPERM)", (int)r->other);
		stall_hint(err,
			   "it needs ptrace read access to that process (same user, or "
			   "CAP_SYS_PTRACE) or,\nfor pages it shares, CAP_SYS_NICE; in a container "
			   "also a seccomp profile that\nallows move_pages");
		return -1;
	}
	stall_fail(err, perm ? HCW_EXIT_PERMISSION : HCW_EXIT_UNSUPPORTED,
		   "%s is blocked here (%s): this says nothing about the pool", r->trigger,
		   perm ? "EPERM" : "ENOSYS");
	stall_hint(
		err,
		"a container's seccomp profile often refuses it: run on the host, or allow %s in "
		"the profile",
		r->trigger);
	return -1;
}

static int no_node(const struct stall_refused *r, struct stall_err *err)
{
	char before[80] = "";

	if (r->moved)
		snprintf(before, sizeof(before), "; %u pages had moved before", r->moved);
	stall_fail(err, HCW_EXIT_UNSUPPORTED, "node %d is not there or has no memory (ENODEV)%s",
		   r->target_node, before);
	stall_hint(err, "see /sys/devices/system/node/has_memory; a node may have gone offline");
	return -1;
}

/* EINVAL and ESRCH of a call by pid say something about the process, not about its arguments. */
static int wrong_process(int root, const struct stall_refused *r, struct stall_err *err)
{
	if (stall_check_pid(root, r->other, err))
		return -1;
	return stall_fail(err, HCW_EXIT_USAGE, "%s does not take process %d: %s", r->trigger,
			  (int)r->other, strerror(r->error));
}

static int not_this_memory(const struct stall_refused *r, struct stall_err *err)
{
	stall_fail(err, HCW_EXIT_UNSUPPORTED, "the kernel refuses %s on memory of this kind (%s)",
		   r->trigger, strerror(r->error));
	stall_hint(err,
		   "see hcstall --trigger list for what it needs; other allocators or pages may "
		   "take it");
	return -1;
}

int stall_refused(int root, const struct stall_refused *r, struct stall_err *err)
{
	switch (r->error) {
	case EPERM:
	case ENOSYS:
		return blocked(r, err);
	case EACCES:
		stall_fail(err, HCW_EXIT_PERMISSION,
			   "node %d is outside this task's cpuset (Mems_allowed_list: %s)",
			   r->target_node, r->allowed && r->allowed[0] ? r->allowed : "unknown");
		stall_hint(err, "cpuset.mems of its cgroup (docker: --cpuset-mems) must have both "
				"nodes");
		return -1;
	case ENODEV:
		return no_node(r, err);
	case ESRCH:
	case EINVAL:
		return r->other ? wrong_process(root, r, err) : not_this_memory(r, err);
	case ECHILD:
		return stall_fail(err, HCW_EXIT_INCOMPLETE, "the second process of %s died",
				  r->trigger);
	default:
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "%s to node %d failed: %s", r->trigger,
				  r->target_node, strerror(r->error));
	}
}

struct text {
	char *at;
	size_t left;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at, t->left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= t->left)
		n = t->left ? (int)t->left - 1 : 0;
	t->at += n;
	t->left -= (size_t)n;
}

/*
 * Of a hugetlb page one address is asked for, and -EACCES or -EBUSY of another says nothing.
 * Whoever faults on the page while it is unmapped holds a reference to it: the kernel's ten tries
 * then all give -EAGAIN or find it mapped (measured on 6.1, mm/migrate.c
 * unmap_and_move_huge_page()).
 */
static void explain_hugetlb(struct text *out, const struct stall_pages *p)
{
	add(out,
	    "%u addresses are in huge pages that did not move: touched just then by a CPU or by "
	    "the restore, or no free huge page on the target node\n",
	    p->attempted - p->moved - p->already);
}

static void explain_pages(struct text *out, const struct stall_pages *p)
{
	if (p->efault + p->enoent)
		add(out,
		    "%u have no page: never written, the zero page, or not mapped; nothing was "
		    "tried there\n",
		    p->efault + p->enoent);
	if (p->eacces)
		add(out,
		    "%u are mapped by another process too: only MPOL_MF_MOVE_ALL (CAP_SYS_NICE) "
		    "moves them\n",
		    p->eacces);
	if (p->ebusy)
		add(out, "%u could not be isolated (busy): somebody else was using them\n",
		    p->ebusy);
	if (p->unanswered)
		add(out, "%u got no answer: the call ended before them\n", p->unanswered);
	if (p->other)
		add(out, "%u stayed on another node, or failed otherwise\n", p->other);
}

void stall_explain(const struct stall_trial *t, const struct stall_trigger *trigger, bool hugetlb,
		   char *text, size_t size)
{
	const struct stall_pages *p = &t->pages;
	struct text out = {text, size};

	text[0] = '\0';
	if (t->outcome <= STALL_DONE)
		return;
	if (trigger->counted == STALL_BY_STATUS && t->rc > 0)
		add(&out, "the kernel gave up on %ld pages (positive return)\n", t->rc);
	if (p->already)
		add(&out, "%u were on node %d before\n", p->already, t->target_node);
	if (hugetlb)
		explain_hugetlb(&out, p);
	else
		explain_pages(&out, p);
}
