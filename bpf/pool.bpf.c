// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pools as their allocator marks them: USDT hcpool:alloc(ptr, bytes, backing), hcpool:free(ptr). */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>
#include "emit.bpf.h"
#include "watch.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline int pool_mark(__u16 type, __u64 ptr, __u64 bytes, __u32 backing)
{
	HCW_RECORD(struct hcw_pool) r = {};

	r.body.tgid = current_tgid();
	if (!tgid_watched(r.body.tgid))
		return 0;
	r.body.ptr = ptr;
	r.body.bytes = bytes;
	r.body.backing = backing;
	emit(&r.rec, type, sizeof(r));
	return 0;
}

SEC("usdt")
int BPF_USDT(pool_alloc, __u64 ptr, __u64 bytes, __u64 backing)
{
	return pool_mark(HCW_R_POOL_ALLOC, ptr, bytes, backing);
}

SEC("usdt")
int BPF_USDT(pool_free, __u64 ptr)
{
	return pool_mark(HCW_R_POOL_FREE, ptr, 0, 0);
}
