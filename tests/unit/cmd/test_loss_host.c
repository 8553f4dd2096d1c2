/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loss on this machine's own kernel: what was emitted and what was lost is all that happened, it
 * stands in the trace at its time, and nobody takes it for health.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../../../user/cmd/load.h"
#include "../../../user/cmd/tracer_internal.h"
#include "../../../user/out/live.h"
#include "../../../user/trace/trace.h"
#include "migrations.h"

#define MANY	     1000003u /* prime: no buffer size divides it */
#define SMALL_RING   (64u << 10)
#define THREADS	     2
#define FEW	     1000u
#define WHILE_READ   200003u
#define MAX_HOLES    4096
#define SLOW_LOOK_NS 1000000000ull /* a look that a busy machine delayed */

/* What a stream held. */
struct stream {
	__u64 received, tasks;
	__u64 next[THREADS];	/* by thread: the number expected at the earliest */
	__u64 last_ts[THREADS]; /* of its last record */
	__u64 first_number[THREADS + 1];
	struct gap {
		__u64 from, to, count;
	} gap[MAX_HOLES * 16]; /* numbers that are missing, and between which times */
	size_t gaps;
	struct hcw_hole hole[MAX_HOLES];
	size_t holes;
};

static struct stream *stream_new(__u64 n)
{
	struct stream *s = calloc(1, sizeof(*s));
	size_t i;

	assert_non_null(s);
	for (i = 0; i <= THREADS; i++)
		s->first_number[i] = n * i / THREADS;
	for (i = 0; i < THREADS; i++)
		s->next[i] = s->first_number[i];
	return s;
}

static void take_migration(struct stream *s, const struct hcw_rec *rec)
{
	const struct hcw_migrate *m = (const void *)(rec + 1);
	size_t t = 0;

	while (m->ok >= s->first_number[t + 1])
		t++;
	assert_true(t < THREADS && m->ok >= s->next[t]); /* in order, each once */
	if (m->ok > s->next[t] && s->gaps < sizeof(s->gap) / sizeof(s->gap[0]))
		s->gap[s->gaps++] = (struct gap){s->last_ts[t], rec->ts, m->ok - s->next[t]};
	s->next[t] = m->ok + 1;
	s->last_ts[t] = rec->ts;
	s->received++;
}

static int on_record(const struct hcw_rec *rec, void *ctx)
{
	struct stream *s = ctx;

	if (rec->type == HCW_R_MIGRATE)
		take_migration(s, rec);
	else
		assert_int_equal(rec->type, HCW_R_TASK);
	s->tasks += rec->type == HCW_R_TASK;
	return 0;
}

static void drain(struct hcw_session *session, hcw_record_fn fn, void *ctx)
{
	int n;

	do
		n = hcw_session_pump(session, 20, fn, ctx);
	while (n > 0);
	assert_int_equal(n, 0);
}

static void migrate_all(struct migrator *m, const struct hcw_session *session,
			const struct stream *s)
{
	size_t i;

	for (i = 0; i < THREADS; i++)
		migrator_start(&m[i], session, s->first_number[i],
			       s->first_number[i + 1] - s->first_number[i]);
}

/* A ring of 64 KiB and a reader that stands still. */
static void test_exact_under_loss(void **state)
{
	struct hcw_session *session = migrations_open(SMALL_RING, false);
	struct stream *s = stream_new(MANY);
	struct migrator m[THREADS];
	struct hcw_totals t, tasks;
	size_t i;

	(void)state;
	migrate_all(m, session, s);
	for (i = 0; i < THREADS; i++)
		migrator_join(&m[i]);
	t = migrations_total(session, HCW_R_MIGRATE);
	tasks = migrations_total(session, HCW_R_TASK);
	assert_int_equal(t.emitted + t.lost, MANY);
	assert_int_equal(t.ring_full, t.lost);
	assert_int_equal(t.unbegun, 0);
	assert_in_range(t.emitted, SMALL_RING / 128, SMALL_RING / 32);
	drain(session, on_record, s);
	assert_int_equal(s->received, t.emitted);
	assert_int_equal(s->tasks, tasks.emitted);
	printf("%u happened: %llu received, %llu lost\n", MANY, (unsigned long long)s->received,
	       (unsigned long long)t.lost);
	/* reading changes no total, and the ring works on */
	migrate_begin(session);
	migrate_end(session, MANY - 1);
	assert_int_equal(migrations_total(session, HCW_R_MIGRATE).emitted, t.emitted + 1);
	assert_int_equal(migrations_total(session, HCW_R_MIGRATE).lost, t.lost);
	free(s);
	hcw_session_close(session);
}

/* --- with what the recorder makes of it */

