/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the stream makes us look at: the mapping of a new pool, the names of a new stack, new files
 * of a process. smaps and uprobe registration take the process's mmap_lock, which the restore
 * worker holds for read while it faults the pool in: neither may touch a process that is evicted or
 * was a moment ago.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "../probe/watch.h"
#include "../sys/maps.h"
#include "../sys/proc.h"
#include "tracer_internal.h"

#define READ_MS	 2000
#define MAX_MAPS 64	    /* mappings under one pool */
#define LOOK_NS	 2000000ull /* whether all are quiet, while files are gone through */

/* One that was born while we watched cannot have been evicted before. */
static bool born_since(struct tracer *r, __u32 tgid)
{
	__u64 tick_ns = 1000000000ull / (__u64)sysconf(_SC_CLK_TCK);
	struct hcs_proc p;

	return r->pids == FILTER_PIDS_HOST &&
	       !hcs_proc_read(r->root, (pid_t)tgid, &p, hcs_deadline_ms(READ_MS)) &&
	       p.start_ticks * tick_ns >= r->since;
}

struct watched *watch_process(struct tracer *r, __u32 tgid)
{
	struct watched *w = watched_find(&r->watched, tgid, 0);

	if (!w)
		w = watched_add(&r->watched, tgid, born_since(r, tgid) ? 0 : hcs_boot_ns());
	if (!w && tgid && !r->told_crowd) {
		r->told_crowd = true;
		fprintf(stderr,
			"hcwatch: more than %d processes are watched at once: of the others\n",
			WATCHED_MAX);
		fputs("  files are not searched for marks, and pools are told without mapping\n",
		      stderr);
	}
	return w;
}

static int note_mapping(struct tracer *r, const struct pending_pool *p, const struct hcs_map *m,
			__u32 vmflags)
{
	struct {
		struct hcw_mapping mapping;
		char path[HCS_MAP_PATH];
	} b = {.mapping = {.pool = p->ptr, .tgid = p->tgid, .vmflags = vmflags}};

	b.mapping.lo = m ? m->lo : p->ptr;
	b.mapping.hi = m ? m->hi : p->ptr + p->bytes;
	if (m)
		memcpy(b.path, m->path, sizeof(b.path));
	return note_put(r, HCW_R_MAPPING, &b, sizeof(b.mapping) + strlen(b.path) + 1);
}

static int read_mapping(struct tracer *r, const struct pending_pool *p)
{
	struct hcs_map map[MAX_MAPS];
	int i, n = 0, ret = 0;

	if (r->pids == FILTER_PIDS_HOST)
		n = hcs_smaps_range(r->root, (pid_t)p->tgid, p->ptr, p->ptr + p->bytes, map,
				    MAX_MAPS, hcs_deadline_ms(READ_MS));
	if (n <= 0)
		return note_mapping(r, p, NULL, HCW_VM_UNREADABLE);
	for (i = 0; i < n && !ret; i++)
		ret = note_mapping(r, p, &map[i], map[i].vmflags);
	return ret;
}

int watch_pending(struct tracer *r, bool last_call)
{
	size_t i = 0;
	int ret;

	while (i < r->n_pending) {
		struct pending_pool p = r->pending[i];

		const struct watched *w = watched_find(&r->watched, p.tgid, 0);

		if (w && !watched_settled(w, hcs_boot_ns())) {
			if (!last_call) {
				i++;
				continue;
			}
			ret = note_mapping(r, &p, NULL, HCW_VM_UNREADABLE);
		} else {
			ret = read_mapping(r, &p);
		}
		if (ret)
			return ret;
		r->pending[i] = r->pending[--r->n_pending];
	}
	return 0;
}

static int pool_seen(struct tracer *r, const struct hcw_pool *b)
{
	struct pending_pool p = {.ptr = b->ptr, .bytes = b->bytes, .tgid = b->tgid};

	if (!watch_process(r, b->tgid) || r->n_pending == TRACER_MAX_PENDING)
		return note_mapping(r, &p, NULL, HCW_VM_UNREADABLE);
	r->pending[r->n_pending++] = p;
	return 0;
}

/* A pool freed before its mapping was read stays unread: its address may belong to something else
 * by now. */
static int pool_gone(struct tracer *r, const struct hcw_pool *b)
{
	size_t i = 0;

	while (i < r->n_pending) {
		if (r->pending[i].tgid == b->tgid && r->pending[i].ptr == b->ptr)
			r->pending[i] = r->pending[--r->n_pending];
		else
			i++;
	}
	return 0;
}

