/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "../../../user/probe/calibrate.h"
#include "../sys/tree.h"

/* A kernel 6.1 with amdgpu and the test GPU, all functions present. */
static const char symbols_61[] =
	"ffffffff81000000 T kernel_move_pages\n"
	"ffffffff81000010 T __mmu_notifier_invalidate_range_start\n"
	"ffffffff81000020 T hmm_range_fault\n"
	"ffffffff81000030 t __traceiter_mm_migrate_pages\n"
	"ffffffff81000040 t __traceiter_mm_migrate_pages_start\n"
	"ffffffff81000050 t __traceiter_sched_process_exit\n"
	"ffffffff81000060 t __traceiter_sched_process_fork\n"
	"ffffffff81000070 T change_prot_numa\n"
	"ffffffff81000080 t cpuset_write_resmask\n"
	"ffffffff81000090 T sysctl_compaction_handler\n"
	"ffffffff810000a0 t compact_store\n"
	"ffffffffc0000000 t amdgpu_mn_invalidate_hsa\t[amdgpu]\n"
	"ffffffffc0000010 t kfd_open\t[amdgpu]\n"
	"ffffffffc0000020 t kgd2kfd_quiesce_mm\t[amdgpu]\n"
	"ffffffffc0000030 t kgd2kfd_resume_mm\t[amdgpu]\n"
	"ffffffffc0000040 t kfd_process_evict_queues\t[amdgpu]\n"
	"ffffffffc0000050 t kfd_process_restore_queues\t[amdgpu]\n"
	"ffffffffc0000060 t amdgpu_amdkfd_restore_userptr_worker\t[amdgpu]\n"
	"ffffffffc1000000 t gpusim_invalidate_range\t[gpusim]\n"
	"ffffffffc1000010 t gpusim_restore_worker\t[gpusim]\n";

struct machine {
	const char *symbols;
	bool kprobes, amdgpu_btf;
	const struct hcw_probe_choices *choices;
	bool amdgpu_loaded; /* also where none of its functions is */
};

static int machine_root(const struct machine *m)
{
	int root = tree_new();

	tree_text(root, "proc/kallsyms", m->symbols);
	if (m->kprobes)
		tree_text(root, "sys/bus/event_source/devices/kprobe/type", "8\n");
	if (m->amdgpu_btf)
		tree_text(root, "sys/kernel/btf/amdgpu", "");
	if (m->amdgpu_loaded)
		tree_text(root, "sys/module/amdgpu/initstate", "live\n");
	return root;
}

static void calibrate(struct hcw_calibration *c, const struct machine *m, bool long_running)
{
	struct hcw_calibrate_opts opts = {.long_running = long_running, .choices = m->choices};
	struct hcs_kallsyms *symbols;

	opts.root = machine_root(m);
	assert_int_equal(hcs_kallsyms_load(&symbols, opts.root, 0), 0);
	opts.symbols = symbols;
	hcw_calibrate(c, &opts);
	hcs_kallsyms_free(symbols);
	tree_remove(opts.root);
}

static void recalibrate(struct hcw_calibration *c, const struct machine *m, const char *module)
{
	struct hcw_calibrate_opts opts = {.long_running = true};
	struct hcs_kallsyms *symbols;

	opts.root = machine_root(m);
	assert_int_equal(hcs_kallsyms_load(&symbols, opts.root, 0), 0);
	opts.symbols = symbols;
	hcw_calibrate_module(c, &opts, module);
	hcs_kallsyms_free(symbols);
	tree_remove(opts.root);
}

static void expect(const struct hcw_plan *plan, enum hcw_point p, enum hcw_tier tier,
		   const char *target, const char *reason)
{
	const struct hcw_plan_entry *e = &plan->entry[p];

	assert_int_equal(e->point, p);
	assert_int_equal(e->tier, tier);
	assert_int_equal(e->active, tier != HCW_TIER_OFF);
	assert_string_equal(e->target, target);
	assert_string_equal(e->reason, reason);
}

