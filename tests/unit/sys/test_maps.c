/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tree.h"
#include "../../../bpf/hcwatch_abi.h"
#include "../../../user/sys/maps.h"

#define PID	   48213
#define REGISTERED 0x7ef140000000ull
#define GTT	   0x7f2000000000ull
#define GTT_END	   0x7f2800000000ull
#define MAPS	   "proc/9/maps"
#define SMAPS	   "proc/9/smaps"

_Static_assert(HCS_VM_SHARED == HCW_VM_SHARED && HCS_VM_PFNMAP == HCW_VM_PFNMAP &&
		       HCS_VM_IO == HCW_VM_IO && HCS_VM_HUGETLB == HCW_VM_HUGETLB &&
		       HCS_VM_MIXED == HCW_VM_MIXED && HCS_VM_DONTCOPY == HCW_VM_DONTCOPY &&
		       HCS_VM_UNREADABLE == HCW_VM_UNREADABLE,
	       "hcsys and the records use the same flags");

static void test_range(void **state)
{
	int root = tree_fixture("proc-sglang");
	struct hcs_map m[16];

	(void)state;
	assert_int_equal(hcs_maps_range(root, PID, REGISTERED, REGISTERED + 1, m, 16, 0), 1);
	assert_true(m[0].lo == REGISTERED && m[0].hi == 0x7f1e40000000ull);
	assert_string_equal(m[0].perms, "rw-s");
	assert_string_equal(m[0].path, "/dev/zero (deleted)");
	assert_int_equal(m[0].inode, 1030);
	assert_int_equal(m[0].vmflags, 0);
	/* the ends are exclusive */
	assert_int_equal(hcs_maps_range(root, PID, GTT_END, GTT_END + 4096, m, 16, 0), 0);
	assert_int_equal(hcs_maps_range(root, PID, GTT - 1, GTT, m, 16, 0), 0);
	assert_int_equal(hcs_maps_range(root, PID, GTT_END - 1, GTT_END, m, 16, 0), 1);
	assert_true(m[0].offset == 0x1c0a31000ull);
	assert_int_equal(hcs_maps_range(root, PID, 0, UINT64_MAX, m, 16, 0), 11);
	assert_string_equal(m[6].path, "");
	assert_string_equal(m[7].path, "/srv/models/a name with  blanks\\012and a newline");
	assert_string_equal(m[10].path, "[vsyscall]");
	assert_true(m[10].hi == 0xffffffffff601000ull);
	memset(m, 0, sizeof(m));
	assert_int_equal(hcs_maps_range(root, PID, 0, UINT64_MAX, m, 2, 0), -E2BIG);
	assert_string_equal(m[1].perms, "r-xp"); /* the first two are there */
	close(root);
}

static void test_smaps(void **state)
{
	int root = tree_fixture("proc-sglang");
	struct hcs_map m[16];

	(void)state;
	assert_int_equal(hcs_smaps_range(root, PID, GTT, GTT_END, m, 16, 0), 1);
	assert_string_equal(m[0].path, "/dev/dri/renderD128");
	assert_int_equal(m[0].vmflags, HCS_VM_SHARED | HCS_VM_PFNMAP | HCS_VM_IO | HCS_VM_DONTCOPY);
	assert_int_equal(hcs_smaps_range(root, PID, 0, UINT64_MAX, m, 16, 0), 11);
	assert_int_equal(m[3].vmflags, HCS_VM_SHARED);
	assert_int_equal(m[4].vmflags, HCS_VM_SHARED | HCS_VM_HUGETLB);
	assert_int_equal(m[6].vmflags, 0);
	assert_int_equal(m[8].vmflags, HCS_VM_PFNMAP | HCS_VM_IO);
	close(root);
}

static void test_errors(void **state)
{
	int root = tree_fixture("proc-sglang");
	struct hcs_map m[1];

	(void)state;
	assert_int_equal(hcs_maps_range(root, 1, 0, 1, m, 1, 0), -ENOENT);
	assert_int_equal(hcs_maps_range(root, -1, 0, 1, m, 1, 0), -EINVAL);
	assert_int_equal(hcs_maps_range(root, PID, 0, 1, m, 1, 1), -ETIMEDOUT);
	assert_int_equal(hcs_smaps_range(root, PID, 0, 1, m, 1, 1), -ETIMEDOUT);
	assert_int_equal(hcs_maps_range(root, 121, 0, UINT64_MAX, m, 1, 0), 0); /* kernel thread */
	close(root);
}

