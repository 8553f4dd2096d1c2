/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tree.h"
#include "../../../user/sys/kallsyms.h"

#define FILE_NAME "proc/kallsyms"

static struct hcs_kallsyms *load(const char *fixture)
{
	int root = tree_fixture(fixture);
	struct hcs_kallsyms *k;

	assert_int_equal(hcs_kallsyms_load(&k, root, 0), 0);
	close(root);
	return k;
}

static void check_name(const struct hcs_kallsyms *k, uint64_t addr, const char *name)
{
	char buf[128];

	assert_int_equal(hcs_kallsyms_name(k, addr, buf, sizeof(buf)), 0);
	assert_string_equal(buf, name);
}

static void test_count(void **state)
{
	struct hcs_kallsyms *k = load("proc-sglang");

	(void)state;
	assert_int_equal(hcs_kallsyms_count(k, "kernel_move_pages", NULL), 1);
	assert_int_equal(hcs_kallsyms_count(k, "kernel_move_pages", "amdgpu"), 0);
	assert_int_equal(hcs_kallsyms_count(k, "kernel_move_pages", "*"), 1);
	assert_int_equal(hcs_kallsyms_count(k, "kgd2kfd_quiesce_mm", NULL), 0);
	assert_int_equal(hcs_kallsyms_count(k, "kgd2kfd_quiesce_mm", "amdgpu"), 1);
	assert_int_equal(hcs_kallsyms_count(k, "gsim_invalidate", "gpusim"), 1);
	assert_int_equal(hcs_kallsyms_count(k, "duplicated", NULL), 2);
	assert_int_equal(hcs_kallsyms_count(k, "duplicated", "*"), 3);
	assert_int_equal(hcs_kallsyms_count(k, "weak_default", NULL), 1);
	assert_int_equal(hcs_kallsyms_count(k, "jiffies_64", "*"), 0);	    /* data */
	assert_int_equal(hcs_kallsyms_count(k, "kgd2kfd_quiesce", "*"), 0); /* a prefix */
	assert_int_equal(hcs_kallsyms_count(k, "", "*"), 0);
	hcs_kallsyms_free(k);
}

