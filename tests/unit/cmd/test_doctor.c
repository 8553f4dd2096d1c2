/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch doctor: what it reads of made-up hosts, and what follows from it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "../sys/tree.h"
#include "../../../user/cmd/doctor_internal.h"

static struct doctor_host *host_of(const char *tree)
{
	static struct doctor_host h;
	int root = tree_fixture(tree);

	doctor_read_host(&h, root);
	close(root);
	return &h;
}

static const struct doctor_setting *setting(const struct doctor_host *h, const char *name)
{
	size_t i;

	for (i = 0; i < h->n_settings; i++)
		if (!strcmp(h->setting[i].name, name))
			return &h->setting[i];
	fail_msg("no setting %s", name);
	return NULL;
}

static void assert_code(const char *got, const char *want)
{
	if (!want) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, want);
	assert_non_null(hcw_finding_by_code(want));
}

/* Debian's defaults on two memory nodes. */
static void a_server(void **state)
{
	static const struct {
		const char *name, *value;
		enum doctor_effect shared, private_effect;
		const char *code;
	} want[] = {
		{"numa_balancing", "1", DOCTOR_CAN_SOME, DOCTOR_CAN, "HCW-401"},
		{"compaction_proactiveness", "20", DOCTOR_CAN, DOCTOR_CAN, "HCW-402"},
		{"compact_unevictable_allowed", "1", DOCTOR_CAN, DOCTOR_CAN, NULL},
		{"thp_enabled", "always", DOCTOR_NO, DOCTOR_CAN, "HCW-403"},
		{"thp_defrag", "madvise", DOCTOR_ON_REQUEST, DOCTOR_ON_REQUEST, NULL},
		{"thp_shmem_enabled", "never", DOCTOR_NO, DOCTOR_NO, NULL},
		{"khugepaged_defrag", "1", DOCTOR_CAN, DOCTOR_CAN, "HCW-408"},
		{"ksm_run", "0", DOCTOR_NO, DOCTOR_NO, NULL},
		{"swap", "9.7 GB", DOCTOR_UNMEASURED, DOCTOR_UNMEASURED, "HCW-407"},
	};
	const struct doctor_host *h = host_of("doctor-server");
	size_t i;

	(void)state;
	assert_int_equal(h->n_settings, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < h->n_settings; i++) {
		const struct doctor_setting *s = setting(h, want[i].name);

		assert_int_equal(s->known, DOCTOR_KNOWN);
		assert_string_equal(s->value, want[i].value);
		assert_int_equal(s->shared, want[i].shared);
		assert_int_equal(s->private_, want[i].private_effect);
		assert_code(s->code, want[i].code);
		assert_true(s->means[0] && strlen(s->means) + 1 < sizeof(s->means));
	}
	assert_int_equal(doctor_findings(h), 5);
	assert_int_equal(doctor_unread(h), 0);
	assert_int_equal(doctor_exit(h), HCW_EXIT_FINDING);
}

