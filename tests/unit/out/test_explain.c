/* SPDX-License-Identifier: BSD-2-Clause */
/* The findings table: whole, every code in it, and what `hcwatch explain` prints of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include "../../../user/out/explain.h"
#include "capture.h"

/* "HCW-" and three digits. */
static bool is_code(const char *s)
{
	return strlen(s) == 7 && !strncmp(s, "HCW-", 4) && strspn(s + 4, "0123456789") == 3;
}

static void every_row_is_whole(void **state)
{
	const struct hcw_finding_text *t, *other;
	size_t i, j;

	(void)state;
	for (i = 0; (t = hcw_finding_at(i)); i++) {
		assert_true(is_code(t->code));
		assert_true(columns(t->title, strlen(t->title)) + 9 <= 80);
		assert_true(t->cause[0] && t->evidence[0] && t->remedy[0] && t->leaves[0]);
		assert_true(t->versions[0]);
		assert_non_null(t->source[0]);
		for (j = 0; t->source[j]; j++)
			assert_non_null(strchr(t->source[j], ' ')); /* file and function */
		for (j = 0; j < i; j++) {
			other = hcw_finding_at(j);
			assert_true(strcmp(other->code, t->code) < 0); /* sorted, and each once */
			assert_string_not_equal(other->title, t->title);
		}
	}
	assert_true(i >= 7);
}

/* Whatever the chain can find has a row. */
static void every_emitted_code_is_in_the_table(void **state)
{
	struct hcw_pool_info p = {.verdict = HCW_VERDICT_EXPOSED};
	struct hcw_episode e = {0};
	int c;

	(void)state;
	for (c = 0; c < HCW_CAUSE_COUNT; c++) {
		e.cause = c;
		assert_non_null(hcw_finding_by_code(hcw_episode_code(&e)));
		assert_non_null(hcw_finding_by_code(hcw_cause_code(c)));
	}
	/* a cause of a newer chain */
	assert_non_null(hcw_finding_by_code(hcw_cause_code(HCW_CAUSE_COUNT)));
	assert_non_null(hcw_finding_by_code(hcw_pool_code(&p)));
	assert_ptr_equal(hcw_finding_by_code("hcw-101"), hcw_finding_by_code("HCW-101"));
	assert_null(hcw_finding_by_code("HCW-10"));
	assert_null(hcw_finding_by_code(""));
}

static void texts_fit(void **state)
{
	const struct hcw_finding_text *t;
	char *text;
	size_t size, i;
	FILE *f;

	(void)state;
	for (i = 0; (t = hcw_finding_at(i)); i++) {
		f = open_memstream(&text, &size);
		explain_text(f, t);
		fclose(f);
		assert_true(widest(text) <= 80);
		assert_false(has_control(text));
		assert_non_null(strstr(text, t->code));
		assert_non_null(strstr(text, "\ndo  "));
		assert_non_null(strstr(text, "\nsources  "));
		assert_null(strstr(text, " \n"));
		free(text);
	}
	f = open_memstream(&text, &size);
	explain_list(f);
	fclose(f);
	assert_true(widest(text) <= 80);
	for (i = 0; (t = hcw_finding_at(i)); i++)
		assert_non_null(strstr(text, t->code));
	free(text);
}

static json_t *json_of(const struct hcw_finding_text *t)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	json_t *o;

	assert_int_equal(explain_json(f, t), 0);
	fclose(f);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	free(text);
	return o;
}

static void json_keeps_its_names(void **state)
{
	static const char *const names[] = {"code",   "title",	"cause",    "evidence",
					    "remedy", "leaves", "versions", "sources"};
	json_t *o = json_of(hcw_finding_by_code("HCW-201"));
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(json_object_get(o, names[i]));
	json_decref(o);
	o = json_of(NULL);
	for (n = 0; hcw_finding_at(n);)
		n++;
	assert_int_equal(json_array_size(o), n);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(every_emitted_code_is_in_the_table),
		cmocka_unit_test(texts_fit),
		cmocka_unit_test(json_keeps_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
