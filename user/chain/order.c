/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nearly all records come in order, or a few places off: those make a queue, and only the others a
 * heap, so that the usual record costs two copies. Bodies lie in a ring of bytes in the order they
 * came in.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "order.h"

#define BYTES_PER_RECORD 128 /* with its two entries */
#define NEAR		 32  /* places a record is moved up in the queue */

struct entry {
	__u64 key;
	__u64 seq; /* which came first */
	size_t at; /* of its block, in the arena */
};

/* What stands before each record in the arena. */
struct block {
	__u32 size; /* with this */
	__u32 free; /* handed on, or never used: up to the end of the arena */
};

struct hcw_order {
	hcw_order_fn fn;
	void *ctx;
	__u64 window;
	__u64 newest; /* largest time seen */
	__u64 passed; /* largest key handed on */
	__u64 seq;
	__u64 late;
	size_t room;	     /* of each of the next two; a power of two */
	struct entry *queue; /* in order; a ring */
	size_t first, queued;
	struct entry *heap; /* came out of order; smallest on top */
	size_t heaped;
	char *arena;
	size_t size;
	size_t head, used; /* used bytes from head on, wrapped around */
};

struct hcw_order *hcw_order_new(size_t bytes, __u64 window, hcw_order_fn fn, void *ctx)
{
	struct hcw_order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	if (bytes < HCW_ORDER_MIN_BYTES)
		bytes = HCW_ORDER_MIN_BYTES;
	o->fn = fn;
	o->ctx = ctx;
	o->window = window;
	for (o->room = 1; o->room <= bytes / BYTES_PER_RECORD / 2;)
		o->room *= 2;
	o->size = (bytes - 2 * o->room * sizeof(struct entry)) & ~(size_t)7;
	o->queue = malloc(o->room * sizeof(*o->queue));
	o->heap = malloc(o->room * sizeof(*o->heap));
	o->arena = malloc(o->size);
	if (!o->queue || !o->heap || !o->arena) {
		hcw_order_free(o);
		return NULL;
	}
	return o;
}

void hcw_order_free(struct hcw_order *o)
{
	if (!o)
		return;
	free(o->queue);
	free(o->heap);
	free(o->arena);
	free(o);
}

static struct block *block_at(const struct hcw_order *o, size_t at)
{
	return (struct block *)(o->arena + at);
}

static const struct hcw_rec *record_at(const struct hcw_order *o, size_t at)
{
	return (const struct hcw_rec *)(block_at(o, at) + 1);
}

/* Where a block of `size` bytes was put; o->size when there is no room. */
static size_t arena_take(struct hcw_order *o, size_t size)
{
	size_t tail = (o->head + o->used) % o->size, end = o->size - tail;

	if (!o->used)
		o->head = tail = 0, end = o->size;
	if (size > end && o->used + end + size <= o->size) {
		/* what is left at the end stays empty, and the block begins at the front */
		*block_at(o, tail) = (struct block){.size = (__u32)end, .free = 1};
		o->used += end;
		tail = 0;
		end = o->size;
	}
	if (size > end || o->used + size > o->size)
		return o->size;
	*block_at(o, tail) = (struct block){.size = (__u32)size};
	o->used += size;
	return tail;
}

/* Blocks are given back in the order they were taken, however they leave. */
static void arena_give(struct hcw_order *o, size_t at)
{
	block_at(o, at)->free = 1;
	while (o->used && block_at(o, o->head)->free) {
		size_t size = block_at(o, o->head)->size;

		o->used -= size;
		o->head = (o->head + size) % o->size;
	}
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->key != b->key ? a->key < b->key : a->seq < b->seq;
}

static void heap_push(struct hcw_order *o, struct entry e)
{
	size_t i = o->heaped++, parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (!before(&e, &o->heap[parent]))
			break;
		o->heap[i] = o->heap[parent];
	}
	o->heap[i] = e;
}

