/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "migrations.h"

#define MAX_ARGS 12 /* of a raw tracepoint, as the kernel has it */

static struct hcw_session_opts raw_tp(size_t ring_bytes)
{
	struct hcw_session_opts opts = {.ring_bytes = ring_bytes};

	opts.choices.point[HCW_POINT_MIGRATE] =
		(struct hcw_probe_choice){.forced = true, .tier = HCW_TIER_RAW_TP};
	return opts;
}

bool migrations_possible(void)
{
	const struct hcw_session_opts opts = raw_tp(0);
	struct hcw_session *s;
	struct hcw_err err = {0};
	bool active;

	if (hcw_session_open(&s, &opts, &err)) {
		printf("SKIP: %s\n", err.what);
		return false;
	}
	active = hcw_session_plan(s)->entry[HCW_POINT_MIGRATE].active;
	if (!active)
		printf("SKIP: %s\n", hcw_session_plan(s)->entry[HCW_POINT_MIGRATE].reason);
	hcw_session_close(s);
	return active;
}

struct hcw_session *migrations_open(size_t ring_bytes, bool live)
{
	const struct hcw_session_opts opts = raw_tp(ring_bytes);
	struct hcw_session *s = NULL;
	struct hcw_err err = {0};
	size_t i;

	if (hcw_session_open(&s, &opts, &err))
		fail_msg("%s", err.what);
	assert_int_equal(hcw_session_watch(s, getpid(), &err), 0);
	for (i = 0; i < s->attached.links && !live; i++)
		bpf_link__destroy(s->attached.link[i]);
	if (!live)
		s->attached.links = 0;
	return s;
}

static void run(const struct bpf_program *prog, const __u64 *args)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args,
		    .ctx_size_in = MAX_ARGS * sizeof(*args));

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(prog), &opts), 0);
}

void migrate_begin(const struct hcw_session *s)
{
	const __u64 args[MAX_ARGS] = {2, 0}; /* MIGRATE_SYNC, MR_COMPACTION */

	run(s->attached.skel->progs.migrate_start_raw_tp, args);
}

void migrate_end(const struct hcw_session *s, __u64 ok)
{
	const __u64 args[MAX_ARGS] = {ok};

	run(s->attached.skel->progs.migrate_end_raw_tp, args);
}

static void *migrate(void *arg)
{
	struct migrator *m = arg;
	__u64 i;

	for (i = 0; i < m->n; i++) {
		migrate_begin(m->session);
		migrate_end(m->session, m->first + i);
	}
	return NULL;
}

void migrator_start(struct migrator *m, const struct hcw_session *s, __u64 first, __u64 n)
{
	*m = (struct migrator){.session = s, .first = first, .n = n};
	assert_int_equal(pthread_create(&m->thread, NULL, migrate, m), 0);
}

void migrator_join(struct migrator *m)
{
	assert_int_equal(pthread_join(m->thread, NULL), 0);
}

struct hcw_totals migrations_total(struct hcw_session *s, __u32 type)
{
	struct hcw_totals totals[HCW_R_BPF_COUNT];

	assert_int_equal(hcw_session_totals(s, totals), 0);
	assert_int_equal(totals[type].source, type);
	assert_int_equal(totals[type].lost,
			 totals[type].ring_full + totals[type].map_full + totals[type].skipped);
	return totals[type];
}
