/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io.h"
#include "module.h"

#define MODULES	    "sys/module"
#define BTF_MAGIC   0xeb9f
#define BTF_VERSION 1

/* One line of a file of the module; "" when there is none. */
static int read_line(int root, const char *name, const char *file, char *text, size_t size,
		     uint64_t deadline)
{
	char path[HCS_PATH];
	ssize_t n;
	int ret = hcs_path(path, sizeof(path), MODULES "/%s/%s", name, file);

	if (ret)
		return ret;
	n = hcs_read_file(root, path, text, size, deadline);
	if (n < 0) {
		text[0] = '\0';
		return (int)n;
	}
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static int read_state(int root, const char *name, enum hcs_module_state *state, uint64_t deadline)
{
	char path[HCS_PATH], text[16];
	int ret = hcs_path(path, sizeof(path), MODULES "/%s", name);

	if (ret)
		return ret;
	*state = HCS_MODULE_ABSENT;
	if (faccessat(root, path, F_OK, 0))
		return errno == ENOENT ? 0 : -errno;
	ret = read_line(root, name, "initstate", text, sizeof(text), deadline);
	if (ret == -ENOENT)
		*state = HCS_MODULE_BUILT_IN;
	else if (!ret)
		*state = strcmp(text, "live") ? HCS_MODULE_CHANGING : HCS_MODULE_LIVE;
	return ret == -ENOENT ? 0 : ret;
}

int hcs_module_read(int root, const char *name, struct hcs_module *out, uint64_t deadline)
{
	struct hcs_module m = {.state = HCS_MODULE_ABSENT};
	char taint[32];
	int ret;

	if (!*name || strchr(name, '/') || name[0] == '.')
		return -EINVAL;
	if (faccessat(root, MODULES, F_OK, 0))
		return -ENODEV;
	ret = read_state(root, name, &m.state, deadline);
	if (ret)
		return ret;
	if (m.state != HCS_MODULE_ABSENT) {
		read_line(root, name, "version", m.version, sizeof(m.version), deadline);
		read_line(root, name, "srcversion", m.srcversion, sizeof(m.srcversion), deadline);
		ret = read_line(root, name, "taint", taint, sizeof(taint), deadline);
		m.out_of_tree = !ret && strchr(taint, 'O');
	}
	*out = m;
	return hcs_late(deadline);
}

int hcs_module_id(int root, const char *name, uint64_t *id, uint64_t deadline)
{
	char path[HCS_PATH];
	struct stat st;
	int ret = hcs_path(path, sizeof(path), "sys/module/%s", name);

	if (!ret)
		ret = hcs_late(deadline);
	if (ret)
		return ret;
	if (fstatat(root, path, &st, 0))
		return hcs_errno();
	*id = st.st_ino;
	return 0;
}

int hcs_module_param(int root, const char *name, const char *parameter, uint64_t *value,
		     uint64_t deadline)
{
	char path[HCS_PATH];
	int ret = hcs_path(path, sizeof(path), MODULES "/%s/parameters/%s", name, parameter);

	return ret ? ret : hcs_read_u64(root, path, value, deadline);
}

struct btf_head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len, type_off, type_len, str_off, str_len;
};

/* Whether a file of this size can hold what its header says. */
static int whole(const struct btf_head *h, uint64_t size)
{
	uint64_t types = (uint64_t)h->hdr_len + h->type_off + h->type_len;
	uint64_t strings = (uint64_t)h->hdr_len + h->str_off + h->str_len;

	return h->magic == BTF_MAGIC && h->version == BTF_VERSION && h->hdr_len >= sizeof(*h) &&
	       h->str_len && types <= size && strings <= size;
}

int hcs_btf_check(int root, const char *name, uint64_t *bytes, uint64_t deadline)
{
	struct btf_head head;
	char path[HCS_PATH], text[sizeof(head) + 1];
	struct stat st;
	ssize_t n;
	int ret = hcs_path(path, sizeof(path), "sys/kernel/btf/%s", name);

	if (ret)
		return ret;
	n = hcs_read_head(root, path, text, sizeof(text), deadline);
	if (n == -ENOENT)
		return faccessat(root, "sys/kernel", F_OK, 0) ? -ENODEV : -ENOENT;
	if (n < 0)
		return (int)n;
	if (n != (ssize_t)sizeof(head))
		return -EBADMSG;
	if (fstatat(root, path, &st, 0))
		return hcs_errno();
	memcpy(&head, text, sizeof(head));
	if (!whole(&head, (uint64_t)st.st_size))
		return -EBADMSG;
	*bytes = (uint64_t)st.st_size;
	return 0;
}
