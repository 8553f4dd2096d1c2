/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of kernel stacks, by id. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static struct stack_names *stack_find(const struct hcw_chain *c, __s32 id)
{
	size_t i;

	for (i = 0; i < c->n_stacks; i++)
		if (c->stacks[i].id == id)
			return &c->stacks[i];
	return NULL;
}

static struct stack_names *stack_slot(struct hcw_chain *c, __s32 id)
{
	struct stack_names *s = stack_find(c, id);

	if (s)
		return s;
	if (!chain_room(&c->stacks, &c->cap_stacks, c->n_stacks, HCW_MAX_STACKS, sizeof(*c->stacks),
			&c->model.dropped_stalls))
		return NULL;
	s = &c->stacks[c->n_stacks++];
	*s = (struct stack_names){.id = id};
	return s;
}

/* Length of up to `*depth` whole names; *depth becomes what there is. */
static size_t whole_names(const char *text, size_t len, __u32 *depth)
{
	size_t used = 0;
	__u32 n = 0;

	while (n < *depth) {
		const char *end = memchr(text + used, '\0', len - used);

		if (!end || end == text + used)
			break; /* cut, or the padding */
		used = (size_t)(end - text) + 1;
		n++;
	}
	*depth = n;
	return used;
}

void chain_stack(struct hcw_chain *c, const struct hcw_rec *rec)
{
	const char *text = (const char *)(rec + 1) + sizeof(struct hcw_stack);
	struct stack_names *s;
	struct hcw_stack h;
	size_t len;
	char *copy;

	chain_body(rec, &h, sizeof(h));
	if (rec->len <= sizeof(h) || h.id < 0)
		return;
	len = whole_names(text, rec->len - sizeof(h), &h.depth);
	s = len ? stack_slot(c, h.id) : NULL;
	if (!s || (s->names && s->len == len && !memcmp(s->names, text, len)))
		return;
	copy = malloc(len);
	if (!copy)
		return; /* it keeps the names it had, if any */
	memcpy(copy, text, len);
	free(s->names);
	*s = (struct stack_names){.id = h.id, .depth = h.depth, .names = copy, .len = len};
}

void chain_stacks_free(struct hcw_chain *c)
{
	size_t i;

	for (i = 0; i < c->n_stacks; i++)
		free(c->stacks[i].names);
	free(c->stacks);
}

const char *hcw_chain_stack(const struct hcw_chain *c, __s32 id, __u32 *depth)
{
	const struct stack_names *s = stack_find(c, id);

	if (!s || !s->names)
		return NULL;
	*depth = s->depth;
	return s->names;
}
