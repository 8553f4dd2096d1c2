// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The end of threads that stood in any record. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "emit.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The tracepoint's task is the current one, and has no mm any more: the remembered one is told. */
static __always_inline int task_exit(void)
{
	HCW_RECORD(struct hcw_task_exit) r = {};
	__u32 tid = current_tid();
	struct hcw_task *seen;

	bpf_map_delete_elem(&threads, &tid);
	seen = bpf_map_lookup_elem(&seen_tasks, &tid);
	if (!seen)
		return 0;
	r.body.mm = seen->mm;
	r.body.tid = tid;
	r.body.tgid = current_tgid();
	r.rec.ts = bpf_ktime_get_boot_ns();
	ring_write(&r.rec, HCW_R_TASK_EXIT, sizeof(r));
	bpf_map_delete_elem(&seen_tasks, &tid);
	return 0;
}

SEC("tp_btf")
int BPF_PROG(task_exit_tp_btf)
{
	return task_exit();
}

SEC("raw_tp")
int BPF_PROG(task_exit_raw_tp)
{
	return task_exit();
}
