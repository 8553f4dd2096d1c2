/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the stream makes us look at: the mapping of a new pool, the names of a new stack, new files
 * of a process. smaps and uprobe registration take the process's mmap_lock, which the restore
 * worker holds for read while it faults the pool in: neither may touch a process that is evicted or
 * was a moment ago.
 */
#include <errno.h>
#include <string.h>
#include "../sys/maps.h"
#include "recorder_internal.h"

#define READ_MS	 2000
#define MAX_MAPS 64 /* mappings under one pool */

struct watched *watch_find(struct recorder *r, __u32 tgid, __u64 mm)
{
	size_t i;

	for (i = 0; i < r->n_watched; i++) {
		struct watched *w = &r->watched[i];

		if (tgid ? w->tgid == tgid : w->mm == mm) {
			if (!w->mm)
				w->mm = mm;
			return w;
		}
	}
	if (!tgid || r->n_watched == REC_MAX_WATCHED)
		return NULL;
	r->watched[r->n_watched] = (struct watched){.tgid = tgid, .mm = mm};
	return &r->watched[r->n_watched++];
}

static bool settled(const struct watched *w)
{
	return !w || (!w->evicted && hcs_boot_ns() - w->last_evicted > REC_QUIET_NS);
}

static int note_mapping(struct recorder *r, const struct pending_pool *p, const struct hcs_map *m,
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

static int read_mapping(struct recorder *r, const struct pending_pool *p)
{
	struct hcs_map map[MAX_MAPS];
	int i, n, ret = 0;

	n = hcs_smaps_range(r->root, (pid_t)p->tgid, p->ptr, p->ptr + p->bytes, map, MAX_MAPS,
			    hcs_deadline_ms(READ_MS));
	if (n <= 0)
		return note_mapping(r, p, NULL, HCW_VM_UNREADABLE);
	for (i = 0; i < n && !ret; i++)
		ret = note_mapping(r, p, &map[i], map[i].vmflags);
	return ret;
}

int watch_pending(struct recorder *r, bool last_call)
{
	size_t i = 0;
	int ret;

	while (i < r->n_pending) {
		struct pending_pool p = r->pending[i];

		if (!settled(watch_find(r, p.tgid, 0))) {
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

static int pool_seen(struct recorder *r, const struct hcw_pool *b)
{
	struct pending_pool p = {.ptr = b->ptr, .bytes = b->bytes, .tgid = b->tgid};

	if (!watch_find(r, b->tgid, 0) || r->n_pending == REC_MAX_PENDING)
		return note_mapping(r, &p, NULL, HCW_VM_UNREADABLE);
	r->pending[r->n_pending++] = p;
	return 0;
}

/* A pool freed before its mapping was read stays unread: its address may belong to something else
 * by now. */
static int pool_gone(struct recorder *r, const struct hcw_pool *b)
{
	size_t i;

	for (i = 0; i < r->n_pending; i++)
		if (r->pending[i].tgid == b->tgid && r->pending[i].ptr == b->ptr)
			r->pending[i] = r->pending[--r->n_pending];
	return 0;
}

static int stack_seen(struct recorder *r, __s32 id)
{
	struct {
		struct hcw_stack stack;
		char names[HCW_STACK_DEPTH * 96];
	} b = {.stack = {.id = id}};
	__u64 ip[HCW_STACK_DEPTH];
	size_t used = 0;
	int i, depth;

	if (id < 0 || id >= REC_MAX_STACKS || r->stack_named[id])
		return 0;
	r->stack_named[id] = 1;
	depth = hcw_session_stack(r->session, id, ip, HCW_STACK_DEPTH);
	if (!r->symbols && hcs_kallsyms_load(&r->symbols, r->root, hcs_deadline_ms(10 * READ_MS)))
		return 0; /* no names: the episode is told without its stack */
	for (i = 0; i < depth; i++) {
		if (hcs_kallsyms_name(r->symbols, ip[i], b.names + used, sizeof(b.names) - used))
			break;
		used += strlen(b.names + used) + 1;
		b.stack.depth++;
	}
	return b.stack.depth ? note_put(r, HCW_R_STACK, &b, sizeof(b.stack) + used) : 0;
}

static void evicted(struct recorder *r, const struct hcw_rec *rec, __u32 tgid, __u64 mm, int by)
{
	struct watched *w = watch_find(r, tgid, mm);

	if (!w)
		return;
	w->last_evicted = rec->ts;
	if (by > 0)
		w->evicted++;
	else
		w->evicted = 0;
}

int watch_record(struct recorder *r, const struct hcw_rec *rec)
{
	const void *body = rec + 1;
	const struct hcw_quiesce *q = body;
	const struct hcw_evict *e = body;
	const struct hcw_resume *u = body;

	switch (rec->type) {
	case HCW_R_QUIESCE:
		if (!q->ret)
			evicted(r, rec, q->victim, q->mm, 1);
		return stack_seen(r, q->stack);
	case HCW_R_EVICT:
		return stack_seen(r, e->stack);
	case HCW_R_RESUME:
		if (!u->ret)
			evicted(r, rec, 0, u->mm, -1);
		return 0;
	case HCW_R_POOL_ALLOC:
		return pool_seen(r, body);
	case HCW_R_POOL_FREE:
		return pool_gone(r, body);
	default:
		return 0;
	}
}

struct file_walk {
	struct recorder *r;
	__u64 inode;
	int ret;
};

static int file_mapped(const struct hcs_map *m, void *ctx)
{
	struct file_walk *w = ctx;
	int n;

	if (m->path[0] != '/' || m->perms[2] != 'x' || m->inode == w->inode)
		return 0;
	w->inode = m->inode;
	/* a file that cannot be read has no marks we could use; the plan says the point is inactive
	 */
	n = hcw_session_attach_file(w->r->session, m->path, NULL);
	if (n > 0)
		w->r->marks += (size_t)n;
	return 0;
}

int watch_files(struct recorder *r)
{
	size_t before = r->marks, i;

	for (i = 0; i < r->n_watched; i++) {
		struct file_walk w = {.r = r};

		if (settled(&r->watched[i]))
			hcs_maps_each(r->root, (pid_t)r->watched[i].tgid, file_mapped, &w,
				      hcs_deadline_ms(READ_MS));
	}
	return r->marks != before ? note_header(r) : 0;
}
