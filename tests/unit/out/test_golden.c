/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The committed fixture traces give, byte for byte, the committed reports, and they hold the
 * records that traces.c makes today. To renew them see fixtures/traces/README.md.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>
#include "../../../user/trace/trace.h"
#include "capture.h"
#include "golden.h"
#include "traces.h"

#define FOLDER "fixtures/traces/"

/* Both texts into files of a new folder, and what diff says of them. */
static void show_diff(const char *name, const char *want, const char *got)
{
	char folder[] = "/tmp/hcwatch-golden-XXXXXX", path[2][64], command[256];
	const char *const text[] = {want, got};
	int i;

	if (!mkdtemp(folder))
		return;
	for (i = 0; i < 2; i++) {
		FILE *f;

		snprintf(path[i], sizeof(path[i]), "%s/%s", folder, i ? "got" : "want");
		f = fopen(path[i], "w");
		if (f) {
			fputs(text[i], f);
			fclose(f);
		}
	}
	print_error("%s is not what is committed:\n", name);
	snprintf(command, sizeof(command), "diff -u '%s' '%s' >&2", path[0], path[1]);
	if (system(command) < 0)
		print_error("no diff\n");
	unlink(path[0]);
	unlink(path[1]);
	rmdir(folder);
}

static void check(const char *trace, const char *golden, int json)
{
	char *want = golden_read(golden), *got = golden_report(trace, json, NULL);

	if (!want)
		fail_msg("no %s: make_traces makes it", golden);
	assert_non_null(got);
	if (strcmp(want, got)) {
		show_diff(golden, want, got);
		fail_msg("%s differs", golden);
	}
	if (!json) {
		assert_true(widest(got) <= 80);
		assert_false(has_control(got));
	}
	free(want);
	free(got);
}

static void reports_are_the_committed_ones(void **state)
{
	char trace[128], golden[128];
	size_t i;

	(void)state;
	for (i = 0; trace_makers[i].name; i++) {
		snprintf(trace, sizeof(trace), FOLDER "%s.hcw", trace_makers[i].name);
		snprintf(golden, sizeof(golden), FOLDER "%s.txt", trace_makers[i].name);
		check(trace, golden, 0);
		snprintf(golden, sizeof(golden), FOLDER "%s.json", trace_makers[i].name);
		check(trace, golden, 1);
	}
}

/* Records, not bytes: those depend on the version of libzstd. */
static void same_records(const char *a, const char *b)
{
	struct hcw_reader *ra, *rb;
	const struct hcw_rec *x, *y;
	int more;

	assert_int_equal(hcw_reader_open(&ra, a, NULL), 0);
	assert_int_equal(hcw_reader_open(&rb, b, NULL), 0);
	do {
		more = hcw_reader_next(ra, &x, NULL);
		assert_int_equal(hcw_reader_next(rb, &y, NULL), more);
		assert_true(more >= 0);
		if (!more)
			break;
		assert_int_equal(x->len, y->len);
		assert_memory_equal(x, y, sizeof(*x) + x->len);
	} while (more);
	hcw_reader_close(ra);
	hcw_reader_close(rb);
}

static void traces_are_what_their_makers_make(void **state)
{
	char folder[] = "/tmp/hcwatch-traces-XXXXXX", made[64], committed[128];
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (i = 0; trace_makers[i].name; i++) {
		snprintf(made, sizeof(made), "%s/t.hcw", folder);
		snprintf(committed, sizeof(committed), FOLDER "%s.hcw", trace_makers[i].name);
		assert_int_equal(trace_write(&trace_makers[i], made), 0);
		same_records(committed, made);
		unlink(made);
	}
	rmdir(folder);
}

static void exit_codes(void **state)
{
	static const struct {
		const char *trace;
		int code;
	} want[] = {
		{FOLDER "registered.hcw", 1}, {FOLDER "gtt.hcw", 0},	{FOLDER "prolonged.hcw", 1},
		{FOLDER "incomplete.hcw", 5}, {FOLDER "killed.hcw", 1}, {FOLDER "clean.hcw", 0},
		{FOLDER "no-such.hcw", 6},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		int code = -1;

		free(golden_report(want[i].trace, 0, &code));
		assert_int_equal(code, want[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traces_are_what_their_makers_make),
		cmocka_unit_test(reports_are_the_committed_ones),
		cmocka_unit_test(exit_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
