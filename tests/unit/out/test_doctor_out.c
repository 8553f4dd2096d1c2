/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts and the JSON of `hcwatch doctor`, of hosts made up here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include "../../../user/out/doctor.h"
#include "capture.h"

#define EVIL "\033]0;owned\007\n\xff"

static struct doctor_host a_host(void)
{
	struct doctor_host h = {
		.host = "node17",
		.kernel = "6.1.0-57-amd64",
		.nodes_known = DOCTOR_KNOWN,
		.node = {0, 2},
		.n_nodes = 2,
		.n_settings = 3,
		.setting = {{.name = "numa_balancing",
			     .value = "1",
			     .means = "balancing",
			     .shared = DOCTOR_CAN_SOME,
			     .private_ = DOCTOR_CAN,
			     .code = "HCW-401"},
			    {.name = "ksm_run", .known = DOCTOR_ABSENT},
			    {.name = "compact_unevictable_allowed",
			     .known = DOCTOR_UNKNOWN,
			     .why = "you may not read it",
			     .shared = DOCTOR_CANNOT_SAY,
			     .private_ = DOCTOR_CANNOT_SAY}},
		.n_modules = 1,
		.module =
			{{.name = "amdgpu", .state = "loaded", .present = true, .version = "6.12"}},
		.n_gpus = 1,
		.gpu = {{.render = 128,
			 .driver = "gpusim",
			 .simulated = true,
			 .has_gtt = true,
			 .gtt_total = 64000000000ull}},
	};

	return h;
}

static struct doctor_probes a_plan(void)
{
	struct doctor_probes p = {
		.n_probes = 2,
		.probe = {{"move_pages", "fentry", "kernel_move_pages", "", true},
			  {"quiesce", "off", "", "no such function: kgd2kfd_quiesce_mm", false}},
		.needed = {true, true},
		.n_checks = 1,
		.check = {{"lockdown", DOCTOR_BLOCKS, "confidentiality", "blocked", "HCW-501"}},
		.n_caps = 1,
		.cap = {{"CAP_BPF", true, "load programs"}},
	};

	return p;
}

static char *host_text(const struct doctor_host *h, bool bold)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	doctor_text(f, h, bold);
	fclose(f);
	return text;
}

static char *probes_text(const struct doctor_probes *p, bool bold)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	doctor_probes_text(f, p, bold);
	fclose(f);
	return text;
}

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no '%s' in:\n%s", what, text);
}

static void well_behaved(const char *text)
{
	assert_false(has_control(text));
	assert_true(widest(text) <= 80);
	assert_null(strstr(text, " \n"));
}

static void host_says_it_all(void **state)
{
	struct doctor_host h = a_host();
	char *text = host_text(&h, false);

	(void)state;
	well_behaved(text);
	assert_int_equal(strncmp(text, "INCOMPLETE", 10), 0);
	has(text, "2 memory nodes (0, 2)");
	has(text, "amdgpu loaded, version 6.12");
	has(text, "renderD128 gpusim (simulated), GTT 64.0 GB");
	has(text, "\nHCW-401");
	has(text, "numa_balancing = 1");
	has(text, "sudo sysctl kernel.numa_balancing=0");
	has(text, "not built in");
	has(text, "you may not read it");
	has(text, "the host's, also when read in a container");
	free(text);
	h.n_settings = 2;
	text = host_text(&h, true);
	assert_int_equal(strncmp(text, "\033[1mEXPOSED\033[0m", 15), 0);
	free(text);
	h.setting[0].code = NULL;
	text = host_text(&h, false);
	assert_int_equal(strncmp(text, "QUIET", 5), 0);
	well_behaved(text);
	free(text);
}

static void exit_codes(void **state)
{
	struct doctor_host h = a_host();
	struct doctor_probes p = a_plan();

	(void)state;
	assert_int_equal(doctor_exit(&h), HCW_EXIT_INCOMPLETE);
	h.n_settings = 2;
	assert_int_equal(doctor_exit(&h), HCW_EXIT_FINDING);
	h.setting[0].code = NULL;
	assert_int_equal(doctor_exit(&h), HCW_EXIT_OK);
	h.nodes_known = DOCTOR_UNKNOWN;
	assert_int_equal(doctor_exit(&h), HCW_EXIT_INCOMPLETE);

	assert_int_equal(doctor_probes_exit(&p), HCW_EXIT_INCOMPLETE);
	p.needed[1] = false;
	assert_int_equal(doctor_probes_exit(&p), HCW_EXIT_OK);
	p.denied = true;
	assert_int_equal(doctor_probes_exit(&p), HCW_EXIT_PERMISSION);
	p.denied = false;
	p.n_probes = 0; /* no plan is no complete one */
	assert_int_equal(doctor_probes_exit(&p), HCW_EXIT_INCOMPLETE);
}

