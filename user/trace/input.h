/* SPDX-License-Identifier: BSD-2-Clause */
/* A window over a file or pipe that is read once, front to back. Internal to hctrace. Negative
 * errno on failure. */
#ifndef HCW_TRACE_INPUT_H
#define HCW_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct hcw_input {
	int fd;
	char *buf;
	size_t room;
	size_t start, end; /* the window is buf[start .. end) */
	bool eof;
};

int hcw_input_open(struct hcw_input *in, const char *path);
void hcw_input_close(struct hcw_input *in);

static inline const char *hcw_input_data(const struct hcw_input *in)
{
	return in->buf + in->start;
}

static inline size_t hcw_input_size(const struct hcw_input *in)
{
	return in->end - in->start;
}

/* Makes the window longer by what one read gives. 1, or 0 at the end of the file. Moves the window
 * in memory. */
int hcw_input_more(struct hcw_input *in);

/* Makes the window at least n bytes long if the file has them. 1 when it is, 0 when the file ends
 * before. */
int hcw_input_need(struct hcw_input *in, size_t n);

/* Drops n bytes at the front, n <= the window's size. */
void hcw_input_skip(struct hcw_input *in, size_t n);

/*
 * Drops everything before the next occurrence of mark at or after offset `from` of the window: 1.
 * When there is none within `limit` bytes: 0, with the front dropped as far as it was searched.
 */
int hcw_input_seek(struct hcw_input *in, size_t from, const void *mark, size_t size, size_t limit);

#endif
