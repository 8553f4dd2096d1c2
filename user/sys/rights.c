/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "io.h"
#include "num.h"
#include "rights.h"
#include "vm.h"

struct status {
	struct hcs_rights rights;
	bool effective;
};

/* The kernel writes 16 hexadecimal digits. */
static int hex_mask(const char *text, uint64_t *mask)
{
	uint64_t v = 0;
	size_t n = strspn(text, "0123456789abcdef");

	if (!n || n > 16 || text[n])
		return -EBADMSG;
	for (; *text; text++)
		v = v << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	*mask = v;
	return 0;
}

static int small_number(const char *text, int *value)
{
	uint64_t v;

	if (hcs_num_u64(text, 0, 1000, &v))
		return -EBADMSG;
	*value = (int)v;
	return 0;
}

/* The value behind "key:" and its tab; NULL when the line is another. */
static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) || line[n] != ':')
		return NULL;
	return line + n + 1 + strspn(line + n + 1, "\t ");
}

static int status_line(char *text, void *ctx)
{
	struct status *s = ctx;
	const char *v;

	v = value_of(text, "CapEff");
	if (v) {
		s->effective = true;
		return hex_mask(v, &s->rights.cap_effective);
	}
	v = value_of(text, "CapBnd");
	if (v)
		return hex_mask(v, &s->rights.cap_bounding);
	v = value_of(text, "Seccomp");
	if (v)
		return small_number(v, &s->rights.seccomp);
	v = value_of(text, "NoNewPrivs");
	return v ? small_number(v, &s->rights.no_new_privs) : 0;
}

int hcs_rights_read(int root, pid_t pid, struct hcs_rights *out, uint64_t deadline)
{
	struct status s = {.rights = {.seccomp = -1, .no_new_privs = -1}};
	char path[HCS_PATH];
	int ret = hcs_proc_path(path, sizeof(path), pid, "status");

	if (!ret)
		ret = hcs_each_line(root, path, status_line, &s, deadline);
	if (ret)
		return ret;
	if (!s.effective)
		return -EBADMSG;
	*out = s.rights;
	return 0;
}

int hcs_has_cap(const struct hcs_rights *r, enum hcs_cap cap)
{
	return (int)(r->cap_effective >> cap & 1);
}

int hcs_first_user_ns(int root, pid_t pid, uint64_t deadline)
{
	static const char *const all[] = {"0", "0", "4294967295"};
	char path[HCS_PATH], text[256], *word, *save = NULL;
	ssize_t n;
	int ret = hcs_proc_path(path, sizeof(path), pid, "uid_map");

	if (ret)
		return ret;
	n = hcs_read_file(root, path, text, sizeof(text), deadline);
	if (n == -E2BIG)
		return 0; /* many ranges */
	if (n < 0)
		return (int)n;
	word = strtok_r(text, " \n", &save);
	for (size_t i = 0; i < 3; i++, word = strtok_r(NULL, " \n", &save))
		if (!word || strcmp(word, all[i]))
			return 0;
	return !word;
}

int hcs_lockdown_read(int root, enum hcs_lockdown *out, uint64_t deadline)
{
	static const char *const names[] = {"none", "integrity", "confidentiality"};
	char text[128], word[32];
	ssize_t n =
		hcs_read_file(root, "sys/kernel/security/lockdown", text, sizeof(text), deadline);

	if (n < 0)
		return (int)n;
	if (strlen(text) != (size_t)n || hcs_choice(text, word, sizeof(word)))
		return -EBADMSG;
	for (int i = 0; i < 3; i++) {
		if (!strcmp(word, names[i])) {
			*out = i;
			return 0;
		}
	}
	return -EBADMSG;
}

int hcs_tracefs_check(int root, uint64_t deadline)
{
	static const char *const place[] = {"sys/kernel/tracing/README",
					    "sys/kernel/debug/tracing/README"};
	int worst = -ENOENT;
	char text[64];

	for (size_t i = 0; i < 2; i++) {
		ssize_t n = hcs_read_head(root, place[i], text, sizeof(text), deadline);

		if (n >= 0)
			return 0;
		if (n != -ENOENT)
			worst = (int)n;
	}
	return worst == -EPERM ? -EACCES : worst;
}

static int probe_type(int root, const char *kind, uint32_t *type, uint64_t deadline)
{
	char path[HCS_PATH], text[32];
	uint64_t value;
	int ret = hcs_path(path, sizeof(path), "sys/bus/event_source/devices/%s/type", kind);

	if (!ret)
		ret = hcs_setting(root, path, "sys/bus", text, sizeof(text), deadline);
	if (!ret && hcs_num_u64(text, 0, UINT32_MAX, &value))
		ret = -EBADMSG;
	if (!ret)
		*type = (uint32_t)value;
	return ret;
}

int hcs_perf_probe_right(int root, const char *kind, uint64_t deadline)
{
	/* no file and no function is called that; rights are checked before it is looked up */
	static const char nowhere[] = "/proc/self/no-such-file";
	struct perf_event_attr attr = {.size = sizeof(attr)};
	long fd;
	int ret = probe_type(root, kind, &attr.type, deadline);

	if (ret)
		return ret;
	attr.kprobe_func = (uint64_t)(uintptr_t)nowhere;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -errno : 0;
	close((int)fd);
	return 0;
}