static void test_malformed(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"1000-2000",
		"1000-2000 rw-p",
		"1000-2000 rw-p 0 0:0",
		"2000-1000 rw-p 00000000 00:00 0 ",
		"1000-1000 rw-p 00000000 00:00 0 ",
		"1000 2000 rw-p 00000000 00:00 0 ",
		" 1000-2000 rw-p 00000000 00:00 0 ",
		"-1000-2000 rw-p 00000000 00:00 0 ",
		"1000-2000 rw-q 00000000 00:00 0 ",
		"1000-2000 r- 00000000 00:00 0 ",
		"1000-2000 rw-p 00000000 00:00 x ",
		"1000-2000 rw-p 00000000 00:00 -1 ",
		"1000-2000 rw-p 00000000 00:00 0x",
		"1000-2000 rw-p 00000000 00:00 99999999999999999999 ",
		"1000-2000 rw-p 00000000 00:00 0000000000000000000000000000000 ",
		"1000-20000000000000000 rw-p 00000000 00:00 0 ",
		"1000-2000 rw-p 00000000 00:00 0 \n2000-3000",
	};
	int root = tree_new();
	struct hcs_map m[2];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s\n", bad[i]);
		tree_text(root, MAPS, text);
		assert_int_equal(hcs_maps_range(root, 9, 0, UINT64_MAX, m, 2, 0), -EBADMSG);
		tree_text(root, SMAPS, text);
		assert_int_equal(hcs_smaps_range(root, 9, 0, UINT64_MAX, m, 2, 0), -EBADMSG);
	}
	tree_put(root, MAPS, "1000-2000 rw-p 00000000 00:00 0 a\0b\n", 36);
	assert_int_equal(hcs_maps_range(root, 9, 0, UINT64_MAX, m, 2, 0), -EBADMSG);
	tree_remove(root);
}

static void test_odd_smaps(void **state)
{
	int root = tree_new();
	struct hcs_map m[4];

	(void)state;
	tree_text(root, SMAPS,
		  "VmFlags: io pf \n" /* before any mapping: nobody's */
		  "1000-2000 rw-p 00000000 00:00 0 \nSize: 4 kB\n"
		  "3000-4000 rw-p 00000000 00:00 0 \nVmFlags:\n"
		  "5000-6000 rw-s 00000000 00:00 0 \nVmFlags: mm newflag xx\n"
		  "7000-8000 rw-s 00000000 00:00 0 \nVmFlags: io\n");
	assert_int_equal(hcs_smaps_range(root, 9, 0x1000, 0x7000, m, 4, 0), 3);
	assert_true(m[0].vmflags == HCS_VM_UNREADABLE);
	assert_int_equal(m[1].vmflags, 0);
	assert_int_equal(m[2].vmflags, HCS_VM_MIXED); /* not the io of the one after the range */
	/* nor those before it, which have no place in out */
	m[0].vmflags = 77;
	assert_int_equal(hcs_smaps_range(root, 9, 0x7000, 0x8000, m + 1, 3, 0), 1);
	assert_int_equal(m[1].vmflags, HCS_VM_IO);
	assert_int_equal(m[0].vmflags, 77);
	tree_remove(root);
}

static void test_long_path(void **state)
{
	char text[6000] = "1000-2000 rw-p 00000000 00:00 1 ";
	int root = tree_new();
	struct hcs_map m[1];

	(void)state;
	memset(text + strlen(text), 'p', 5000);
	tree_text(root, MAPS, text);
	assert_int_equal(hcs_maps_range(root, 9, 0, UINT64_MAX, m, 1, 0), 1);
	assert_int_equal(strlen(m[0].path), HCS_MAP_PATH - 1);
	tree_remove(root);
}

static void test_cover(void **state)
{
	const struct hcs_map m[] = {
		{.lo = 0x1000, .hi = 0x3000},
		{.lo = 0x3000, .hi = 0x4000},
		{.lo = 0x5000, .hi = 0x6000},
	};

	(void)state;
	assert_true(hcs_maps_cover(m, 3, 0x1000, 0x4000));
	assert_true(hcs_maps_cover(m, 3, 0x2000, 0x3001));
	assert_true(hcs_maps_cover(m, 3, 0x5000, 0x6000));
	assert_false(hcs_maps_cover(m, 3, 0x1000, 0x4001));
	assert_false(hcs_maps_cover(m, 3, 0x3000, 0x6000));
	assert_false(hcs_maps_cover(m, 3, 0xfff, 0x2000));
	assert_false(hcs_maps_cover(m, 3, 0x5000, 0x6001));
	assert_false(hcs_maps_cover(NULL, 0, 0x1000, 0x2000));
	assert_false(hcs_maps_cover(m + 1, 2, 0x1000, 0x2000));
}

struct find_vvar {
	uint64_t addr;
};

static int find_vvar(const struct hcs_map *m, void *ctx)
{
	if (strncmp(m->path, "[vvar", 5))
		return 0;
	((struct find_vvar *)ctx)->addr = m->lo;
	return 1;
}

/* The running kernel: [vvar] is the one VM_IO|VM_PFNMAP mapping that every process has. */
static void test_this_process(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct find_vvar v = {0};
	struct hcs_map m[8];
	int root = hcs_root();
	char *p = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(root >= 0 && p != MAP_FAILED);
	assert_int_equal(hcs_map_is_special(p), 0);
	assert_int_equal(hcs_map_is_special(p + page + 17), 0);
	assert_int_equal(munmap(p, 2 * page), 0);
	assert_int_equal(hcs_map_is_special(p), -ENOMEM);
	assert_int_equal(hcs_maps_each(root, 0, find_vvar, &v, 0), 1);
	assert_int_equal(hcs_map_is_special((void *)(uintptr_t)v.addr), 1);
	assert_int_equal(hcs_smaps_range(root, getpid(), v.addr, v.addr + 1, m, 8, 0), 1);
	assert_int_equal(m[0].vmflags & (HCS_VM_IO | HCS_VM_PFNMAP), HCS_VM_IO | HCS_VM_PFNMAP);
	close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range),	  cmocka_unit_test(test_smaps),
		cmocka_unit_test(test_errors),	  cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_odd_smaps), cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_cover),	  cmocka_unit_test(test_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
