/* SPDX-License-Identifier: BSD-2-Clause */
/* Types as the kernels have them, made by libbpf's writer. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>
#include "../../../user/probe/prototype.h"

struct types {
	struct btf *btf;
	int int4, uint4, u32, ulong8, mm, mm_ptr, const_mm_ptr, kfd_ptr, file_ptr, fwd_ptr,
		void_ptr;
};

static void make(struct types *t)
{
	struct btf *b = btf__new_empty();

	assert_non_null(b);
	t->btf = b;
	t->int4 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	t->uint4 = btf__add_int(b, "unsigned int", 4, 0);
	t->u32 = btf__add_typedef(b, "uint32_t", btf__add_typedef(b, "__u32", t->uint4));
	t->ulong8 = btf__add_int(b, "long unsigned int", 8, 0);
	t->mm = btf__add_struct(b, "mm_struct", 8);
	t->mm_ptr = btf__add_ptr(b, t->mm);
	t->const_mm_ptr = btf__add_const(b, btf__add_ptr(b, btf__add_const(b, t->mm)));
	t->kfd_ptr = btf__add_ptr(b, btf__add_struct(b, "kfd_process", 8));
	t->file_ptr = btf__add_ptr(b, btf__add_struct(b, "file", 8));
	t->fwd_ptr = btf__add_ptr(b, btf__add_fwd(b, "mm_struct", BTF_FWD_STRUCT));
	t->void_ptr = btf__add_ptr(b, 0);
	assert_true(t->void_ptr > 0);
}

/* int f(a[0], a[1], ...), ended by -1 */
static __u32 function(struct types *t, const char *name, const int *arg)
{
	int proto = btf__add_func_proto(t->btf, t->int4), id;

	for (; *arg >= 0; arg++)
		assert_int_equal(btf__add_func_param(t->btf, "a", *arg), 0);
	id = btf__add_func(t->btf, name, BTF_FUNC_STATIC, proto);
	assert_true(id > 0);
	return (__u32)id;
}

#define FUNCTION(t, ...) function(t, "f", (const int[]){__VA_ARGS__, -1})

static const struct hcw_prototype *wanted(enum hcw_point p)
{
	return hcw_point_info(p)->candidate[0].prototype;
}

static void fits(const struct types *t, __u32 f, enum hcw_point p)
{
	char why[96] = "";

	assert_int_equal(hcw_prototype_check(t->btf, f, wanted(p), true, why, sizeof(why)), 0);
	assert_string_equal(why, "");
}

static void fits_not(const struct types *t, __u32 f, enum hcw_point p, bool count,
		     const char *reason)
{
	char why[96] = "";

	assert_int_equal(hcw_prototype_check(t->btf, f, wanted(p), count, why, sizeof(why)),
			 -EPROTOTYPE);
	assert_string_equal(why, reason);
}

static void the_known_ones_fit(void **state)
{
	struct types t;

	(void)state;
	make(&t);
	fits(&t, FUNCTION(&t, t.mm_ptr, t.u32), HCW_POINT_QUIESCE);
	fits(&t, FUNCTION(&t, t.const_mm_ptr, t.int4), HCW_POINT_QUIESCE);
	fits(&t, FUNCTION(&t, t.fwd_ptr, t.uint4), HCW_POINT_QUIESCE);
	fits(&t, FUNCTION(&t, t.mm_ptr), HCW_POINT_RESUME);
	fits(&t, FUNCTION(&t, t.kfd_ptr, t.u32), HCW_POINT_EVICT);
	fits(&t, FUNCTION(&t, t.int4, t.ulong8, t.void_ptr, t.void_ptr, t.void_ptr, t.int4),
	     HCW_POINT_MOVE_PAGES);
	/* nothing of it is read */
	fits(&t, FUNCTION(&t, t.ulong8, t.ulong8), HCW_POINT_NUMA_SCAN);
	btf__free(t.btf);
}

/* Case C4: arguments that moved, as amdgpu_amdkfd_evict_userptr's did between 6.1 and 6.12. */
static void another_signature_is_no_match(void **state)
{
	static const char no_mm[] = "another prototype: argument 1 is no struct mm_struct *";
	static const char no_trigger[] = "another prototype: argument 2 is no integer of 4 bytes";
	struct types t;

	(void)state;
	make(&t);
	fits_not(&t, FUNCTION(&t, t.kfd_ptr, t.u32), HCW_POINT_QUIESCE, true, no_mm);
	fits_not(&t, FUNCTION(&t, t.mm, t.u32), HCW_POINT_QUIESCE, true, no_mm);
	fits_not(&t, FUNCTION(&t, t.void_ptr, t.u32), HCW_POINT_QUIESCE, true, no_mm);
	fits_not(&t, FUNCTION(&t, t.u32, t.mm_ptr), HCW_POINT_QUIESCE, false, no_mm);
	fits_not(&t, FUNCTION(&t, t.mm_ptr, t.ulong8), HCW_POINT_QUIESCE, true, no_trigger);
	/* before 6.0: without a trigger, neither at entry nor at return can it be read */
	fits_not(&t, FUNCTION(&t, t.mm_ptr), HCW_POINT_QUIESCE, false, no_trigger);
	fits_not(&t, FUNCTION(&t, t.int4, t.ulong8, t.int4, t.void_ptr, t.void_ptr, t.int4),
		 HCW_POINT_MOVE_PAGES, false, "another prototype: argument 3 is no pointer");
	btf__free(t.btf);
}

/* Where fexit finds what was returned depends on how many there are; a kretprobe does not care. */
static void number_of_arguments(void **state)
{
	struct types t;
	char why[96] = "";
	__u32 f;

	(void)state;
	make(&t);
	f = FUNCTION(&t, t.mm_ptr, t.u32, t.int4);
	fits_not(&t, f, HCW_POINT_QUIESCE, true, "another prototype: 3 arguments, not 2");
	assert_int_equal(
		hcw_prototype_check(t.btf, f, wanted(HCW_POINT_QUIESCE), false, why, sizeof(why)),
		0);
	btf__free(t.btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_known_ones_fit),
		cmocka_unit_test(another_signature_is_no_match),
		cmocka_unit_test(number_of_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
