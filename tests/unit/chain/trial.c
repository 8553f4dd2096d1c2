/* SPDX-License-Identifier: BSD-2-Clause */
#include "trial.h"

void check_trial(const struct trial *t, const char *name)
{
	struct hcw_move_pages mp = stream_refused(ATTEMPT, POOL, 512);
	const struct hcw_pool_info *p;
	struct stream s;

	stream_open(&s, t->sources ? t->sources : ALL_SOURCES);
	if (t->no_mapping) {
		stream_task(&s, 1000, SERVER, SERVER, MM, "server");
		stream_task(&s, 1001, MOVER, SERVER, MM, "mover");
		stream_pool(&s, 2000, SERVER, POOL, HCW_BACKING_GTT);
	} else {
		stream_server(&s, HCW_BACKING_GTT);
	}
	if (t->twist)
		t->twist(&s, &mp);
	if (!t->no_attempt)
		stream_move(&s, ANSWER, MOVER, &mp);
	if (t->no_end)
		hcw_chain_finish(s.chain);
	else
		stream_end(&s, MS(200));
	p = &hcw_chain_model(s.chain)->pools[0];
	if (p->verdict != t->verdict || p->evidence != t->evidence || p->reasons != t->reasons)
		fail_msg("%s: %s by %s, reasons %#x; expected %s by %s, reasons %#x", name,
			 hcw_verdict_name(p->verdict), hcw_evidence_name(p->evidence), p->reasons,
			 hcw_verdict_name(t->verdict), hcw_evidence_name(t->evidence), t->reasons);
	stream_close(&s);
}