static void probes_say_it_all(void **state)
{
	struct doctor_probes p = a_plan();
	char *text = probes_text(&p, false);

	(void)state;
	well_behaved(text);
	has(text, "INCOMPLETE  1 of 2 needed points");
	has(text, "no such function: kgd2kfd_quiesce_mm");
	has(text, "blocks   lockdown = confidentiality");
	has(text, "HCW-501: ");
	has(text, "CAP_BPF");
	free(text);
	p.denied = true;
	strcpy(p.what, "BPF programs cannot be loaded");
	text = probes_text(&p, true);
	has(text, "DENIED");
	has(text, "BPF programs cannot be loaded");
	has(text, "move_pages"); /* the table all the same */
	free(text);
}

static void nothing_hostile_comes_through(void **state)
{
	struct doctor_host h = a_host();
	struct doctor_probes p = a_plan();
	char *text;

	(void)state;
	strcpy(h.host, EVIL);
	strcpy(h.kernel, EVIL);
	strcpy(h.setting[0].value, EVIL);
	strcpy(h.module[0].version, EVIL);
	strcpy(h.gpu[0].driver, EVIL);
	strcpy(h.setting[2].why, EVIL);
	text = host_text(&h, false);
	assert_false(has_control(text));
	assert_null(strstr(text, "\xff"));
	free(text);
	strcpy(p.probe[1].reason, EVIL);
	strcpy(p.probe[0].target, EVIL);
	strcpy(p.check[0].value, EVIL);
	strcpy(p.what, EVIL);
	text = probes_text(&p, false);
	assert_false(has_control(text));
	free(text);
}

static json_t *parsed(char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	free(text);
	assert_non_null(o);
	return o;
}

static json_t *host_json(const struct doctor_host *h)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(doctor_json(f, h), 0);
	fclose(f);
	return parsed(text);
}

static void host_json_keeps_its_names(void **state)
{
	static const char *const names[] = {"schema", "host",	  "kernel",   "kernel_btf",
					    "kfd",    "modules",  "gpus",     "memory_nodes",
					    "ttm",    "settings", "findings", "unread"};
	struct doctor_host h = a_host();
	json_t *o, *s;
	size_t i;

	(void)state;
	strcpy(h.host, EVIL); /* and stays JSON */
	o = host_json(&h);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(json_object_get(o, names[i]));
	s = json_object_get(o, "settings");
	assert_int_equal(json_array_size(s), 3);
	/* absent and unknown are no values */
	assert_true(json_is_null(json_object_get(json_array_get(s, 1), "value")));
	assert_true(json_is_null(json_object_get(json_array_get(s, 2), "value")));
	assert_string_equal(json_string_value(json_object_get(json_array_get(s, 1), "state")),
			    "absent");
	assert_string_equal(json_string_value(json_object_get(json_array_get(s, 2), "state")),
			    "unknown");
	assert_int_equal(json_array_size(json_object_get(o, "findings")), 1);
	json_decref(o);
	h.gpus_known = DOCTOR_UNKNOWN;
	h.nodes_known = DOCTOR_UNKNOWN;
	o = host_json(&h);
	assert_true(json_is_null(json_object_get(o, "gpus")));
	assert_true(json_is_null(json_object_get(o, "memory_nodes")));
	json_decref(o);
}

static void probes_json_keeps_its_names(void **state)
{
	static const char *const names[] = {"point", "tier", "active", "reason"};
	struct doctor_probes p = a_plan();
	json_t *o, *probes, *first;
	char *text;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(doctor_probes_json(f, &p), 0);
	fclose(f);
	o = parsed(text);
	probes = json_object_get(o, "probes");
	assert_int_equal(json_array_size(probes), 2);
	first = json_array_get(probes, 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(json_object_get(first, names[i]));
	assert_true(json_is_true(json_object_get(first, "active")));
	assert_non_null(json_object_get(json_array_get(json_object_get(o, "checks"), 0), "remedy"));
	assert_int_equal(json_array_size(json_object_get(o, "capabilities")), 1);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_says_it_all),
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(probes_say_it_all),
		cmocka_unit_test(nothing_hostile_comes_through),
		cmocka_unit_test(host_json_keeps_its_names),
		cmocka_unit_test(probes_json_keeps_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
