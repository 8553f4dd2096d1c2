/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "usdt.h"

#define NOTE_SECTION ".note.stapsdt"
#define NOTE_OWNER   "stapsdt"
#define NOTE_TYPE    3

struct marks {
	struct hcw_mark *out;
	size_t n, max;
};

static int add_mark(struct marks *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (!strcmp(m->out[i].name, name))
			return 0;
	if (m->n == m->max)
		return -E2BIG;
	snprintf(m->out[m->n++].name, HCW_MARK_NAME, "%s", name);
	return 0;
}

/* Three addresses (pc, base, semaphore), then provider, name and arguments, each NUL terminated. */
static int parse_note(struct marks *m, const char *desc, size_t size, size_t addr_size)
{
	const char *end = desc + size, *provider = desc + 3 * addr_size, *name;
	char mark[HCW_MARK_NAME];
	int len;

	if (size < 3 * addr_size || !memchr(provider, '\0', (size_t)(end - provider)))
		return 0;
	name = provider + strlen(provider) + 1;
	if (!memchr(name, '\0', (size_t)(end - name)))
		return 0;
	len = snprintf(mark, sizeof(mark), "%s:%s", provider, name);
	return len < (int)sizeof(mark) ? add_mark(m, mark) : 0;
}

static int parse_section(struct marks *m, Elf *elf, Elf_Scn *section)
{
	size_t addr_size = gelf_getclass(elf) == ELFCLASS64 ? 8 : 4;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, next, name_at, desc_at;
	const char *bytes;
	GElf_Nhdr note;
	int ret = 0;

	if (!data)
		return 0;
	bytes = data->d_buf;
	while (!ret && (next = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(NOTE_OWNER) &&
		    !memcmp(bytes + name_at, NOTE_OWNER, sizeof(NOTE_OWNER)))
			ret = parse_note(m, bytes + desc_at, note.n_descsz, addr_size);
		at = next;
	}
	return ret;
}

static bool is_note_section(Elf *elf, Elf_Scn *section, size_t names)
{
	GElf_Shdr header;
	const char *name;

	if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
		return false;
	name = elf_strptr(elf, names, header.sh_name);
	return name && !strcmp(name, NOTE_SECTION);
}

static int scan_elf(struct marks *m, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;
	int ret = 0;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		return 0;
	while (!ret && (section = elf_nextscn(elf, section)))
		if (is_note_section(elf, section, names))
			ret = parse_section(m, elf, section);
	return ret;
}

int hcw_usdt_scan(const char *path, struct hcw_mark *out, size_t max)
{
	struct marks m = {.out = out, .max = max};
	Elf *elf;
	int fd, ret;

	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ret = elf ? scan_elf(&m, elf) : 0;
	elf_end(elf);
	close(fd);
	return ret ? ret : (int)m.n;
}
