/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording that goes on for days: 50 million records through the reordering into the chain, and
 * the memory stays what it is after the first million. What the chain must keep, findings, is
 * bounded here: they stop after the first million, as no table can hold what has no end.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "order.h"
#include "stream.h"

#define RECORDS	   50000000u
#define WARM_UP	   1000000u
#define FLAT_BYTES (1u << 20)
#define STEP	   2000u /* ns between records */
#define JITTER	   16	 /* records may be so many places off */
#define IDS	   4096u /* threads come and go */

static __u64 resident(void)
{
	unsigned long long size, pages;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu %llu", &size, &pages), 2);
	fclose(f);
	return pages * (__u64)sysconf(_SC_PAGESIZE);
}

struct feed {
	struct stream s;
	struct hcw_order *order;
	__u64 n, put, seed;
};

static int to_chain(void *ctx, const struct hcw_rec *rec)
{
	struct feed *f = ctx;

	f->n++;
	return hcw_chain_add(f->s.chain, rec);
}

static void put(struct feed *f, enum hcw_record_type type, __u32 tid, const void *body, __u16 len)
{
	struct hcw_rec rec = {.tid = tid, .type = type, .len = len};

	f->seed = f->seed * 6364136223846793005ull + 1442695040888963407ull;
	rec.ts = MS(1000) + (f->put++ + (f->seed >> 60) % JITTER) * STEP;
	assert_int_equal(hcw_order_put(f->order, &rec, body), 0);
}

/* What passes by on a busy machine, of threads that come and go. */
static void put_some(struct feed *f, __u64 i)
{
	__u32 tid = 1000 + (__u32)(i / 64 % IDS);
	__u64 now = MS(1000) + f->put * STEP;
	struct hcw_task t = {.start_time = i / 64 + 1, .tid = tid, .tgid = SERVER, .mm = MM};
	struct hcw_task_exit x = {.tid = tid, .tgid = SERVER};
	struct hcw_inval in = {.start = now,
			       .mm = MM,
			       .lo = POOL,
			       .hi = POOL + PAGE,
			       .count = 1,
			       .victim = SERVER};
	struct hcw_migrate mg = {.start = now, .attempt = now, .ok = 1};
	struct hcw_iter it = {.id = i, .tgid = SERVER};
	struct hcw_totals totals = {.source = HCW_R_INVAL, .emitted = i};

	switch (i % 64) {
	case 0:
		put(f, HCW_R_TASK, tid, &t, sizeof(t));
		break;
	case 63:
		put(f, HCW_R_TASK_EXIT, tid, &x, sizeof(x));
		break;
	case 31:
		put(f, HCW_R_TOTALS, 0, &totals, sizeof(totals));
		break;
	case 20:
		put(f, HCW_R_ITER_BEGIN, MOVER, &it, sizeof(it));
		break;
	case 60:
		it.id = i - 40;
		put(f, HCW_R_ITER_END, MOVER, &it, sizeof(it));
		break;
	default:
		if (i % 3)
			put(f, HCW_R_INVAL, tid, &in, sizeof(in));
		else
			put(f, HCW_R_MIGRATE, tid, &mg, sizeof(mg));
	}
}

/* An episode of 1 ms each 50 ms. */
static void put_finding(struct feed *f, __u64 i)
{
	__u64 now = MS(1000) + f->put * STEP;
	struct hcw_quiesce q = {.start = now,
				.mm = MM,
				.lo = POOL,
				.hi = POOL + PAGE,
				.trigger = BY_USERPTR,
				.victim = SERVER,
				.stack = -1};
	struct hcw_resume r = {.start = now, .mm = MM};

	if (i % 25000 == 0)
		put(f, HCW_R_QUIESCE, MOVER, &q, sizeof(q));
	else if (i % 25000 == 500)
		put(f, HCW_R_RESUME, KWORKER, &r, sizeof(r));
}

static void test_flat(void **state)
{
	struct feed f = {.seed = 1};
	const struct hcw_model *m;
	__u64 i, warm = 0, now;

	(void)state;
	stream_open(&f.s, WITHOUT(HCW_R_EVICT) & WITHOUT(HCW_R_RESTORE));
	stream_server(&f.s, HCW_BACKING_REGISTERED);
	f.order = hcw_order_new(2u << 20, MS(10), to_chain, &f);
	assert_non_null(f.order);
	for (i = 0; f.put < RECORDS; i++) {
		if (f.put < WARM_UP)
			put_finding(&f, i);
		put_some(&f, i);
		if (!warm && f.put >= WARM_UP)
			warm = resident();
	}
	now = resident();
	printf("%llu KiB after %u records, %llu KiB after %llu\n", (unsigned long long)warm >> 10,
	       WARM_UP, (unsigned long long)now >> 10, (unsigned long long)f.put);
	assert_true(now <= warm + FLAT_BYTES);
	assert_int_equal(hcw_order_flush(f.order), 0);
	assert_int_equal(f.n, f.put);
	assert_int_equal(hcw_order_late(f.order), 0);
	m = hcw_chain_model(f.s.chain);
	assert_in_range(m->n_episodes, 30, 50);
	assert_in_range(m->victims[0].iterations, RECORDS / 64 - 2, RECORDS / 64 + 2);
	assert_int_equal(m->dropped + m->dropped_stalls + m->dropped_charges, 0);
	hcw_order_free(f.order);
	stream_close(&f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
