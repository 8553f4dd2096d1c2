/* SPDX-License-Identifier: BSD-2-Clause */
/* Stable words and the findings table. */
#include <string.h>
#include "stream.h"
#include "findings.h"

static void test_words(void **state)
{
	unsigned int i, j;

	(void)state;
	assert_string_equal(hcw_verdict_name(HCW_VERDICT_INCONCLUSIVE), "inconclusive");
	assert_string_equal(hcw_verdict_name(HCW_VERDICT_EXPOSED), "exposed");
	assert_string_equal(hcw_verdict_name(HCW_VERDICT_IMMUNE), "immune");
	assert_string_equal(hcw_evidence_name(HCW_EVIDENCE_NONE), "none");
	assert_string_equal(hcw_evidence_name(HCW_EVIDENCE_MAPPING), "mapping");
	assert_string_equal(hcw_evidence_name(HCW_EVIDENCE_TRIAL), "trial");
	assert_string_equal(hcw_backing_name(HCW_BACKING_GTT), "gtt");
	assert_string_equal(hcw_backing_name(HCW_BACKING_REGISTERED), "registered");
	assert_string_equal(hcw_backing_name(HCW_BACKING_USERPTR), "userptr");
	assert_string_equal(hcw_backing_name(HCW_BACKING_PAGEABLE), "pageable");
	assert_string_equal(hcw_reason_name(HCW_WHY_MOVED), "moved");
	assert_string_equal(hcw_reason_name(HCW_WHY_RANGE_UNKNOWN), "range-unknown");
	assert_string_equal(hcw_reason_name(HCW_WHY_TRACE_CUT), "trace-cut");
	for (i = 0; i < HCW_WHY_COUNT; i++) {
		assert_string_not_equal(hcw_reason_name(1u << i), "unknown");
		for (j = 0; j < i; j++)
			assert_string_not_equal(hcw_reason_name(1u << i), hcw_reason_name(1u << j));
	}
	for (i = 1; i < HCW_CAUSE_COUNT; i++) {
		assert_string_not_equal(hcw_cause_name(i), "unknown");
		for (j = 0; j < i; j++)
			assert_string_not_equal(hcw_cause_name(i), hcw_cause_name(j));
	}
}

static void test_words_out_of_range(void **state)
{
	(void)state;
	assert_string_equal(hcw_cause_name(HCW_CAUSE_COUNT), "unknown");
	assert_string_equal(hcw_backing_name(77), "unknown");
	assert_string_equal(hcw_reason_name(1u << HCW_WHY_COUNT), "unknown");
	assert_string_equal(hcw_reason_name(HCW_WHY_MOVED | HCW_WHY_LOSS), "unknown");
	assert_null(hcw_finding_by_code("HCW-000"));
}

static void test_findings(void **state)
{
	const struct hcw_finding_text *f;
	size_t i;

	(void)state;
	for (i = 0; (f = hcw_finding_at(i)); i++) {
		assert_ptr_equal(hcw_finding_by_code(f->code), f);
		assert_int_equal(strncmp(f->code, "HCW-", 4), 0);
		assert_true(f->title[0] && f->cause[0] && f->evidence[0] && f->remedy[0] &&
			    f->leaves[0]);
	}
	assert_true(i > 0);
}

static void test_codes(void **state)
{
	struct hcw_pool_info p = {.verdict = HCW_VERDICT_EXPOSED};
	struct hcw_episode e = {0};
	unsigned int i;

	(void)state;
	for (i = 0; i < HCW_CAUSE_COUNT; i++) {
		e.cause = i;
		assert_non_null(hcw_finding_by_code(hcw_episode_code(&e)));
	}
	e.cause = HCW_CAUSE_MOVE_PAGES;
	assert_string_equal(hcw_episode_code(&e), "HCW-101");
	e.cause = HCW_CAUSE_OTHER_INVALIDATION;
	assert_string_equal(hcw_episode_code(&e), "HCW-102");
	e.cause = HCW_CAUSE_TTM;
	assert_string_equal(hcw_episode_code(&e), "HCW-103");
	assert_string_equal(hcw_pool_code(&p), "HCW-201");
	p.verdict = HCW_VERDICT_IMMUNE;
	assert_null(hcw_pool_code(&p));
	p.verdict = HCW_VERDICT_INCONCLUSIVE;
	assert_null(hcw_pool_code(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_out_of_range),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
