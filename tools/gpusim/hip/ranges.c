/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdlib.h>
#include "ranges.h"

static struct table {
	pthread_mutex_t lock;
	struct range *first;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool meets(const struct range *r, enum range_kind kind, uintptr_t host, size_t bytes)
{
	return r->kind == kind && host < r->host + r->bytes && r->host < host + bytes;
}

static bool overlap_locked(enum range_kind kind, uintptr_t host, size_t bytes)
{
	const struct range *r;

	for (r = table.first; r; r = r->next)
		if (meets(r, kind, host, bytes))
			return true;
	return false;
}

bool ranges_overlap(enum range_kind kind, uintptr_t host, size_t bytes)
{
	bool ret;

	pthread_mutex_lock(&table.lock);
	ret = overlap_locked(kind, host, bytes);
	pthread_mutex_unlock(&table.lock);
	return ret;
}

bool ranges_add(const struct range *range)
{
	struct range *copy = malloc(sizeof(*copy));
	bool overlap;

	if (!copy)
		return false;
	*copy = *range;
	pthread_mutex_lock(&table.lock);
	overlap = overlap_locked(range->kind, range->host, range->bytes);
	if (!overlap) {
		copy->next = table.first;
		table.first = copy;
	}
	pthread_mutex_unlock(&table.lock);
	if (overlap)
		free(copy);
	return !overlap;
}

bool ranges_find(enum range_kind kind, uintptr_t addr, struct range *found)
{
	const struct range *r;

	pthread_mutex_lock(&table.lock);
	for (r = table.first; r; r = r->next)
		if (r->kind == kind && (addr - r->host < r->bytes || addr - r->device < r->bytes)) {
			*found = *r;
			break;
		}
	pthread_mutex_unlock(&table.lock);
	return r;
}

bool ranges_take(enum range_kind kind, uintptr_t host, struct range *found)
{
	struct range **link, *r = NULL;

	pthread_mutex_lock(&table.lock);
	for (link = &table.first; *link; link = &(*link)->next)
		if ((*link)->kind == kind && (*link)->host == host) {
			r = *link;
			*link = r->next;
			break;
		}
	pthread_mutex_unlock(&table.lock);
	if (!r)
		return false;
	*found = *r;
	free(r);
	return true;
}