static void its_driver_and_limits(void **state)
{
	const struct doctor_host *h = host_of("doctor-server");

	(void)state;
	assert_string_equal(h->kernel, "6.1.0-57-amd64");
	assert_int_equal(h->kernel_btf, DOCTOR_KNOWN);
	assert_int_equal(h->n_nodes, 2); /* the third has no memory */
	assert_int_equal(h->node[1], 2);
	assert_int_equal(h->n_modules, 1);
	assert_string_equal(h->module[0].state, "loaded");
	assert_true(h->module[0].out_of_tree);
	assert_int_equal(h->module[0].btf, DOCTOR_ABSENT);
	assert_int_equal(h->n_gpus, 1);
	assert_false(h->gpu[0].simulated);
	assert_true(h->gpu[0].gtt_total == 137438953472ull);
	assert_string_equal(h->ttm_module, "amdttm"); /* not that of the kernel's own ttm */
	assert_true(h->ttm_limit == 33554432ull * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_int_equal(h->kfd, DOCTOR_KNOWN);
}

/* F4 */
static void numa_balancing_is_a_mask(void **state)
{
	static const struct {
		const char *tree, *means, *code;
		enum doctor_known known;
	} cases[] = {
		{"numa-balancing/0", "off", NULL, DOCTOR_KNOWN},
		{"numa-balancing/1", "balancing;", "HCW-401", DOCTOR_KNOWN},
		{"numa-balancing/2", "tiering;", "HCW-401", DOCTOR_KNOWN},
		{"numa-balancing/3", "balancing + tiering;", "HCW-401", DOCTOR_KNOWN},
		{"numa-balancing/no-newline", "balancing;", "HCW-401", DOCTOR_KNOWN},
		{"numa-balancing/absent", "", NULL, DOCTOR_ABSENT},
		{"numa-balancing/one-node",
		 "balancing; one memory node: no page moves, but the scan", "HCW-401",
		 DOCTOR_KNOWN},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct doctor_setting *s = setting(host_of(cases[i].tree), "numa_balancing");

		assert_int_equal(s->known, cases[i].known);
		assert_int_equal(strncmp(s->means, cases[i].means, strlen(cases[i].means)), 0);
		assert_code(s->code, cases[i].code);
		assert_int_equal(s->shared == DOCTOR_NO, !cases[i].code);
		assert_int_equal(s->private_ == DOCTOR_NO, !cases[i].code);
	}
	assert_int_equal(doctor_exit(host_of("numa-balancing/0")), HCW_EXIT_OK);
	assert_int_equal(doctor_exit(host_of("numa-balancing/2")), HCW_EXIT_FINDING);
	assert_int_equal(doctor_exit(host_of("numa-balancing/absent")), HCW_EXIT_OK);
}

static void a_bit_of_tomorrow(void **state)
{
	struct doctor_setting out[DOCTOR_MAX_SETTINGS];
	struct doctor_vm vm = {.nodes = 2};

	(void)state;
	vm.value[HCS_VM_NUMA_BALANCING].number = 5;
	doctor_settings(out, &vm);
	assert_non_null(strstr(out[0].means, "balancing + bits 0x4;"));
	assert_code(out[0].code, "HCW-401");
	vm.nodes = -EACCES; /* balancing between what? */
	doctor_settings(out, &vm);
	assert_null(out[0].code);
	assert_int_equal(out[0].shared, DOCTOR_CANNOT_SAY);
}

/* Each word and number of the other settings. */
static void other_values(void **state)
{
	static const struct {
		enum hcs_vm which;
		const char *text;
		uint64_t number;
		const char *code;
	} cases[] = {
		{HCS_VM_PROACTIVENESS, "0", 0, NULL},
		{HCS_VM_PROACTIVENESS, "100", 100, "HCW-402"},
		{HCS_VM_THP_ENABLED, "never", 0, NULL},
		{HCS_VM_THP_ENABLED, "madvise", 0, NULL},
		{HCS_VM_THP_ENABLED, "always", 0, "HCW-403"},
		{HCS_VM_THP_DEFRAG, "always", 0, "HCW-404"},
		{HCS_VM_THP_DEFRAG, "defer", 0, "HCW-404"},
		{HCS_VM_THP_DEFRAG, "defer+madvise", 0, "HCW-404"},
		{HCS_VM_THP_DEFRAG, "never", 0, NULL},
		{HCS_VM_THP_SHMEM, "deny", 0, NULL},
		{HCS_VM_THP_SHMEM, "advise", 0, NULL},
		{HCS_VM_THP_SHMEM, "within_size", 0, "HCW-405"},
		{HCS_VM_THP_SHMEM, "force", 0, "HCW-405"},
		{HCS_VM_KSM_RUN, "1", 1, "HCW-406"},
		{HCS_VM_KSM_RUN, "2", 2, NULL},
	};
	struct doctor_setting out[DOCTOR_MAX_SETTINGS];
	struct doctor_vm vm;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&vm, 0, sizeof(vm));
		strcpy(vm.value[HCS_VM_THP_ENABLED].text, "madvise");
		strcpy(vm.value[cases[i].which].text, cases[i].text);
		vm.value[cases[i].which].number = cases[i].number;
		doctor_settings(out, &vm);
		assert_code(out[cases[i].which].code, cases[i].code);
	}
	/* without huge pages nobody compacts for them */
	strcpy(vm.value[HCS_VM_THP_ENABLED].text, "never");
	strcpy(vm.value[HCS_VM_THP_DEFRAG].text, "always");
	doctor_settings(out, &vm);
	assert_null(out[HCS_VM_THP_DEFRAG].code);
}

/* Nothing to look at is never "off". */
static void an_empty_root(void **state)
{
	static struct doctor_host h;
	int root = tree_new();
	size_t i;

	(void)state;
	doctor_read_host(&h, root);
	for (i = 0; i < h.n_settings; i++) {
		assert_int_equal(h.setting[i].known, DOCTOR_UNKNOWN);
		assert_int_equal(h.setting[i].shared, DOCTOR_CANNOT_SAY);
		assert_string_equal(h.setting[i].value, "");
		assert_true(h.setting[i].why[0]);
	}
	assert_int_equal(h.nodes_known, DOCTOR_UNKNOWN);
	assert_int_equal(h.gpus_known, DOCTOR_UNKNOWN);
	assert_int_equal(h.kfd, DOCTOR_UNKNOWN);
	assert_int_equal(doctor_exit(&h), HCW_EXIT_INCOMPLETE);
	tree_remove(root);
}

