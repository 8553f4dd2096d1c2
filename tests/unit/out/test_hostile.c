/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixture traces with random bytes of their records changed: whatever stands in a record, the
 * report ends well, prints nothing that moves a cursor, and its JSON is JSON. The seed is fixed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include "../../../user/trace/trace.h"
#include "capture.h"
#include "golden.h"
#include "traces.h"

#define ROUNDS	    40 /* per trace */
#define MAX_CHANGED 64 /* bytes per round */
#define MAX_BODY    8192

struct changed {
	char body[MAX_BODY];
	struct hcw_rec rec;
};

/* One in `rare` records gets one byte of its body, its tid or its type changed. */
static void change(struct changed *c, int rare)
{
	if (rand() % rare)
		return;
	if (c->rec.len && rand() % 4)
		c->body[rand() % c->rec.len] = (char)rand();
	else if (rand() % 2)
		c->rec.tid ^= 1u << rand() % 32;
	else if (c->rec.type != HCW_R_HEADER)
		c->rec.type = (__u16)(rand() % 140);
}

static void write_changed(const char *from, const char *to)
{
	const struct hcw_rec *rec;
	struct hcw_reader *r;
	struct hcw_writer *w;
	struct changed c;
	int rare = 1 + rand() % MAX_CHANGED;

	assert_int_equal(hcw_reader_open(&r, from, NULL), 0);
	assert_int_equal(hcw_writer_open(&w, to, NULL), 0);
	while (hcw_reader_next(r, &rec, NULL) > 0) {
		assert_true(rec->len <= sizeof(c.body));
		c.rec = *rec;
		memcpy(c.body, rec + 1, rec->len);
		change(&c, rare);
		assert_int_equal(hcw_writer_put(w, &c.rec, c.body, NULL), 0);
	}
	assert_int_equal(hcw_writer_close(w, NULL), 0);
	hcw_reader_close(r);
}

/* Returns whether it could be read at all. */
static bool check(const char *path)
{
	char *text = golden_report(path, 0, NULL), *json = golden_report(path, 1, NULL);
	json_t *o;

	assert_int_equal(!text, !json);
	if (!text)
		return false;
	assert_false(has_control(text));
	o = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	json_decref(o);
	free(text);
	free(json);
	return true;
}

static void changed_records(void **state)
{
	char folder[] = "/tmp/hcwatch-hostile-XXXXXX", path[64], fixture[128];
	size_t i, told = 0;
	int round;

	(void)state;
	srand(20241201);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.hcw", folder);
	for (i = 0; trace_makers[i].name; i++) {
		snprintf(fixture, sizeof(fixture), "fixtures/traces/%s.hcw", trace_makers[i].name);
		for (round = 0; round < ROUNDS; round++) {
			write_changed(fixture, path);
			told += check(path);
			unlink(path);
		}
	}
	rmdir(folder);
	assert_true(told > i * ROUNDS / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
