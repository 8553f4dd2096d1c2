/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is watched. */
#ifndef HCW_WATCH_BPF_H
#define HCW_WATCH_BPF_H

#include "compat.bpf.h"
#include "emit.bpf.h"
#include "pidns.bpf.h"

static __always_inline __u32 watch_mode(void)
{
	__u32 zero = 0;
	__u32 *mode = bpf_map_lookup_elem(&watch_all, &zero);

	return mode ? *mode : HCW_WATCH_LISTED;
}

static __always_inline bool watching_all(void)
{
	return watch_mode() == HCW_WATCH_ALL;
}

static __always_inline bool tgid_listed(__u32 tgid)
{
	return bpf_map_lookup_elem(&watched, &tgid) != NULL;
}

/* Whether its children are watched, too. */
static __always_inline bool tgid_followed(__u32 tgid)
{
	__u32 *how = bpf_map_lookup_elem(&watched, &tgid);

	return how && *how == HCW_WATCHED;
}

/* For marks, which only a process that wants to be seen has. */
static __always_inline bool tgid_watched(__u32 tgid)
{
	return watching_all() || tgid_listed(tgid);
}

/* NULL when the mm was never seen at KFD. */
static __always_inline struct hcw_kfd_mm *kfd_find(struct mm_struct *mm)
{
	__u64 key = (__u64)mm;

	return bpf_map_lookup_elem(&kfd_mms, &key);
}

/* 0 when the mm was never seen at KFD. */
static __always_inline __u32 kfd_tgid(struct mm_struct *mm)
{
	struct hcw_kfd_mm *known = kfd_find(mm);

	return known ? known->tgid : 0;
}

static __always_inline void kfd_remember(struct mm_struct *mm, __u32 tgid)
{
	struct hcw_kfd_mm *known = kfd_find(mm), now = {};
	struct task_struct *owner;
	__u64 key = (__u64)mm;

	if (!tgid)
		return;
	if (known && known->tgid == tgid)
		now = *known;
	now.listed = tgid_listed(tgid);
	if (now.tgid == tgid && known && known->listed == now.listed)
		return;
	now.tgid = tgid;
	if (!bpf_map_update_elem(&kfd_mms, &key, &now, BPF_ANY) && !known)
		count_limit(HCW_LIMIT_KFD, 1);
	owner = compat_mm_owner(mm);
	if (owner)
		inner_pids_remember(owner);
}

/* Its queues were stopped (or still are), or run again. */
static __always_inline void kfd_sign(struct mm_struct *mm, bool evicted)
{
	struct hcw_kfd_mm *known = kfd_find(mm);

	if (!known)
		return;
	known->evicted_at = bpf_ktime_get_boot_ns();
	known->evicted = evicted;
}

/* 0 when the mm has no owner any more. */
static __always_inline __u32 mm_tgid(struct mm_struct *mm)
{
	struct task_struct *owner = compat_mm_owner(mm);

	return owner ? BPF_CORE_READ(owner, tgid) : 0;
}

/*
 * For functions of KFD, which are only called for processes that use it. A pass can hold the mm of
 * a process that was killed while evicted: it is watched to its end.
 */
static __always_inline bool kfd_watched(struct mm_struct *mm, __u32 victim)
{
	struct hcw_kfd_mm *known;

	if (watching_all() || (victim && tgid_listed(victim)))
		return true;
	known = kfd_find(mm);
	return known && known->listed && (!victim || known->tgid == victim);
}

/*
 * For functions called for any process: one look-up where it is not watched. A remembered mm of
 * another process is a reused address.
 */
static __always_inline bool mm_watched(struct mm_struct *mm, __u32 victim)
{
	__u32 known;

	if (tgid_listed(victim))
		return true;
	if (!watching_all())
		return false;
	known = kfd_tgid(mm);
	return known && (!victim || known == victim);
}

static __always_inline bool current_watched(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return mm_watched(BPF_CORE_READ(task, mm), current_tgid());
}

#endif
