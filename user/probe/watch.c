/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include "internal.h"
#include "watch.h"

/* struct hcw_inner_pid of bpf/maps.bpf.h */
struct inner_pid {
	__u32 ns, pid;
};

/* struct hcw_kfd_mm of bpf/maps.bpf.h */
struct kfd_mm {
	__u32 tgid, listed;
	__u64 evicted_at;
	__u32 evicted, pad;
};

int hcw_session_watched(struct hcw_session *s, pid_t tgid)
{
	__u32 key = (__u32)tgid, value = 0;

	if (bpf_map__lookup_elem(s->attached.skel->maps.watched, &key, sizeof(key), &value,
				 sizeof(value), 0))
		return 0;
	return (int)value;
}

void hcw_session_unwatch(struct hcw_session *s, pid_t tgid)
{
	__u32 key = (__u32)tgid;

	bpf_map__delete_elem(s->attached.skel->maps.watched, &key, sizeof(key), 0);
}

void hcw_session_inner_pid(struct hcw_session *s, __u64 ns, pid_t inner, pid_t tgid)
{
	struct inner_pid key = {.ns = (__u32)ns, .pid = (__u32)inner};
	__u32 value = (__u32)tgid;

	/* without it a call from that namespace has an unknown target, and clears nobody */
	bpf_map__update_elem(s->attached.skel->maps.inner_pids, &key, sizeof(key), &value,
			     sizeof(value), BPF_ANY);
}

void hcw_session_each_quiet(struct hcw_session *s,
			    void (*fn)(pid_t tgid, const struct hcw_quiet *quiet, void *ctx),
			    void *ctx)
{
	const struct bpf_map *map = s->attached.skel->maps.kfd_mms;
	__u32 left = bpf_map__max_entries(map);
	__u64 key = 0, *previous = NULL;
	struct kfd_mm known;

	/* an entry that vanishes meanwhile makes the walk begin anew: hence the bound */
	while (left-- && !bpf_map__get_next_key(map, previous, &key, sizeof(key))) {
		previous = &key;
		if (!bpf_map__lookup_elem(map, &key, sizeof(key), &known, sizeof(known), 0))
			fn((pid_t)known.tgid,
			   &(struct hcw_quiet){.last = known.evicted_at, .evicted = known.evicted},
			   ctx);
	}
}
