// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Iterations as the application marks them: USDT hcwatch:iteration_begin(id),
 * hcwatch:iteration_end(id). */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>
#include "emit.bpf.h"
#include "watch.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline int iteration_mark(__u16 type, __u64 id)
{
	HCW_RECORD(struct hcw_iter) r = {};

	r.body.tgid = current_tgid();
	if (!tgid_watched(r.body.tgid))
		return 0;
	r.body.id = id;
	emit(&r.rec, type, sizeof(r));
	return 0;
}

SEC("usdt")
int BPF_USDT(iteration_begin, __u64 id)
{
	return iteration_mark(HCW_R_ITER_BEGIN, id);
}

SEC("usdt")
int BPF_USDT(iteration_end, __u64 id)
{
	return iteration_mark(HCW_R_ITER_END, id);
}