static int to_stream(void *ctx, const struct hcw_rec *rec, const void *body, struct hcw_err *err)
{
	struct stream *s = ctx;

	(void)err;
	if (rec->type == HCW_R_HOLE) {
		assert_true(s->holes < MAX_HOLES);
		memcpy(&s->hole[s->holes++], body, sizeof(s->hole[0]));
	} else if (rec->type < HCW_R_BPF_COUNT) {
		return on_record(rec, s);
	}
	return 0;
}

static int to_writer(void *ctx, const struct hcw_rec *rec, const void *body, struct hcw_err *err)
{
	return hcw_writer_put(ctx, rec, body, err);
}

/* The recorder between a session and a sink, without its loop. */
struct recorder {
	struct tracer tracer;
	struct tracer_opts opts;
	struct hcw_err err;
};

static struct recorder *recorder_new(struct hcw_session *session, struct tracer_sink sink)
{
	struct recorder *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->opts.sink = sink;
	r->tracer.opts = &r->opts;
	r->tracer.err = &r->err;
	r->tracer.session = session;
	r->tracer.last_look = hcs_boot_ns();
	return r;
}

static int through(const struct hcw_rec *rec, void *ctx)
{
	struct recorder *r = ctx;

	return tracer_put(&r->tracer, rec, rec + 1);
}

static __u64 lost_in_holes(const struct stream *s, __u32 source)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < s->holes; i++) {
		assert_int_equal(s->hole[i].cause, HCW_HOLE_RING_FULL);
		assert_true(s->hole[i].from < s->hole[i].to);
		assert_true(s->hole[i].to - s->hole[i].from < SLOW_LOOK_NS);
		if (s->hole[i].source == source)
			sum += s->hole[i].count;
	}
	return sum;
}

static bool under_a_hole(const struct stream *s, const struct gap *g)
{
	size_t i;

	for (i = 0; i < s->holes; i++)
		if (s->hole[i].source == HCW_R_MIGRATE && s->hole[i].from <= g->to &&
		    s->hole[i].to >= g->from)
			return true;
	return false;
}

/* A reader that is too slow: each missing number lies between records that a hole stands over. */
static void test_holes_in_place(void **state)
{
	const struct timespec pause = {.tv_nsec = 3000000};
	struct hcw_session *session = migrations_open(SMALL_RING, false);
	struct stream *s = stream_new(WHILE_READ);
	struct recorder *r = recorder_new(session, (struct tracer_sink){to_stream, NULL, s});
	struct migrator m[THREADS];
	unsigned long long lost = 0;
	struct hcw_totals t;
	size_t i;

	(void)state;
	migrate_all(m, session, s);
	do {
		nanosleep(&pause, NULL);
		assert_true(hcw_session_pump(session, 0, through, r) >= 0);
		assert_int_equal(note_totals(&r->tracer, false, &lost), 0);
		t = migrations_total(session, HCW_R_MIGRATE);
	} while (t.emitted + t.lost < WHILE_READ);
	for (i = 0; i < THREADS; i++)
		migrator_join(&m[i]);
	drain(session, through, r);
	assert_int_equal(note_totals(&r->tracer, false, &lost), 0);
	assert_int_equal(t.emitted, s->received);
	assert_int_equal(s->received + lost_in_holes(s, HCW_R_MIGRATE), WHILE_READ);
	assert_int_equal(lost_in_holes(s, HCW_R_MIGRATE) + lost_in_holes(s, HCW_R_TASK), lost);
	assert_true(s->gaps > 0 && s->gaps < sizeof(s->gap) / sizeof(s->gap[0]));
	for (i = 0; i < s->gaps; i++)
		assert_true(under_a_hole(s, &s->gap[i]));
	free(r);
	free(s);
	hcw_session_close(session);
}

/* --- public case C15: a ring of one page, a reader that stands still, 1000 events */

static void record_to(const char *path, struct hcw_session *session, struct hcw_totals *t)
{
	struct hcw_writer *w = NULL;
	unsigned long long lost = 0;
	struct recorder *r;
	__u64 i;

	r = recorder_new(session, (struct tracer_sink){to_writer, NULL, NULL});
	assert_int_equal(hcw_writer_open(&w, path, &r->err), 0);
	r->opts.sink.ctx = w;
	assert_int_equal(note_header(&r->tracer), 0);
	assert_int_equal(note_clock(&r->tracer), 0);
	for (i = 0; i < FEW; i++) {
		migrate_begin(session);
		migrate_end(session, i);
	}
	drain(session, through, r);
	assert_int_equal(note_totals(&r->tracer, true, &lost), 0);
	assert_int_equal(note_end(&r->tracer, HCW_END_SIGNAL), 0);
	assert_int_equal(hcw_writer_close(w, &r->err), 0);
	*t = migrations_total(session, HCW_R_MIGRATE);
	assert_int_equal(lost, t->lost + migrations_total(session, HCW_R_TASK).lost);
	free(r);
}

