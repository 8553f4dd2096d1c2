/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "io.h"
#include "num.h"
#include "vm.h"

#define PROC_WITNESS "proc/sys/kernel/osrelease"
#define MM	     "sys/kernel/mm"
#define THP	     MM "/transparent_hugepage"

static const struct {
	const char *path, *witness, *sysctl;
	bool word;
} table[HCS_VM_COUNT] = {
	[HCS_VM_NUMA_BALANCING] = {"proc/sys/kernel/numa_balancing", PROC_WITNESS,
				   "kernel.numa_balancing", false},
	[HCS_VM_PROACTIVENESS] = {"proc/sys/vm/compaction_proactiveness", PROC_WITNESS,
				  "vm.compaction_proactiveness", false},
	[HCS_VM_UNEVICTABLE] = {"proc/sys/vm/compact_unevictable_allowed", PROC_WITNESS,
				"vm.compact_unevictable_allowed", false},
	[HCS_VM_THP_ENABLED] = {THP "/enabled", MM, NULL, true},
	[HCS_VM_THP_DEFRAG] = {THP "/defrag", MM, NULL, true},
	[HCS_VM_THP_SHMEM] = {THP "/shmem_enabled", MM, NULL, true},
	[HCS_VM_KHUGEPAGED_DEFRAG] = {THP "/khugepaged/defrag", MM, NULL, false},
	[HCS_VM_KSM_RUN] = {MM "/ksm/run", MM, NULL, false},
};

const char *hcs_vm_path(enum hcs_vm which)
{
	return table[which].path;
}

const char *hcs_vm_sysctl(enum hcs_vm which)
{
	return table[which].sysctl;
}

/* A folder that something else is mounted over has nothing in it. */
static bool is_empty_folder(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (n < 3 && readdir(dir))
		n++;
	closedir(dir);
	return n < 3; /* itself and its parent */
}

/* What a missing file means: the kernel has no such thing, or we cannot see where it would be. */
static int absent(int root, const char *witness)
{
	return faccessat(root, witness, F_OK, 0) || is_empty_folder(root, witness) ? -ENODEV
										   : -ENOENT;
}

int hcs_setting(int root, const char *path, const char *witness, char *text, size_t size,
		uint64_t deadline)
{
	ssize_t n = hcs_read_file(root, path, text, size, deadline);

	if (n == -ENOENT)
		return absent(root, witness);
	if (n < 0)
		return (int)n;
	if (n && text[n - 1] == '\n')
		text[--n] = '\0';
	return strlen(text) == (size_t)n && !strchr(text, '\n') ? 0 : -EBADMSG;
}

int hcs_choice(const char *text, char *word, size_t size)
{
	const char *open = strchr(text, '['), *close = strchr(text, ']');
	size_t len;

	if (!open || !close || close < open || strchr(open + 1, '[') || strchr(close + 1, ']'))
		return -EBADMSG;
	len = (size_t)(close - open) - 1;
	if (!len || memchr(open + 1, ' ', len))
		return -EBADMSG;
	if (len >= size)
		return -E2BIG;
	memcpy(word, open + 1, len);
	word[len] = '\0';
	return 0;
}

int hcs_vm_read(int root, enum hcs_vm which, struct hcs_vm_value *out, uint64_t deadline)
{
	struct hcs_vm_value value = {.number = 0};
	char text[128];
	int ret = hcs_setting(root, table[which].path, table[which].witness, text, sizeof(text),
			      deadline);

	if (ret)
		return ret;
	if (table[which].word) {
		ret = hcs_choice(text, value.text, sizeof(value.text));
	} else {
		ret = hcs_num_u64(text, 0, UINT64_MAX, &value.number) ? -EBADMSG : 0;
		if (!ret && strlen(text) >= sizeof(value.text))
			ret = -EBADMSG; /* zeros in front without end */
		if (!ret)
			strcpy(value.text, text);
	}
	if (!ret)
		*out = value;
	return ret;
}

/* The next word of a line, which is ended there; NULL behind the last. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	size_t len = strcspn(word, " \t");

	if (!len)
		return NULL;
	*line = word + len;
	if (**line)
		*(*line)++ = '\0';
	return word;
}

struct swap_walk {
	struct hcs_swap swap;
	bool header;
};

/* "/dev/dm-1  partition  8388604  1024  -2", sizes in KiB; blanks in a name are written \040. */
static int add_swap(char *text, void *ctx)
{
	struct swap_walk *w = ctx;
	uint64_t size, used;
	char *word[5];

	for (size_t i = 0; i < 5; i++) {
		word[i] = next_word(&text);
		if (!word[i])
			return -EBADMSG;
	}
	if (!w->header) {
		w->header = true;
		return strcmp(word[0], "Filename") ? -EBADMSG : 0;
	}
	if (hcs_num_u64(word[2], 0, UINT64_MAX >> 20, &size) ||
	    hcs_num_u64(word[3], 0, UINT64_MAX >> 20, &used))
		return -EBADMSG;
	w->swap.areas++;
	w->swap.total += size << 10;
	w->swap.used += used << 10;
	return 0;
}

int hcs_swap_read(int root, struct hcs_swap *out, uint64_t deadline)
{
	struct swap_walk w = {.header = false};
	int ret = hcs_each_line(root, "proc/swaps", add_swap, &w, deadline);

	if (ret == -ENOENT)
		return absent(root, PROC_WITNESS);
	if (ret)
		return ret;
	if (!w.header)
		return -EBADMSG;
	*out = w.swap;
	return 0;
}
