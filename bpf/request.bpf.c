// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who asks for migrations that another task, or the same one much later, carries out. Rare, so told
 * whoever is watched: whom it will hit is not known yet. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "emit.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline int request(__u32 kind)
{
	HCW_RECORD(struct hcw_request) r = {};

	r.body.kind = kind;
	r.body.tgid = current_tgid();
	emit(&r.rec, HCW_R_REQUEST, sizeof(r));
	return 0;
}

/* cpuset_write_resmask() serves cpuset.cpus and cpuset.cpus.exclusive too, in both versions of
 * cgroups. */
static __always_inline bool is_mems(struct kernfs_open_file *of)
{
	struct cftype *file = BPF_CORE_READ(of, kn, priv);
	char name[8] = {};

	bpf_core_read_str(name, sizeof(name), &file->name);
	return name[0] == 'm' && name[1] == 'e' && name[2] == 'm' && name[3] == 's' && !name[4];
}

SEC("fentry")
int BPF_PROG(request_cpuset_fentry, struct kernfs_open_file *of)
{
	return is_mems(of) ? request(HCW_REQUEST_CPUSET) : 0;
}

SEC("kprobe")
int BPF_KPROBE(request_cpuset_kprobe, struct kernfs_open_file *of)
{
	return is_mems(of) ? request(HCW_REQUEST_CPUSET) : 0;
}

SEC("fentry")
int BPF_PROG(request_compact_fentry, const void *table, int write)
{
	return write ? request(HCW_REQUEST_COMPACT) : 0;
}

SEC("kprobe")
int BPF_KPROBE(request_compact_kprobe, const void *table, int write)
{
	return write ? request(HCW_REQUEST_COMPACT) : 0;
}

SEC("fentry")
int BPF_PROG(request_compact_node_fentry)
{
	return request(HCW_REQUEST_COMPACT);
}

SEC("kprobe")
int BPF_KPROBE(request_compact_node_kprobe)
{
	return request(HCW_REQUEST_COMPACT);
}