/* As if every probe of the plan had been on: then nothing but loss is in the way of "clean". */
static void all_active(struct hcw_loaded *l)
{
	size_t i;

	for (i = 0; i < l->info.n_probes; i++)
		l->info.probe[i].active = true;
}

static char *caught(char **text, size_t *size, FILE **f)
{
	*f = open_memstream(text, size);
	assert_non_null(*f);
	return NULL;
}

static void check_reported(const struct hcw_loaded *l, const struct hcw_totals *t)
{
	char *text, *json, want[128];
	size_t size;
	FILE *f;

	caught(&text, &size, &f);
	report_text(f, "x.hcw", &l->info, l->chain, false);
	fclose(f);
	assert_non_null(strstr(text, "INCOMPLETE"));
	assert_non_null(strstr(text, "at least"));
	snprintf(want, sizeof(want), "%llu migration records were lost (the buffer was full)",
		 (unsigned long long)t->lost);
	assert_non_null(strstr(text, want));
	caught(&json, &size, &f);
	assert_int_equal(report_json(f, "x.hcw", &l->info, l->chain), 0);
	fclose(f);
	assert_non_null(strstr(json, "\"verdict\": \"cannot-tell\""));
	assert_non_null(strstr(json, "\"cause\": \"ring-full\""));
	snprintf(want, sizeof(want), "\"ring_full\": %llu", (unsigned long long)t->lost);
	assert_non_null(strstr(json, want));
	free(text);
	free(json);
}

static void check_live(const struct hcw_loaded *l)
{
	const struct live_event lost = {.kind = LIVE_LOST,
					.count = hcw_chain_model(l->chain)->lost};
	char *text, want[64];
	size_t size;
	FILE *f;

	caught(&text, &size, &f);
	assert_int_equal(live_text(f, &l->info, l->chain, &lost), 0);
	assert_int_equal(live_json(f, &l->info, l->chain, &lost), 0);
	fclose(f);
	snprintf(want, sizeof(want), "%llu records lost", (unsigned long long)lost.count);
	assert_non_null(strstr(text, want));
	snprintf(want, sizeof(want), "\"ring_full\":%llu", (unsigned long long)lost.count);
	assert_non_null(strstr(text, want));
	free(text);
}

static void load_all(const char *path, struct hcw_loaded *l)
{
	struct hcw_err err = {0};

	if (load_trace(path, l, &err))
		fail_msg("%s", err.what);
	all_active(l);
}

static void test_full_ring_is_no_health(void **state)
{
	struct hcw_session *session = migrations_open(4096, false);
	char dir[] = "/tmp/hcw-loss-XXXXXX", path[64];
	const struct hcw_model *m;
	struct hcw_totals t;
	struct hcw_loaded l;
	__u64 placed = 0;
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x.hcw", dir);
	record_to(path, session, &t);
	hcw_session_close(session);
	assert_int_equal(t.emitted + t.lost, FEW);
	assert_true(t.emitted > 0 && t.lost > FEW / 2);
	load_all(path, &l);
	m = hcw_chain_model(l.chain);
	assert_int_equal(m->totals[HCW_R_MIGRATE].lost, t.lost);
	for (i = 0; i < m->n_holes; i++)
		if (m->holes[i].source == HCW_R_MIGRATE)
			placed += m->holes[i].count;
	assert_int_equal(placed, t.lost);
	assert_int_equal(report_exit(&l.info, m), HCW_EXIT_INCOMPLETE);
	check_reported(&l, &t);
	check_live(&l);
	hcw_chain_free(l.chain);
	unlink(path);
	rmdir(dir);
}

/* The same with a ring that holds them: it is the loss that made the difference. */
static void test_whole_ring_is(void **state)
{
	struct hcw_session *session = migrations_open(1u << 20, false);
	char dir[] = "/tmp/hcw-loss-XXXXXX", path[64];
	struct hcw_totals t;
	struct hcw_loaded l;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x.hcw", dir);
	record_to(path, session, &t);
	hcw_session_close(session);
	assert_int_equal(t.emitted, FEW);
	assert_int_equal(t.lost, 0);
	load_all(path, &l);
	assert_string_equal(report_verdict(&l.info, hcw_chain_model(l.chain)), "clean");
	assert_int_equal(report_exit(&l.info, hcw_chain_model(l.chain)), HCW_EXIT_OK);
	assert_int_equal(hcw_chain_model(l.chain)->late, 0);
	hcw_chain_free(l.chain);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_under_loss),
		cmocka_unit_test(test_holes_in_place),
		cmocka_unit_test(test_full_ring_is_no_health),
		cmocka_unit_test(test_whole_ring_is),
	};

	if (!migrations_possible())
		return MIGRATIONS_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