static int stack_seen(struct tracer *r, __s32 id)
{
	struct {
		struct hcw_stack stack;
		char names[HCW_STACK_DEPTH * 96];
	} b = {.stack = {.id = id}};
	__u64 ip[HCW_STACK_DEPTH];
	size_t used = 0;
	int i, depth;

	if (id < 0 || id >= TRACER_MAX_STACKS || r->stack_named[id])
		return 0;
	r->stack_named[id] = 1;
	depth = hcw_session_stack(r->session, id, ip, HCW_STACK_DEPTH);
	if (!r->symbols)
		return 0; /* no names: the episode is told without its stack */
	for (i = 0; i < depth; i++) {
		if (hcs_kallsyms_name(r->symbols, ip[i], b.names + used, sizeof(b.names) - used))
			break;
		used += strlen(b.names + used) + 1;
		b.stack.depth++;
	}
	return b.stack.depth ? note_put(r, HCW_R_STACK, &b, sizeof(b.stack) + used) : 0;
}

/* A child, also of one that we run or watch: it can map files nobody has looked at yet. */
static void task_seen(struct tracer *r, const struct hcw_rec *rec)
{
	const struct hcw_task *k = (const void *)(rec + 1);
	int how = hcw_session_watched(r->session, (pid_t)k->tgid);

	rejected_record(&r->rejected, rec, how);
	if (how == HCW_WATCHED)
		watch_process(r, k->tgid);
}

int watch_record(struct tracer *r, const struct hcw_rec *rec)
{
	const void *body = rec + 1;
	const struct hcw_quiesce *q = body;
	const struct hcw_evict *e = body;

	switch (rec->type) {
	case HCW_R_QUIESCE:
		if (!q->ret && q->victim)
			watch_process(r, q->victim);
		break;
	case HCW_R_EVICT:
		if (!e->ret && e->victim)
			watch_process(r, e->victim);
		break;
	case HCW_R_TASK:
		task_seen(r, rec);
		break;
	case HCW_R_TASK_EXIT:
		rejected_record(&r->rejected, rec, 0);
		break;
	}
	watched_record(&r->watched, rec);
	switch (rec->type) {
	case HCW_R_QUIESCE:
		return stack_seen(r, q->stack);
	case HCW_R_EVICT:
		return stack_seen(r, e->stack);
	case HCW_R_POOL_ALLOC:
		return pool_seen(r, body);
	case HCW_R_POOL_FREE:
		return pool_gone(r, body);
	case HCW_R_TASK:
		return filter_announced(r, body);
	default:
		return 0;
	}
}

static void attach_marks(struct tracer *r, const char *path)
{
	/* a file that cannot be read has no marks we could use; the plan says the point is inactive
	 */
	int n = hcw_session_attach_file(r->session, path, NULL);

	if (n > 0)
		r->marks += (size_t)n;
}

void watch_known_files(struct tracer *r)
{
	char exe[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	r->known_files = true;
	if (r->opts->argv && !child_path(r->opts->argv[0], path, sizeof(path)))
		attach_marks(r, path);
	if (n <= 0)
		return;
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	snprintf(path, sizeof(path), "%s/../lib/libhcpool.so.0", exe);
	attach_marks(r, path);
}

struct file_walk {
	struct tracer *r;
	__u32 tgid;
	__u64 inode;
	__u64 looked; /* that all are quiet */
	bool stop;    /* they are no more */
};

/* Between two files there is time for an eviction: planting the marks of one takes a while. */
static bool still_quiet(struct file_walk *w)
{
	__u64 now = hcs_boot_ns();

	if (now < w->looked + LOOK_NS)
		return true;
	w->looked = now;
	w->stop = !quiet_everywhere(w->r);
	return !w->stop;
}

/* Through the process's own root: in a container the same path is another file, or none. */
static int file_mapped(const struct hcs_map *m, void *ctx)
{
	char path[HCS_MAP_PATH + 32];
	struct file_walk *w = ctx;

	if (m->path[0] != '/' || m->perms[2] != 'x' || m->inode == w->inode)
		return 0;
	if (!still_quiet(w))
		return 1;
	w->inode = m->inode;
	snprintf(path, sizeof(path), "/proc/%u/root%s", w->tgid, m->path);
	attach_marks(w->r, path);
	return 0;
}

int watch_files(struct tracer *r)
{
	struct file_walk w = {.r = r};
	size_t before = r->marks, i;

	if (!watched_all_settled(&r->watched, hcs_boot_ns()) || !quiet_everywhere(r))
		return 0;
	if (!r->known_files)
		watch_known_files(r);
	for (i = 0; i < r->watched.n && r->pids == FILTER_PIDS_HOST && still_quiet(&w); i++) {
		w.tgid = r->watched.process[i].tgid;
		w.inode = 0;
		hcs_maps_each(r->root, (pid_t)w.tgid, file_mapped, &w, hcs_deadline_ms(READ_MS));
	}
	return r->marks != before ? note_header(r) : 0;
}
