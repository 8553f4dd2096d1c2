/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "input.h"

#define CHUNK (256u << 10)

int hcw_input_open(struct hcw_input *in, const char *path)
{
	memset(in, 0, sizeof(*in));
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return in->fd < 0 ? -errno : 0;
}

void hcw_input_close(struct hcw_input *in)
{
	free(in->buf);
	close(in->fd);
}

/* Room for one chunk behind the window. */
static int make_room(struct hcw_input *in)
{
	size_t size = hcw_input_size(in);
	size_t room = in->room ? in->room : 2 * CHUNK;
	char *buf;

	if (in->room - in->end >= CHUNK)
		return 0;
	if (in->start) {
		memmove(in->buf, in->buf + in->start, size);
		in->start = 0;
		in->end = size;
	}
	while (room - size < CHUNK)
		room *= 2;
	if (room == in->room)
		return 0;
	buf = realloc(in->buf, room);
	if (!buf)
		return -ENOMEM;
	in->buf = buf;
	in->room = room;
	return 0;
}

int hcw_input_more(struct hcw_input *in)
{
	ssize_t n;
	int ret;

	if (in->eof)
		return 0;
	ret = make_room(in);
	if (ret)
		return ret;
	do
		n = read(in->fd, in->buf + in->end, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	in->eof = !n;
	in->end += (size_t)n;
	return n > 0;
}

int hcw_input_need(struct hcw_input *in, size_t n)
{
	while (hcw_input_size(in) < n) {
		int ret = hcw_input_more(in);

		if (ret <= 0)
			return ret;
	}
	return 1;
}

void hcw_input_skip(struct hcw_input *in, size_t n)
{
	in->start += n;
}

int hcw_input_seek(struct hcw_input *in, size_t from, const void *mark, size_t size, size_t limit)
{
	size_t searched = 0;
	int ret = hcw_input_need(in, from);

	if (ret < 0)
		return ret;
	hcw_input_skip(in, ret ? from : hcw_input_size(in));
	while (searched < limit) {
		const char *data = hcw_input_data(in);
		size_t n = hcw_input_size(in);
		const char *hit = n ? memmem(data, n, mark, size) : NULL;
		size_t done;

		if (hit) {
			hcw_input_skip(in, (size_t)(hit - data));
			return 1;
		}
		/* The mark may start in the last size - 1 bytes. */
		done = n < size ? 0 : n - (size - 1);
		hcw_input_skip(in, done);
		searched += done;
		ret = hcw_input_more(in);
		if (ret <= 0) {
			hcw_input_skip(in, hcw_input_size(in));
			return ret;
		}
	}
	return 0;
}
