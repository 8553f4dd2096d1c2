/* SPDX-License-Identifier: BSD-2-Clause */
/* Drivers at the start of a session, and the count of what was skipped of their programs. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "../../../user/probe/internal.h"
#include "../sys/tree.h"

/* The kernel's count for each program, as if each had been skipped this often. */
static __u64 ends_skipped, starts_skipped;
static const struct hcw_hook *end_hook;

__u64 __wrap_hcw_hook_skipped(const struct hcw_attached *a, const struct hcw_hook *hook);

__u64 __wrap_hcw_hook_skipped(const struct hcw_attached *a, const struct hcw_hook *hook)
{
	(void)a;
	return hook == end_hook ? ends_skipped : starts_skipped;
}

/* amdgpu is live; the symbols that were read are these. Neither kprobes nor BTF of modules: what is
 * found is not attached. */
static struct hcw_driver *open_with(struct hcw_session *s, const char *symbols, const char *state)
{
	struct hcw_calibrate_opts opts = {.root = tree_new()};
	struct hcs_kallsyms *table;
	size_t i;

	memset(s, 0, sizeof(*s));
	tree_text(opts.root, "proc/kallsyms", symbols);
	tree_text(opts.root, "sys/module/amdgpu/initstate", state);
	assert_int_equal(hcs_kallsyms_load(&table, opts.root, 0), 0);
	opts.symbols = table;
	hcw_calibrate(&s->calibration, &opts);
	hcw_drivers_open(s, opts.root);
	hcs_kallsyms_free(table);
	tree_remove(opts.root);
	for (i = 0; i < HCW_MODULES; i++)
		if (!strcmp(s->driver[i].name, "amdgpu"))
			return &s->driver[i];
	fail();
	return NULL;
}

/* Its functions are not in symbols read before it was loaded: it is still to come. */
static void loaded_after_the_symbols_were_read(void **state)
{
	static struct hcw_session s;
	struct hcw_driver *d;

	(void)state;
	d = open_with(&s, "ffffffff81000000 T kernel_move_pages\n", "live\n");
	assert_false(d->attached);
	assert_true(d->told); /* it is not absent */
	assert_true(d->types & 1u << HCW_R_QUIESCE);
}

static void loaded_before(void **state)
{
	static struct hcw_session s;
	struct hcw_driver *d;

	(void)state;
	d = open_with(&s,
		      "ffffffff81000000 T kernel_move_pages\n"
		      "ffffffffc0000020 t kgd2kfd_quiesce_mm\t[amdgpu]\n",
		      "live\n");
	assert_true(d->attached);
}

static void not_live(void **state)
{
	static struct hcw_session s;
	struct hcw_driver *d;

	(void)state;
	d = open_with(&s, "ffffffff81000000 T kernel_move_pages\n", "coming\n");
	assert_false(d->attached);
	assert_false(d->told);
}

/* A return that was skipped leaves its call open, and that may be found: one record, not two, also
 * when the program is gone since. */
static void a_skipped_end_is_one_record(void **state)
{
	const struct hcw_attached gone = {.module = "amdgpu"};
	struct hcw_skipped s = {0};

	(void)state;
	end_hook = &hcw_point_info(HCW_POINT_QUIESCE)->candidate[0].hook[0];
	ends_skipped = 5;
	starts_skipped = 2;
	hcw_skipped_add(&s, &gone, HCW_POINT_QUIESCE, 0);
	assert_int_equal(s.ends[HCW_R_QUIESCE], 5);
	assert_int_equal(s.starts[HCW_R_QUIESCE], 2);
	assert_int_equal(hcw_skipped_records(&s, HCW_R_QUIESCE, 0), 7);
	assert_int_equal(hcw_skipped_records(&s, HCW_R_QUIESCE, 5), 7);
	assert_int_equal(hcw_skipped_records(&s, HCW_R_QUIESCE, 6), 8);
	/* what comes of the next load is added to each */
	hcw_skipped_add(&s, &gone, HCW_POINT_QUIESCE, 0);
	assert_int_equal(hcw_skipped_records(&s, HCW_R_QUIESCE, 6), 14);
}

/* Through a driver's going: the session keeps them apart too. */
static void a_driver_that_goes_keeps_its_count(void **state)
{
	static struct hcw_session s;
	struct hcw_bpf *skel = calloc(1, sizeof(*skel));
	struct hcw_driver *d;

	(void)state;
	assert_non_null(skel);
	d = open_with(&s, "ffffffffc0000020 t kgd2kfd_quiesce_mm\t[amdgpu]\n", "live\n");
	assert_true(d->attached);
	hcw_trial_of(&s.calibration, HCW_POINT_QUIESCE, 0)->rejected = false; /* as if attached */
	d->stage = (struct hcw_attached){.module = d->name, .skel = skel};
	end_hook = &hcw_point_info(HCW_POINT_QUIESCE)->candidate[0].hook[0];
	ends_skipped = 5;
	starts_skipped = 2;
	hcw_drivers_close(&s);
	assert_int_equal(s.skipped.ends[HCW_R_QUIESCE], 5);
	assert_int_equal(s.skipped.starts[HCW_R_QUIESCE], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loaded_after_the_symbols_were_read),
		cmocka_unit_test(loaded_before),
		cmocka_unit_test(not_live),
		cmocka_unit_test(a_skipped_end_is_one_record),
		cmocka_unit_test(a_driver_that_goes_keeps_its_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