static void first_choice_everywhere(void **state)
{
	const struct machine m = {symbols_61, true, true};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_MOVE_PAGES, HCW_TIER_FENTRY, "kernel_move_pages", "");
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_TP_BTF, "mm_migrate_pages", "");
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_FENTRY, "kgd2kfd_quiesce_mm", "");
	expect(&plan, HCW_POINT_EVICT, HCW_TIER_FENTRY, "kfd_process_evict_queues", "");
	expect(&plan, HCW_POINT_NUMA_SCAN, HCW_TIER_FENTRY, "change_prot_numa", "");
	expect(&plan, HCW_POINT_REQUEST, HCW_TIER_FENTRY,
	       "cpuset_write_resmask, sysctl_compaction_handler, compact_store", "");
	expect(&plan, HCW_POINT_TASK_FORK, HCW_TIER_TP_BTF, "sched_process_fork", "");
	expect(&plan, HCW_POINT_TASK_EXIT, HCW_TIER_TP_BTF, "sched_process_exit", "");
}

/* zram has a compact_store() of its own. As a module it is no matter; built in, the name says
 * nothing. */
static void name_of_two_functions(void **state)
{
	struct machine m = {"ffffffff81000000 t compact_store\n"
			    "ffffffffc0000000 t compact_store\t[zram]\n",
			    true, true};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_REQUEST, HCW_TIER_FENTRY, "compact_store", "");
	m.symbols = "ffffffffc0000000 t compact_store\t[zram]\n";
	calibrate(&c, &m, false);
	assert_true(c.trial[hcw_candidate_index(HCW_POINT_REQUEST, 4)].absent);
	m.symbols = "ffffffff81000000 t compact_store\n"
		    "ffffffff81000010 t compact_store\n";
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_REQUEST, HCW_TIER_OFF, "",
	       "fentry: 2 candidates; kprobe: 2 candidates");
}

/* Both drivers' callbacks are wanted; the test GPU's module is built without BTF. */
static void every_driver_that_is_there(void **state)
{
	const struct machine m = {symbols_61, true, true};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_HSA_CALLBACK, HCW_TIER_FENTRY,
	       "amdgpu_mn_invalidate_hsa, gpusim_invalidate_range",
	       "fentry: module gpusim has no BTF");
	expect(&plan, HCW_POINT_RESTORE_PASS, HCW_TIER_FENTRY,
	       "amdgpu_amdkfd_restore_userptr_worker, gpusim_restore_worker",
	       "fentry: module gpusim has no BTF");
}

/* As with the driver that is built outside the kernel: quiesce and resume must do without. */
static void driver_without_btf(void **state)
{
	const struct machine m = {symbols_61, true, false};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_KPROBE, "kgd2kfd_quiesce_mm",
	       "fentry: module amdgpu has no BTF");
	expect(&plan, HCW_POINT_EVICT, HCW_TIER_OFF, "",
	       "fentry: module amdgpu has no BTF; kprobe: module amdgpu has no BTF");
	expect(&plan, HCW_POINT_MOVE_PAGES, HCW_TIER_FENTRY, "kernel_move_pages", "");
}

static void built_in_driver_needs_no_module_btf(void **state)
{
	const struct machine m = {"ffffffff81000000 T kfd_process_evict_queues\n", true, false};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, true);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_EVICT, HCW_TIER_FENTRY, "kfd_process_evict_queues", "");
}

static void long_running_does_not_hold_the_driver(void **state)
{
	const struct machine m = {symbols_61, true, true};
	struct hcw_calibration c;
	struct hcw_plan plan;
	size_t i;
	int p;

	(void)state;
	calibrate(&c, &m, true);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_RESUME, HCW_TIER_KPROBE, "kgd2kfd_resume_mm",
	       "fentry: would hold module amdgpu loaded");
	expect(&plan, HCW_POINT_NOTIFIER, HCW_TIER_FENTRY, "__mmu_notifier_invalidate_range_start",
	       "");
	for (p = 0; p < HCW_POINT_COUNT; p++)
		for (i = 0; i < hcw_point_info(p)->count; i++)
			if (hcw_chosen(&c, p, i) && hcw_point_info(p)->candidate[i].module)
				assert_int_not_equal(hcw_point_info(p)->candidate[i].tier,
						     HCW_TIER_FENTRY);
}

