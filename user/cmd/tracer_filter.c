/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is taken by --comm and --cgroup. The kernel side knows neither: it lists a process that opens
 * KFD on trial, and says so; here it is decided. A comm can be set later, so those at KFD are
 * looked at once a second, too.
 */
#include <errno.h>
#include "../probe/watch.h"
#include "../sys/kfd.h"
#include "../sys/pidns.h"
#include "../sys/proc.h"
#include "tracer_internal.h"

#define READ_MS	   1000
#define WALK_MS	   5000
#define FAMILY_MAX 1024

/* From there move_pages(2) names it by these. */
static void watch_inner_pids(struct tracer *r, pid_t pid)
{
	uint64_t ns[HCS_PIDNS_LEVELS];
	struct hcs_pid_names names;
	unsigned int i;

	if (hcs_pid_names(r->root, pid, &names, hcs_deadline_ms(READ_MS)) || names.levels < 2 ||
	    hcs_pid_ns_levels(r->root, pid, ns, names.levels, hcs_deadline_ms(READ_MS)))
		return;
	for (i = 1; i < names.levels; i++)
		if (ns[i])
			hcw_session_inner_pid(r->session, ns[i], names.number[i], pid);
}

struct family {
	struct tracer *r;
	__u32 member[FAMILY_MAX];
	size_t n;
	size_t left_out; /* in the last look: they did not fit */
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

static int watch_member(struct family *f, pid_t pid)
{
	int ret = hcw_session_watch(f->r->session, pid, f->r->err);

	if (ret)
		return ret;
	rejected_clear(&f->r->rejected, (__u32)pid);
	f->member[f->n++] = (__u32)pid;
	f->grew = true;
	watch_inner_pids(f->r, pid);
	return 0;
}

static int join_family(pid_t pid, void *ctx)
{
	struct family *f = ctx;
	struct hcs_proc p;

	if (in_family(f, pid) || hcs_proc_read(f->r->root, pid, &p, hcs_deadline_ms(READ_MS)) ||
	    !in_family(f, p.parent))
		return 0;
	if (f->n < FAMILY_MAX)
		return watch_member(f, pid);
	f->left_out++;
	return 0;
}

static void say_left_out(const struct family *f)
{
	fprintf(stderr, "hcwatch: process %u has more than %d descendants:\n", f->member[0],
		FAMILY_MAX - 1);
	fprintf(stderr, "  %zu of them, and theirs, are not watched\n", f->left_out);
}

/*
 * The children that are there already; those to come are followed in the kernel. A server's ranks
 * are children, and older than the wish to watch them. Again until a look finds none that is new:
 * one may be forked while we look.
 */
int target_watch(struct tracer *r, pid_t pid)
{
	struct family f = {.r = r};
	size_t i;
	int ret = watch_member(&f, pid);

	while (!ret && f.grew) {
		f.grew = false;
		f.left_out = 0;
		ret = hcs_proc_each(r->root, join_family, &f, hcs_deadline_ms(WALK_MS));
	}
	if (ret == -ETIMEDOUT)
		ret = hcw_err_set(r->err, ret, HCW_EXIT_INCOMPLETE,
				  "cannot list the children of process %d in time", (int)pid);
	if (f.left_out)
		say_left_out(&f);
	for (i = 0; i < f.n; i++)
		watch_process(r, f.member[i]);
	return ret;
}

static void reject(struct tracer *r, __u32 tgid)
{
	hcw_session_unwatch(r->session, (pid_t)tgid);
	rejected_add(&r->rejected, tgid);
}

static int take_process(struct tracer *r, pid_t pid)
{
	bool first = !r->first_taken;
	int ret = target_watch(r, pid);

	if (ret || !first)
		return ret;
	r->first_taken = pid;
	/* before the loop the header is still to come */
	return r->records ? note_header(r) : 0;
}

static int look_at(pid_t pid, void *ctx)
{
	struct tracer *r = ctx;

	if (hcw_session_watched(r->session, pid) == HCW_WATCHED)
		return 0;
	return filter_takes(&r->opts->filter, r->root, pid) ? take_process(r, pid) : 0;
}

static int number_process(pid_t pid, void *ctx)
{
	watch_inner_pids(ctx, pid);
	return 0;
}

void filter_number_all(struct tracer *r)
{
	if (r->pids == FILTER_PIDS_HOST)
		hcs_kfd_each(r->root, number_process, r, hcs_deadline_ms(WALK_MS));
}

int filter_look(struct tracer *r)
{
	int ret;

	if (!filter_waits(&r->opts->filter))
		return 0;
	ret = hcs_kfd_each(r->root, look_at, r, hcs_deadline_ms(WALK_MS));
	/* no KFD yet, or a list that cannot be read in time: the next look */
	return ret == -ENOENT || ret == -ETIMEDOUT ? 0 : ret;
}

int filter_announced(struct tracer *r, const struct hcw_task *task)
{
	if (!filter_waits(&r->opts->filter) ||
	    hcw_session_watched(r->session, (pid_t)task->tgid) != HCW_WATCHED_TRIAL)
		return 0;
	if (filter_takes(&r->opts->filter, r->root, (pid_t)task->tgid))
		return take_process(r, (pid_t)task->tgid);
	reject(r, task->tgid);
	return 0;
}

/* 0 where the record names no victim, or only its mm. */
static __u32 victim_of(const struct hcw_rec *rec)
{
	const void *body = rec + 1;

	switch (rec->type) {
	case HCW_R_INVAL:
		return ((const struct hcw_inval *)body)->victim;
	case HCW_R_QUIESCE:
		return ((const struct hcw_quiesce *)body)->victim;
	case HCW_R_EVICT:
	case HCW_R_RESTORE:
		return ((const struct hcw_evict *)body)->victim;
	case HCW_R_ITER_BEGIN:
	case HCW_R_ITER_END:
		return ((const struct hcw_iter *)body)->tgid;
	case HCW_R_POOL_ALLOC:
	case HCW_R_POOL_FREE:
		return ((const struct hcw_pool *)body)->tgid;
	default:
		return 0;
	}
}

bool filter_drops(const struct tracer *r, const struct hcw_rec *rec)
{
	__u32 victim = filter_waits(&r->opts->filter) ? victim_of(rec) : 0;

	return rejected_has(&r->rejected, victim);
}