/* A setting that cannot be read outranks findings. */
static void one_unreadable(void **state)
{
	static struct doctor_host h;
	int root = tree_new();

	(void)state;
	tree_text(root, "proc/sys/kernel/osrelease", "6.1.0\n");
	tree_text(root, "proc/sys/kernel/numa_balancing/a-folder", "");
	tree_text(root, "proc/sys/vm/compaction_proactiveness", "20\n");
	tree_text(root, "sys/kernel/mm/ksm/run", "0\n");
	tree_text(root, "sys/module/x/initstate", "live\n");
	doctor_read_host(&h, root);
	assert_int_equal(setting(&h, "numa_balancing")->known, DOCTOR_UNKNOWN);
	assert_code(setting(&h, "compaction_proactiveness")->code, "HCW-402");
	assert_int_equal(doctor_unread(&h), 1);
	assert_int_equal(doctor_exit(&h), HCW_EXIT_INCOMPLETE);
	tree_remove(root);
}

/* ---- what stands in the way of tracing ---- */

static struct doctor_probes *checks_of(const char *tree, struct doctor_attempt tried)
{
	static struct doctor_probes p;
	int root = tree_fixture(tree);

	memset(&p, 0, sizeof(p));
	doctor_read_checks(&p, root, &tried);
	close(root);
	return &p;
}

static const struct doctor_check *check(const struct doctor_probes *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_checks; i++)
		if (!strcmp(p->check[i].name, name))
			return &p->check[i];
	return NULL;
}

static void assert_check(const struct doctor_probes *p, const char *name, enum doctor_bearing want,
			 const char *code, const char *says)
{
	const struct doctor_check *c = check(p, name);

	assert_non_null(c);
	assert_int_equal(c->bearing, want);
	assert_code(c->code, code);
	if (says && !strstr(c->means, says))
		fail_msg("%s: '%s' does not say '%s'", name, c->means, says);
}

static bool has_cap(const struct doctor_probes *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_caps; i++)
		if (!strcmp(p->cap[i].name, name))
			return p->cap[i].have;
	fail_msg("no %s in the table", name);
	return false;
}

/* C9: the distribution's level 3, with the two capabilities and no more. */
static void paranoid_3(void **state)
{
	struct doctor_attempt refused = {.kprobe = -EACCES, .uprobe = -EACCES};
	const struct doctor_probes *p = checks_of("rights/paranoid3", refused);

	(void)state;
	assert_check(p, "perf_event_paranoid", DOCTOR_LIMITS, "HCW-503", "fentry");
	assert_non_null(strstr(check(p, "perf_event_paranoid")->means, "2 or less"));
	assert_non_null(strstr(check(p, "perf_event_paranoid")->means, "CAP_SYS_ADMIN"));
	assert_null(strstr(check(p, "perf_event_paranoid")->means, "unsupported"));
	assert_check(p, "capabilities", DOCTOR_FINE, NULL, "CAP_BPF and CAP_PERFMON are there");
	assert_check(p, "kprobes", DOCTOR_LIMITS, NULL, "EACCES");
	assert_true(has_cap(p, "CAP_BPF") && has_cap(p, "CAP_PERFMON"));
	assert_false(has_cap(p, "CAP_SYSLOG") || has_cap(p, "CAP_SYS_PTRACE"));
	assert_null(check(p, "memlock"));
	/* a kernel to which 3 is what 2 is */
	p = checks_of("rights/paranoid3", (struct doctor_attempt){.uprobe = -EACCES});
	assert_check(p, "perf_event_paranoid", DOCTOR_FINE, NULL, "does not refuse");
	assert_check(p, "uprobes", DOCTOR_LIMITS, "HCW-510", "iterations");
}