static void nothing_is_there(void **state)
{
	const struct machine m = {"ffffffff81000000 T kernel_move_pages\n", false, false};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_reject(&c, HCW_POINT_MOVE_PAGES, 0, -EPERM, "load: refused");
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_MOVE_PAGES, HCW_TIER_OFF, "",
	       "fentry: load: refused; kprobe: this kernel has no kprobes");
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_OFF, "", "module amdgpu is not loaded");
	expect(&plan, HCW_POINT_TASK_EXIT, HCW_TIER_OFF, "",
	       "no such tracepoint: sched_process_exit");
	expect(&plan, HCW_POINT_ITERATION, HCW_TIER_OFF, "",
	       "no program with these marks attached yet");
	/* each thing is said once */
	expect(&plan, HCW_POINT_HSA_CALLBACK, HCW_TIER_OFF, "",
	       "module amdgpu is not loaded; module gpusim is not loaded");
}

/* Of a point with many functions: not once for each of them. */
static void a_reason_is_said_once(void **state)
{
	const struct machine m = {symbols_61, false, true};
	struct hcw_calibration c;
	struct hcw_plan plan;
	size_t i;

	(void)state;
	calibrate(&c, &m, false);
	for (i = 0; i < hcw_point_info(HCW_POINT_REQUEST)->count; i++)
		if (hcw_point_info(HCW_POINT_REQUEST)->candidate[i].tier == HCW_TIER_FENTRY &&
		    !hcw_trial_of(&c, HCW_POINT_REQUEST, i)->rejected)
			hcw_reject(&c, HCW_POINT_REQUEST, i, -EPERM, "load: refused");
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_REQUEST, HCW_TIER_OFF, "",
	       "fentry: load: refused; kprobe: this kernel has no kprobes");
}

/* A list that is too long is cut, not overrun. */
static void a_long_list_is_cut(void **state)
{
	const struct machine m = {"ffffffff81000000 T kernel_move_pages\n", true, true, NULL, true};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_OFF, "", "no such function: kgd2kfd_quiesce_mm");
	assert_int_equal(strlen(plan.entry[HCW_POINT_HSA_CALLBACK].reason),
			 sizeof(plan.entry[0].reason) - 1);
}

static void choose(struct hcw_probe_choices *choices, const char *text)
{
	char why[256];

	assert_int_equal(hcw_probe_choose(choices, text, why, sizeof(why)), 0);
}

/* A forced tier is used or nothing is. */
static void forced_tiers(void **state)
{
	struct hcw_probe_choices choices = {0};
	struct machine m = {symbols_61, true, false, &choices};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	choose(&choices, "notifier=kprobe");
	choose(&choices, "migrate=raw_tp");
	choose(&choices, "quiesce=fentry");
	choose(&choices, "numa_scan=off");
	choose(&choices, "iteration=off");
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_NOTIFIER, HCW_TIER_KPROBE, "__mmu_notifier_invalidate_range_start",
	       "");
	expect(&plan, HCW_POINT_MIGRATE, HCW_TIER_RAW_TP, "mm_migrate_pages", "");
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_OFF, "", "fentry: module amdgpu has no BTF");
	expect(&plan, HCW_POINT_NUMA_SCAN, HCW_TIER_OFF, "", "turned off by --probe");
	expect(&plan, HCW_POINT_ITERATION, HCW_TIER_OFF, "", "turned off by --probe");
	expect(&plan, HCW_POINT_RESUME, HCW_TIER_KPROBE, "kgd2kfd_resume_mm",
	       "fentry: module amdgpu has no BTF");
	assert_true(plan.entry[HCW_POINT_NOTIFIER].forced);
	assert_true(plan.entry[HCW_POINT_NUMA_SCAN].forced);
	assert_false(plan.entry[HCW_POINT_RESUME].forced);
	/* rmmod is not held up, whoever wants it */
	m.amdgpu_btf = true;
	calibrate(&c, &m, true);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_OFF, "",
	       "fentry: would hold module amdgpu loaded");
}

