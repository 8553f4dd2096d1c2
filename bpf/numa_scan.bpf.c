// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* NUMA balancing taking access away to see who faults: marks the thread, so that what it
 * invalidates inside is known to come from there. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "thread.bpf.h"
#include "watch.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A process scans its own memory. Without an entry only the mark is missing, and no record. */
static __always_inline int scan_entry(void)
{
	struct hcw_thread *t;

	if (!tgid_watched(current_tgid()))
		return 0;
	t = thread_get();
	if (t)
		t->scanning = 1;
	return 0;
}

static __always_inline int scan_return(void)
{
	struct hcw_thread *t = thread_find();

	if (!t || !t->scanning)
		return 0;
	t->scanning = 0;
	thread_leave(t);
	return 0;
}

SEC("fentry")
int BPF_PROG(numa_scan_fentry)
{
	return scan_entry();
}

SEC("fexit")
int BPF_PROG(numa_scan_fexit)
{
	return scan_return();
}

SEC("kprobe")
int BPF_KPROBE(numa_scan_kprobe)
{
	return scan_entry();
}

SEC("kretprobe")
int BPF_KRETPROBE(numa_scan_kretprobe)
{
	return scan_return();
}