/* C10: only confidentiality blocks; not to know is not to be blocked. */
static void lockdown(void **state)
{
	static const struct {
		const char *tree;
		enum doctor_bearing bearing;
		const char *code, *says;
	} cases[] = {
		{"lockdown/none", DOCTOR_FINE, NULL, NULL},
		{"lockdown/integrity", DOCTOR_FINE, NULL, NULL},
		{"lockdown/confidentiality", DOCTOR_BLOCKS, "HCW-501", "SecureBoot"},
		{"lockdown/missing", DOCTOR_NOT_KNOWN, NULL, NULL},
		{"lockdown/unreadable", DOCTOR_NOT_KNOWN, NULL, NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_check(checks_of(cases[i].tree, (struct doctor_attempt){.denied = false}),
			     "lockdown", cases[i].bearing, cases[i].code, cases[i].says);
}

/* C11: zeros for root too are no matter of capabilities. */
static void hidden_addresses(void **state)
{
	struct doctor_attempt hidden = {.symbols_hidden = true};
	const struct doctor_probes *p = checks_of("rights/kptr2", hidden);

	(void)state;
	assert_check(p, "kallsyms", DOCTOR_LIMITS, "HCW-505", "namesakes");
	assert_null(strstr(check(p, "kallsyms")->means, "CAP_"));
	p = checks_of("rights/none", hidden);
	assert_check(p, "kallsyms", DOCTOR_LIMITS, "HCW-505", "CAP_SYSLOG");
	p = checks_of("rights/none", (struct doctor_attempt){.symbols_error = -EACCES});
	assert_check(p, "kallsyms", DOCTOR_BLOCKS, NULL, NULL);
}

/* C8 */
static void three_refusals(void **state)
{
	struct doctor_attempt denied = {.denied = true, .memlock = 65536};
	const struct doctor_probes *p = checks_of("rights/none", denied);

	(void)state;
	assert_check(p, "capabilities", DOCTOR_BLOCKS, "HCW-502", "CAP_BPF and CAP_PERFMON");
	assert_check(p, "seccomp", DOCTOR_FINE, NULL, NULL);
	denied.uprobe = -EACCES; /* for want of CAP_PERFMON, which is told already */
	assert_check(checks_of("rights/none", denied), "uprobes", DOCTOR_LIMITS, NULL, "EACCES");
	assert_null(check(p, "memlock")); /* means nothing since 5.11 */
	p = checks_of("rights/seccomp", denied);
	assert_check(p, "capabilities", DOCTOR_FINE, NULL, NULL);
	assert_check(p, "seccomp", DOCTOR_BLOCKS, "HCW-504", "filter");
	p = checks_of("rights/seccomp", (struct doctor_attempt){.denied = false});
	assert_check(p, "seccomp", DOCTOR_FINE, NULL, "does not refuse");
	p = checks_of("rights/before-5.8", denied);
	assert_check(p, "memlock", DOCTOR_BLOCKS, "HCW-508", "5.11");
	assert_check(p, "capabilities", DOCTOR_BLOCKS, "HCW-502", "CAP_SYS_ADMIN");
	denied.memlock = UINT64_MAX;
	p = checks_of("rights/before-5.8", denied);
	assert_null(check(p, "memlock"));
	p = checks_of("rights/userns", denied);
	assert_check(p, "capabilities", DOCTOR_BLOCKS, "HCW-502", "user namespace");
	assert_false(has_cap(p, "CAP_BPF")); /* it counts inside only */
}

static void drivers(void **state)
{
	struct doctor_attempt tried = {.denied = false};
	const struct doctor_probes *p = checks_of("doctor-server", tried);

	(void)state;
	assert_check(p, "driver", DOCTOR_LIMITS, "HCW-507", "DKMS");
	assert_check(p, "kernel_btf", DOCTOR_FINE, NULL, NULL);
	/* its /proc/self/status is missing: not known, not blocked */
	assert_check(p, "capabilities", DOCTOR_NOT_KNOWN, NULL, NULL);
	p = checks_of("sysfs-mi355x", tried);
	assert_check(p, "driver", DOCTOR_NOT_KNOWN, NULL, NULL); /* no sys/module */
	p = checks_of("numa-balancing/0", tried);
	assert_check(p, "kernel_btf", DOCTOR_BLOCKS, "HCW-506", "CONFIG_DEBUG_INFO_BTF");
}

static void cut_btf(void **state)
{
	struct doctor_attempt tried = {.denied = false};
	struct doctor_probes p = {.n_checks = 0};
	int root = tree_new();

	(void)state;
	tree_text(root, "sys/kernel/btf/vmlinux", "\x9f\xeb\x01");
	doctor_read_checks(&p, root, &tried);
	assert_check(&p, "kernel_btf", DOCTOR_BLOCKS, "HCW-506", "BTF present but not readable");
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server),
		cmocka_unit_test(its_driver_and_limits),
		cmocka_unit_test(numa_balancing_is_a_mask),
		cmocka_unit_test(a_bit_of_tomorrow),
		cmocka_unit_test(other_values),
		cmocka_unit_test(an_empty_root),
		cmocka_unit_test(one_unreadable),
		cmocka_unit_test(paranoid_3),
		cmocka_unit_test(lockdown),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(three_refusals),
		cmocka_unit_test(drivers),
		cmocka_unit_test(cut_btf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