/* Case C5. What is read decides: numa_scan reads no argument, the notifier's range is one. */
static void compiler_suffixes(void **state)
{
	const struct machine m = {
		"ffffffff81000000 t change_prot_numa.isra.34\n"
		"ffffffff81000008 t __pfx_change_prot_numa.isra.34\n"
		"ffffffff81000010 t change_prot_numa.cold\n"
		"ffffffff81000020 t __mmu_notifier_invalidate_range_start.constprop.0\n"
		"ffffffff81000030 t hmm_range_fault.llvm.3433979326929198294\n"
		"ffffffff81000040 T kernel_move_pages\n"
		"ffffffff81000050 t kernel_move_pages.part.0\n"
		"ffffffffc0000000 t amdgpu_hmm_invalidate_hsa.llvm.123\t[amdgpu]\n"
		"ffffffffc0000010 t amdgpu_hmm_invalidate_hsa.cold\t[amdgpu]\n",
		true, true};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_NUMA_SCAN, HCW_TIER_KPROBE, "change_prot_numa.isra.34",
	       "fentry: compiled as change_prot_numa.isra.34");
	assert_false(plan.entry[HCW_POINT_NOTIFIER].active);
	assert_non_null(strstr(plan.entry[HCW_POINT_NOTIFIER].reason,
			       "__mmu_notifier_invalidate_range_start.constprop.0"));
	expect(&plan, HCW_POINT_RESTORE_FAULT, HCW_TIER_KPROBE,
	       "hmm_range_fault.llvm.3433979326929198294",
	       "fentry: compiled as hmm_range_fault.llvm.3433979326929198294");
	expect(&plan, HCW_POINT_MOVE_PAGES, HCW_TIER_FENTRY, "kernel_move_pages",
	       "calls of kernel_move_pages.part.0 are not seen");
	expect(&plan, HCW_POINT_HSA_CALLBACK, HCW_TIER_KPROBE, "amdgpu_hmm_invalidate_hsa.llvm.123",
	       "fentry: compiled as amdgpu_hmm_invalidate_hsa.llvm.123");
}

/* Case C6. Told apart by the module, and then probed by address. */
static void same_name_in_two_modules(void **state)
{
	struct machine m = {"ffffffffc0000000 t kgd2kfd_resume_mm\t[amdgpu]\n"
			    "ffffffffc1000000 t kgd2kfd_resume_mm\t[other]\n",
			    true, true};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_RESUME, HCW_TIER_KPROBE, "kgd2kfd_resume_mm",
	       "fentry: 2 candidates of this name");
	assert_int_equal(hcw_trial_of(&c, HCW_POINT_RESUME, 1)->addr, 0xffffffffc0000000);
	/* nothing but the address tells, and it is hidden */
	m.symbols = "0000000000000000 t kgd2kfd_resume_mm\t[amdgpu]\n"
		    "0000000000000000 t kgd2kfd_resume_mm\t[other]\n";
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_RESUME, HCW_TIER_OFF, "",
	       "fentry: 2 candidates of this name; kprobe: 2 candidates, and kptr_restrict hides "
	       "their addresses");
	m.symbols = "ffffffffc0000000 t kgd2kfd_resume_mm\t[amdgpu]\n"
		    "ffffffffc0000010 t kgd2kfd_resume_mm\t[amdgpu]\n";
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_RESUME, HCW_TIER_OFF, "",
	       "fentry: 2 candidates; kprobe: 2 candidates");
	/* only somebody else's */
	m.symbols = "ffffffffc1000000 t kgd2kfd_resume_mm\t[other]\n";
	calibrate(&c, &m, false);
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_RESUME, HCW_TIER_OFF, "", "module amdgpu is not loaded");
}

/* Case C11. kptr_restrict=2 shows every address as 0, and every name. */
static void hidden_addresses(void **state)
{
	static char hidden[sizeof(symbols_61)];
	const struct machine shown = {symbols_61, true, true}, m = {hidden, true, true};
	struct hcw_calibration c;
	struct hcw_plan plan, same;
	char *line;

	(void)state;
	memcpy(hidden, symbols_61, sizeof(hidden));
	for (line = hidden; *line; line = strchr(line, '\n') + 1)
		memset(line, '0', 16);
	calibrate(&c, &shown, true);
	hcw_plan_build(&plan, &c);
	calibrate(&c, &m, true);
	hcw_plan_build(&same, &c);
	assert_memory_equal(&plan, &same, sizeof(plan));
}

