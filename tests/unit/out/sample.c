/* SPDX-License-Identifier: BSD-2-Clause */
#include "sample.h"

void sample_put(struct hcw_chain *c, __u16 type, __u64 ts, __u32 tid, const void *body, size_t len)
{
	char buf[sizeof(struct hcw_rec) + 64];
	struct hcw_rec rec = {.ts = ts, .tid = tid, .type = type, .len = (__u16)len};

	memcpy(buf, &rec, sizeof(rec));
	memcpy(buf + sizeof(rec), body, len);
	hcw_chain_add(c, (const struct hcw_rec *)buf);
}

void sample_info(struct hcw_trace_info *info, bool complete)
{
	static const char *const points[] = {"move_pages", "migrate", "notifier", "quiesce",
					     "resume"};
	size_t i;

	memset(info, 0, sizeof(*info));
	strcpy(info->kernel, "6.1.0-57-amd64");
	strcpy(info->host, "node17");
	for (i = 0; i < 5; i++) {
		strcpy(info->probe[i].point, points[i]);
		info->probe[i].active = complete || i != 3;
	}
	strcpy(info->probe[3].reason, "no such function");
	info->n_probes = 5;
}

struct hcw_chain *sample_stalled(void)
{
	struct hcw_chain *c = hcw_chain_new();
	struct hcw_task mover = {.start_time = 1, .mm = 0xabc, .tid = 43, .tgid = 42};

	hcw_chain_sources(c, ~0u & ~(1u << HCW_R_EVICT | 1u << HCW_R_RESTORE));
	memcpy(mover.comm, "mover\033[2J", 10);
	PUT(c, HCW_R_TASK, MS, 43, mover);
	PUT(c, HCW_R_POOL_ALLOC, 2 * MS, 42,
	    (struct hcw_pool){.ptr = 0x7f0000000000, .bytes = 536870912, .backing = 2, .tgid = 42});
	PUT(c, HCW_R_QUIESCE, 11 * MS, 43,
	    (struct hcw_quiesce){.start = 10 * MS,
				 .mm = 0xabc,
				 .attempt = 9 * MS,
				 .lo = 0x7f0000000000,
				 .hi = 0x7f0020000000,
				 .trigger = 1,
				 .stack = -1,
				 .victim = 42,
				 .reason = 3});
	PUT(c, HCW_R_MIGRATE, 20 * MS, 43,
	    (struct hcw_migrate){.start = 10 * MS, .attempt = 9 * MS, .ok = 512, .reason = 3});
	PUT(c, HCW_R_MOVE_PAGES, 21 * MS, 43,
	    (struct hcw_move_pages){.start = 9 * MS,
				    .lo = 0x7f0000000000,
				    .hi = 0x7f00001ff000,
				    .requested = 512,
				    .read = 512,
				    .moved = 512});
	PUT(c, HCW_R_RESUME, 401800000, 7, (struct hcw_resume){.start = 401 * MS, .mm = 0xabc});
	return c;
}

struct hcw_chain *sample_before(void)
{
	struct hcw_chain *c = hcw_chain_new();
	struct hcw_task server = {.start_time = 1, .mm = 0xabc, .tid = 42, .tgid = 42};

	hcw_chain_sources(c, ~0u & ~(1u << HCW_R_EVICT | 1u << HCW_R_RESTORE));
	memcpy(server.comm, "server", 7);
	PUT(c, HCW_R_CLOCK, 100 * MS, 0, (struct hcw_clock){.realtime = 1});
	PUT(c, HCW_R_TASK, 200 * MS, 7, server);
	PUT(c, HCW_R_PASS, 6000 * MS, 7, (struct hcw_pass){.start = 200 * MS, .mm = 0xabc});
	return c;
}

struct hcw_chain *sample_many(unsigned int n)
{
	struct hcw_chain *c = hcw_chain_new();
	unsigned int i;

	hcw_chain_sources(c, ~0u & ~(1u << HCW_R_EVICT | 1u << HCW_R_RESTORE));
	for (i = 0; i < n; i++) {
		__u64 at = (i + 1) * 1000 * MS;

		PUT(c, HCW_R_QUIESCE, at + 10, 43,
		    (struct hcw_quiesce){.start = at,
					 .mm = 0xabc,
					 .trigger = 1,
					 .stack = -1,
					 .victim = 42,
					 .reason = HCW_REASON_NONE});
		PUT(c, HCW_R_RESUME, at + (i + 1) * MS, 7,
		    (struct hcw_resume){.start = at + 20, .mm = 0xabc});
	}
	return c;
}
