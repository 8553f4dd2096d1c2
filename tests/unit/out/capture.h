/* SPDX-License-Identifier: BSD-2-Clause */
/* Output of a renderer, caught in memory and held against the rules every text obeys. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

#include <stdio.h>
#include <string.h>

/* Columns, not bytes: continuation bytes of UTF-8 take none. */
static inline size_t columns(const char *line, size_t len)
{
	size_t n = 0, i;

	for (i = 0; i < len; i++)
		n += ((unsigned char)line[i] & 0xc0) != 0x80;
	return n;
}

/* Width of the widest line. */
static inline size_t widest(const char *text)
{
	size_t max = 0, len;

	while (*text) {
		len = strcspn(text, "\n");
		if (columns(text, len) > max)
			max = columns(text, len);
		text += len + (text[len] == '\n');
	}
	return max;
}

static inline int has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 && *text != '\n')
			return 1;
	return 0;
}

#endif