static struct entry heap_pop(struct hcw_order *o)
{
	struct entry top = o->heap[0], last = o->heap[--o->heaped];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < o->heaped) {
		if (child + 1 < o->heaped && before(&o->heap[child + 1], &o->heap[child]))
			child++;
		if (!before(&o->heap[child], &last))
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	o->heap[i] = last;
	return top;
}

static struct entry queue_pop(struct hcw_order *o)
{
	struct entry e = o->queue[o->first];

	o->first = (o->first + 1) & (o->room - 1);
	o->queued--;
	return e;
}

/* NULL when there is none. */
static const struct entry *smallest(const struct hcw_order *o)
{
	const struct entry *q = o->queued ? &o->queue[o->first] : NULL;
	const struct entry *h = o->heaped ? &o->heap[0] : NULL;

	if (!q || !h)
		return q ? q : h;
	return before(h, q) ? h : q;
}

static int hand_on(struct hcw_order *o)
{
	const struct entry *next = smallest(o);
	struct entry e = next == o->heap ? heap_pop(o) : queue_pop(o);
	int ret;

	if (e.key > o->passed)
		o->passed = e.key;
	ret = o->fn(o->ctx, record_at(o, e.at));
	arena_give(o, e.at);
	return ret < 0 ? ret : 0;
}

static int hand_on_due(struct hcw_order *o)
{
	const struct entry *e;
	int ret = 0;

	while (!ret && (e = smallest(o)) && o->newest >= o->window &&
	       e->key <= o->newest - o->window)
		ret = hand_on(o);
	return ret;
}

static __u64 key_of(const struct hcw_order *o, const struct hcw_rec *rec, const void *body)
{
	struct hcw_hole h;

	if (rec->type != HCW_R_HOLE || rec->len < sizeof(h))
		return rec->ts;
	memcpy(&h, body, sizeof(h));
	if (h.from > rec->ts)
		return rec->ts;
	return h.from > o->passed || o->passed > rec->ts ? h.from : o->passed;
}

/* The n-th of the queue. */
static struct entry *queue_at(const struct hcw_order *o, size_t n)
{
	return &o->queue[(o->first + n) & (o->room - 1)];
}

static void add(struct hcw_order *o, struct entry e)
{
	size_t place = o->queued, i;

	while (place && e.key < queue_at(o, place - 1)->key) {
		if (o->queued - place == NEAR) {
			heap_push(o, e);
			return;
		}
		place--;
	}
	for (i = o->queued++; i > place; i--)
		*queue_at(o, i) = *queue_at(o, i - 1);
	*queue_at(o, place) = e;
}

static bool full(const struct hcw_order *o)
{
	return o->queued == o->room || o->heaped == o->room;
}

int hcw_order_put(struct hcw_order *o, const struct hcw_rec *rec, const void *body)
{
	size_t size = (sizeof(struct block) + sizeof(*rec) + rec->len + 7) & ~(size_t)7;
	struct entry e = {.seq = o->seq++, .at = o->size};
	int ret = 0;

	while (!ret && (full(o) || (e.at = arena_take(o, size)) == o->size))
		ret = hand_on(o);
	if (ret)
		return ret;
	e.key = key_of(o, rec, body);
	memcpy(block_at(o, e.at) + 1, rec, sizeof(*rec));
	memcpy(o->arena + e.at + sizeof(struct block) + sizeof(*rec), body, rec->len);
	o->late += e.key < o->passed;
	add(o, e);
	if (rec->ts > o->newest)
		o->newest = rec->ts;
	return hand_on_due(o);
}

int hcw_order_advance(struct hcw_order *o, __u64 now)
{
	if (now > o->newest)
		o->newest = now;
	return hand_on_due(o);
}

int hcw_order_flush(struct hcw_order *o)
{
	int ret = 0;

	while (!ret && smallest(o))
		ret = hand_on(o);
	return ret;
}

__u64 hcw_order_late(const struct hcw_order *o)
{
	return o->late;
}
