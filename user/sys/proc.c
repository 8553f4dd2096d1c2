/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "io.h"
#include "num.h"
#include "proc.h"

#define FIELD_STATE	 3 /* numbering of proc(5); pid is 1, comm 2 */
#define FIELD_PARENT	 4
#define FIELD_THREADS	 20
#define FIELD_START_TIME 22

static int parse_pid(const char *text, pid_t *pid)
{
	uint64_t v;

	if (hcs_num_u64(text, 0, INT_MAX, &v))
		return -EBADMSG;
	*pid = (pid_t)v;
	return 0;
}

static int take_field(int field, const char *text, struct hcs_proc *p)
{
	uint64_t v;

	switch (field) {
	case FIELD_STATE:
		p->state = text[0];
		return text[1] ? -EBADMSG : 0;
	case FIELD_PARENT:
		return parse_pid(text, &p->parent);
	case FIELD_THREADS:
		if (hcs_num_u64(text, 0, UINT32_MAX, &v))
			return -EBADMSG;
		p->threads = (unsigned int)v;
		return 0;
	case FIELD_START_TIME:
		return hcs_num_u64(text, 0, UINT64_MAX, &p->start_ticks) ? -EBADMSG : 0;
	default:
		return 0;
	}
}

/* Splits "S 1 2 …" into the fields from the state on. */
static int parse_fields(char *text, struct hcs_proc *p)
{
	char *save, *tok = strtok_r(text, " \n", &save);
	int field;

	for (field = FIELD_STATE; tok; field++) {
		int ret = take_field(field, tok, p);

		if (ret)
			return ret;
		tok = strtok_r(NULL, " \n", &save);
	}
	return field > FIELD_START_TIME ? 0 : -EBADMSG;
}

/* comm can hold blanks and brackets: it ends at the last ')' of the line. */
static int parse_stat(char *text, struct hcs_proc *p)
{
	char *comm = strstr(text, " (");
	char *end = strrchr(text, ')');

	if (!comm || !end || end < comm + 2 || end[1] != ' ')
		return -EBADMSG;
	*comm = '\0';
	comm += 2;
	*end = '\0';
	if (parse_pid(text, &p->tgid) || strlen(comm) >= sizeof(p->comm))
		return -EBADMSG;
	strcpy(p->comm, comm);
	return parse_fields(end + 2, p);
}

int hcs_proc_read(int root, pid_t pid, struct hcs_proc *out, uint64_t deadline)
{
	struct hcs_proc p = {0};
	char path[HCS_PATH], text[1024];
	ssize_t n;
	int ret = hcs_proc_path(path, sizeof(path), pid, "stat");

	if (ret)
		return ret;
	n = hcs_read_file(root, path, text, sizeof(text), deadline);
	if (n < 0)
		return (int)n;
	if (strlen(text) != (size_t)n)
		return -EBADMSG;
	ret = parse_stat(text, &p);
	if (!ret)
		*out = p;
	return ret;
}

ssize_t hcs_proc_cmdline(int root, pid_t pid, char *buf, size_t size, uint64_t deadline)
{
	char path[HCS_PATH];
	ssize_t n;
	int ret = hcs_proc_path(path, sizeof(path), pid, "cmdline");

	if (ret)
		return ret;
	n = hcs_read_head(root, path, buf, size, deadline);
	if (n < 0)
		return n;
	while (n && !buf[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++) {
		if (!buf[i])
			buf[i] = ' ';
	}
	return n;
}

ssize_t hcs_proc_exe(int root, pid_t pid, char *buf, size_t size, uint64_t deadline)
{
	char path[HCS_PATH];
	ssize_t n;
	int ret = hcs_proc_path(path, sizeof(path), pid, "exe");

	if (!ret)
		ret = hcs_late(deadline);
	if (ret)
		return ret;
	n = readlinkat(root, path, buf, size);
	if (n < 0)
		return hcs_errno();
	if ((size_t)n >= size)
		return -E2BIG;
	buf[n] = '\0';
	return n;
}

struct process_walk {
	int (*fn)(pid_t pid, void *ctx);
	void *ctx;
};

static int process_entry(const char *name, void *ctx)
{
	struct process_walk *w = ctx;
	uint64_t pid;

	return hcs_name_number(name, "", INT32_MAX, &pid) ? w->fn((pid_t)pid, w->ctx) : 0;
}

int hcs_each_process(int root, const char *path, int (*fn)(pid_t pid, void *ctx), void *ctx,
		     uint64_t deadline)
{
	struct process_walk w = {.fn = fn, .ctx = ctx};

	return hcs_each_name(root, path, process_entry, &w, deadline);
}

int hcs_proc_each(int root, int (*fn)(pid_t pid, void *ctx), void *ctx, uint64_t deadline)
{
	return hcs_each_process(root, "proc", fn, ctx, deadline);
}
