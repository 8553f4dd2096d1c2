/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "io.h"
#include "maps.h"
#include "num.h"

/* 1 to 16 lower-case hex digits at *p, which moves behind them. */
static int take_hex(const char **p, uint64_t *value)
{
	int digits = 0;

	for (*value = 0; **p; (*p)++, digits++) {
		if (**p >= '0' && **p <= '9')
			*value = *value << 4 | (uint64_t)(**p - '0');
		else if (**p >= 'a' && **p <= 'f')
			*value = *value << 4 | (uint64_t)(**p - 'a' + 10);
		else
			break;
	}
	return digits && digits <= 16 ? 0 : -EBADMSG;
}

static int take_char(const char **p, char c)
{
	if (**p != c)
		return -EBADMSG;
	(*p)++;
	return 0;
}

static int take_perms(const char **p, char perms[5])
{
	static const char *const allowed[] = {"r-", "w-", "x-", "sp"};

	for (int i = 0; i < 4; i++) {
		if (!**p || !strchr(allowed[i], **p))
			return -EBADMSG;
		perms[i] = *(*p)++;
	}
	perms[4] = '\0';
	return 0;
}

static int take_inode(const char **p, uint64_t *inode)
{
	char digits[24];
	size_t n = strspn(*p, "0123456789");

	if (n >= sizeof(digits))
		return -EBADMSG;
	memcpy(digits, *p, n);
	digits[n] = '\0';
	*p += n;
	return hcs_num_u64(digits, 0, UINT64_MAX, inode) ? -EBADMSG : 0;
}

/* "7f00-7f10 rw-s 00000000 00:01 1030      /dev/zero (deleted)": show_map_vma(), fs/proc/task_mmu.c
 */
static int parse_map(const char *p, struct hcs_map *m)
{
	uint64_t device;

	memset(m, 0, sizeof(*m));
	if (take_hex(&p, &m->lo) || take_char(&p, '-') || take_hex(&p, &m->hi) ||
	    take_char(&p, ' ') || take_perms(&p, m->perms) || take_char(&p, ' ') ||
	    take_hex(&p, &m->offset) || take_char(&p, ' ') || take_hex(&p, &device) ||
	    take_char(&p, ':') || take_hex(&p, &device) || take_char(&p, ' ') ||
	    take_inode(&p, &m->inode))
		return -EBADMSG;
	if (m->lo >= m->hi || (*p && *p != ' '))
		return -EBADMSG;
	p += strspn(p, " ");
	memcpy(m->path, p, strnlen(p, sizeof(m->path) - 1));
	return 0;
}

struct each {
	int (*map)(const struct hcs_map *m, void *ctx);
	void *ctx;
};

static int each_line(char *text, void *ctx)
{
	struct each *e = ctx;
	struct hcs_map m;
	int ret = parse_map(text, &m);

	return ret ? ret : e->map(&m, e->ctx);
}

int hcs_maps_each(int root, pid_t pid, int (*map)(const struct hcs_map *m, void *ctx), void *ctx,
		  uint64_t deadline)
{
	struct each e = {map, ctx};
	char path[HCS_PATH];
	int ret = hcs_proc_path(path, sizeof(path), pid, "maps");

	return ret ? ret : hcs_each_line(root, path, each_line, &e, deadline);
}

struct range {
	uint64_t lo, hi;
	struct hcs_map *out;
	size_t n, max;
	bool current; /* smaps: out[n - 1] is the mapping whose keys are being read */
};

/* 1 = past the range: nothing later can meet it. */
static int add_if_meets(const struct hcs_map *m, void *ctx)
{
	struct range *r = ctx;

	if (m->lo >= r->hi)
		return 1;
	if (m->hi <= r->lo)
		return 0;
	if (r->n == r->max)
		return -E2BIG;
	r->out[r->n++] = *m;
	return 0;
}

int hcs_maps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out, size_t max,
		   uint64_t deadline)
{
	struct range r = {.lo = lo, .hi = hi, .out = out, .max = max};
	int ret = hcs_maps_each(root, pid, add_if_meets, &r, deadline);

	return ret < 0 ? ret : (int)r.n;
}

static uint32_t vmflag(const char *name)
{
	static const struct {
		char name[3];
		uint32_t flag;
	} table[] = {
		{"sh", HCS_VM_SHARED},	{"pf", HCS_VM_PFNMAP}, {"io", HCS_VM_IO},
		{"ht", HCS_VM_HUGETLB}, {"mm", HCS_VM_MIXED},  {"dc", HCS_VM_DONTCOPY},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!strcmp(table[i].name, name))
			return table[i].flag;
	}
	return 0;
}

static uint32_t parse_vmflags(char *text)
{
	uint32_t flags = 0;
	char *save, *tok;

	for (tok = strtok_r(text, " ", &save); tok; tok = strtok_r(NULL, " ", &save))
		flags |= vmflag(tok);
	return flags;
}

/* A key line starts with a capital, a mapping with a lower-case hex digit. */
static int smaps_line(char *text, void *ctx)
{
	static const char key[] = "VmFlags:";
	struct range *r = ctx;
	struct hcs_map m;
	size_t before = r->n;
	int ret;

	if (text[0] >= 'A' && text[0] <= 'Z') {
		if (r->current && !strncmp(text, key, strlen(key)))
			r->out[r->n - 1].vmflags = parse_vmflags(text + strlen(key));
		return 0;
	}
	ret = parse_map(text, &m);
	if (ret)
		return ret;
	m.vmflags = HCS_VM_UNREADABLE; /* until its VmFlags line is seen */
	ret = add_if_meets(&m, r);
	r->current = r->n > before;
	return ret;
}

int hcs_smaps_range(int root, pid_t pid, uint64_t lo, uint64_t hi, struct hcs_map *out, size_t max,
		    uint64_t deadline)
{
	struct range r = {.lo = lo, .hi = hi, .out = out, .max = max};
	char path[HCS_PATH];
	int ret = hcs_proc_path(path, sizeof(path), pid, "smaps");

	if (!ret)
		ret = hcs_each_line(root, path, smaps_line, &r, deadline);
	return ret < 0 ? ret : (int)r.n;
}

int hcs_maps_cover(const struct hcs_map *maps, size_t n, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < n && lo < hi; i++) {
		if (maps[i].lo > lo)
			return 0;
		if (maps[i].hi > lo)
			lo = maps[i].hi;
	}
	return lo >= hi;
}

int hcs_map_is_special(const void *addr)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)addr & ~(page - 1);

	if (!madvise((void *)start, page, MADV_DODUMP))
		return 0;
	return errno == EINVAL ? 1 : -errno;
}