static void test_name(void **state)
{
	struct hcs_kallsyms *k = load("proc-sglang");
	char buf[16];

	(void)state;
	assert_int_equal(hcs_kallsyms_hidden(k), 0);
	check_name(k, 0xffffffff812f4a10, "kernel_move_pages+0x0");
	check_name(k, 0xffffffff812f4a2f, "kernel_move_pages+0x1f");
	check_name(k, 0xffffffffc0a1011f, "kgd2kfd_quiesce_mm+0x11f [amdgpu]");
	check_name(k, 0xffffffffc0201010, "bpf_prog_6deef7357e7b4530+0x10 [bpf]");
	check_name(k, 0xffffffff81000001, "_stext+0x1"); /* the first alias in the file */
	assert_int_equal(hcs_kallsyms_name(k, 0xffffffff80ffffff, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(hcs_kallsyms_name(k, 0xffffffff812f4a10, buf, sizeof(buf)), -E2BIG);
	assert_string_equal(buf, "kernel_move_pag");
	hcs_kallsyms_free(k);
}

/* An address of a module that went away, say, must not get the name of the last function before
 * it. */
static void test_far_from_any_symbol(void **state)
{
	struct hcs_kallsyms *k;
	int root = tree_new();
	char buf[32];

	(void)state;
	tree_text(root, FILE_NAME, "1000000 t low\n2000000 t high\t[m]\n");
	assert_int_equal(hcs_kallsyms_load(&k, root, 0), 0);
	check_name(k, 0x1100000, "low+0x100000");
	assert_int_equal(hcs_kallsyms_name(k, 0x1100001, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(hcs_kallsyms_name(k, 0x1ffffff, buf, sizeof(buf)), -ENOENT);
	check_name(k, 0x2000000, "high+0x0 [m]");
	check_name(k, 0x2100000, "high+0x100000 [m]");
	assert_int_equal(hcs_kallsyms_name(k, 0x2100001, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(hcs_kallsyms_name(k, UINT64_MAX, buf, sizeof(buf)), -ENOENT);
	hcs_kallsyms_free(k);
	tree_remove(root);
}

static void test_hidden(void **state)
{
	struct hcs_kallsyms *k = load("proc-hidden");
	char buf[64];

	(void)state;
	assert_int_equal(hcs_kallsyms_hidden(k), 1);
	assert_int_equal(hcs_kallsyms_count(k, "kgd2kfd_quiesce_mm", "amdgpu"), 1);
	assert_int_equal(hcs_kallsyms_name(k, 0, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(hcs_kallsyms_name(k, 0xffffffff812f4a10, buf, sizeof(buf)), -ENOENT);
	hcs_kallsyms_free(k);
	hcs_kallsyms_free(NULL);
}

static void test_malformed(void **state)
{
	static const char *const bad[] = {
		"\n",
		"x",
		"ffffffff81000000",
		"ffffffff81000000 ",
		"ffffffff81000000 T",
		"ffffffff81000000 T ",
		"ffffffff81000000 T \t[amdgpu]",
		"ffffffff81000000 T name\t",
		"ffffffff81000000 T name\t[]",
		"ffffffff81000000 T name\t[amdgpu",
		"ffffffff81000000 T name\tamdgpu]",
		"fffffffff81000000 T name",
		"-fffffff81000000 T name",
		"ffffffff81000000\tT name",
	};
	struct hcs_kallsyms *k;
	int root = tree_new();

	(void)state;
	assert_int_equal(hcs_kallsyms_load(&k, root, 0), -ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_text(root, FILE_NAME, bad[i]);
		assert_int_equal(hcs_kallsyms_load(&k, root, 0), -EBADMSG);
	}
	tree_text(root, FILE_NAME, "1 T x\n");
	assert_int_equal(hcs_kallsyms_load(&k, root, 1), -ETIMEDOUT);
	tree_text(root, FILE_NAME, "");
	assert_int_equal(hcs_kallsyms_load(&k, root, 0), 0);
	assert_int_equal(hcs_kallsyms_hidden(k), 1);
	assert_int_equal(hcs_kallsyms_count(k, "x", "*"), 0);
	hcs_kallsyms_free(k);
	tree_remove(root);
}

/* Enough symbols, out of order, to make every array grow; every one must be found again. */
static void test_many(void **state)
{
	enum { N = 20011 };
	char *text = malloc(N * 48);
	struct hcs_kallsyms *k;
	int root = tree_new();
	size_t len = 0;
	char want[64];

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < N; i++)
		len += (size_t)sprintf(text + len, "%x t f%d%s\n", 16 * (1 + i * 7919 % N), i,
				       i % 3 ? "\t[m]" : "");
	tree_put(root, FILE_NAME, text, len);
	free(text);
	assert_int_equal(hcs_kallsyms_load(&k, root, 0), 0);
	for (int i = 0; i < N; i += 97) {
		snprintf(want, sizeof(want), "f%d+0x5%s", i, i % 3 ? " [m]" : "");
		check_name(k, 16ull * (1 + (unsigned int)(i * 7919 % N)) + 5, want);
		snprintf(want, sizeof(want), "f%d", i);
		assert_int_equal(hcs_kallsyms_count(k, want, i % 3 ? "m" : NULL), 1);
	}
	hcs_kallsyms_free(k);
	tree_remove(root);
}

static void test_this_kernel(void **state)
{
	struct hcs_kallsyms *k;
	int root = hcs_root();
	int ret = hcs_kallsyms_load(&k, root, 0);

	(void)state;
	close(root);
	if (ret == -ENOENT || ret == -EACCES || ret == -EPERM)
		skip();
	assert_int_equal(ret, 0);
	assert_true(hcs_kallsyms_count(k, "vfs_read", NULL) >= 1);
	hcs_kallsyms_free(k);
}

static const char compiled[] = "ffffffff81000030 t f.constprop.0\n"
			       "ffffffff81000000 t f\n"
			       "ffffffff81000010 t f.cold\n"
			       "ffffffff81000020 t ff\n"
			       "ffffffffc0000000 t f.isra.3\t[amdgpu]\n"
			       "ffffffffc0000010 t g\t[amdgpu]\n"
			       "ffffffffc0000020 d f.data\t[amdgpu]\n";

/* Names with what a compiler appends, each where it was asked for, by address. */
static void test_find(void **state)
{
	struct hcs_symbol s[4] = {{0}};
	struct hcs_kallsyms *k;
	int root = tree_new();

	(void)state;
	tree_text(root, FILE_NAME, compiled);
	assert_int_equal(hcs_kallsyms_load(&k, root, 0), 0);
	assert_int_equal(hcs_kallsyms_find(k, "f", NULL, s, 4), 3);
	assert_string_equal(s[0].name, "f");
	assert_string_equal(s[1].name, "f.cold");
	assert_string_equal(s[2].name, "f.constprop.0");
	assert_int_equal(s[2].addr, 0xffffffff81000030);
	assert_string_equal(s[2].module, "");
	assert_int_equal(hcs_kallsyms_find(k, "f", "amdgpu", s, 4), 1);
	assert_string_equal(s[0].name, "f.isra.3");
	assert_string_equal(s[0].module, "amdgpu");
	assert_int_equal(hcs_kallsyms_find(k, "f", "*", s, 1),
			 4); /* how many, and no more written */
	assert_string_equal(s[1].name, "f.cold");
	assert_int_equal(hcs_kallsyms_find(k, "f.constprop.0", NULL, s, 4), 1);
	assert_int_equal(hcs_kallsyms_find(k, "f.cons", "*", s, 4), 0);
	assert_int_equal(hcs_kallsyms_find(k, "", "*", s, 4), 0);
	/* the exact name is found among them, too */
	assert_int_equal(hcs_kallsyms_count(k, "f", "*"), 1);
	assert_int_equal(hcs_kallsyms_count(k, "f.isra.3", "*"), 1);
	hcs_kallsyms_free(k);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),	    cmocka_unit_test(test_count),
		cmocka_unit_test(test_name),	    cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_malformed),   cmocka_unit_test(test_many),
		cmocka_unit_test(test_this_kernel), cmocka_unit_test(test_far_from_any_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