/* Case C3. What is not of the module is left alone, and comes back as it was. */
static void a_module_goes_and_comes(void **state)
{
	const struct machine m = {symbols_61, true, true};
	struct hcw_calibration c;
	struct hcw_plan before, plan;

	(void)state;
	calibrate(&c, &m, true);
	hcw_plan_build(&before, &c);
	plan = before;
	plan.entry[HCW_POINT_POOL].active = true;
	hcw_calibrate_gone(&c, "amdgpu");
	hcw_plan_update(&plan, &c);
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_OFF, "", "module amdgpu is not loaded");
	expect(&plan, HCW_POINT_RESTORE_PASS, HCW_TIER_KPROBE, "gpusim_restore_worker",
	       "fentry: module gpusim has no BTF");
	expect(&plan, HCW_POINT_NOTIFIER, HCW_TIER_FENTRY, "__mmu_notifier_invalidate_range_start",
	       "");
	assert_true(plan.entry[HCW_POINT_POOL].active);
	recalibrate(&c, &m, "amdgpu");
	hcw_plan_update(&plan, &c);
	plan.entry[HCW_POINT_POOL].active = false;
	assert_memory_equal(&plan, &before, sizeof(plan));
}

/* Built in, it never goes. */
static void a_built_in_driver_stays(void **state)
{
	const struct machine m = {"ffffffff81000000 T kgd2kfd_quiesce_mm\n", true, false};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, true);
	hcw_calibrate_gone(&c, "amdgpu");
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_QUIESCE, HCW_TIER_FENTRY, "kgd2kfd_quiesce_mm", "");
}

static void a_refusal_moves_on(void **state)
{
	const struct machine m = {symbols_61, true, true};
	struct hcw_calibration c;
	struct hcw_plan plan;

	(void)state;
	calibrate(&c, &m, false);
	assert_true(hcw_chosen(&c, HCW_POINT_NOTIFIER, 0));
	assert_false(hcw_chosen(&c, HCW_POINT_NOTIFIER, 1));
	hcw_reject(&c, HCW_POINT_NOTIFIER, 0, -524, "attach: %s", "not supported");
	assert_false(hcw_chosen(&c, HCW_POINT_NOTIFIER, 0));
	assert_true(hcw_chosen(&c, HCW_POINT_NOTIFIER, 1));
	hcw_plan_build(&plan, &c);
	expect(&plan, HCW_POINT_NOTIFIER, HCW_TIER_KPROBE, "__mmu_notifier_invalidate_range_start",
	       "fentry: attach: not supported");
}

static void tier_names(void **state)
{
	(void)state;
	assert_string_equal(hcw_tier_name(HCW_TIER_OFF), "off");
	assert_string_equal(hcw_tier_name(HCW_TIER_TP_BTF), "tp_btf");
	assert_string_equal(hcw_tier_name(HCW_TIER_RAW_TP), "raw_tp");
	assert_string_equal(hcw_tier_name(HCW_TIER_FENTRY), "fentry");
	assert_string_equal(hcw_tier_name(HCW_TIER_KPROBE), "kprobe");
	assert_string_equal(hcw_tier_name(HCW_TIER_USDT), "usdt");
	assert_string_equal(hcw_tier_name((enum hcw_tier)99), "?");
	assert_string_equal(hcw_point_name((enum hcw_point)99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_choice_everywhere),
		cmocka_unit_test(name_of_two_functions),
		cmocka_unit_test(every_driver_that_is_there),
		cmocka_unit_test(driver_without_btf),
		cmocka_unit_test(built_in_driver_needs_no_module_btf),
		cmocka_unit_test(long_running_does_not_hold_the_driver),
		cmocka_unit_test(nothing_is_there),
		cmocka_unit_test(a_reason_is_said_once),
		cmocka_unit_test(a_long_list_is_cut),
		cmocka_unit_test(a_refusal_moves_on),
		cmocka_unit_test(forced_tiers),
		cmocka_unit_test(compiler_suffixes),
		cmocka_unit_test(same_name_in_two_modules),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(a_module_goes_and_comes),
		cmocka_unit_test(a_built_in_driver_stays),
		cmocka_unit_test(tier_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
