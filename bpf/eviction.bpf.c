// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* KFD stopping and restarting the queues of a process. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "watch.bpf.h"
#include "thread.bpf.h"

#define NO_STACK (-1)

/* Frames above the probed function: those of the program and its trampoline. A kprobe's stack has
 * none. */
#define FENTRY_FRAMES 2
#define KPROBE_FRAMES 0

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * drivers/gpu/drm/amd/amdkfd/kfd_priv.h, in amdgpu's own BTF. Only the programs of the points evict
 * and restore read it; where that BTF is missing they are not loaded and quiesce and resume carry
 * the episode.
 */
struct kfd_process {
	void *mm;
	struct task_struct *lead_thread;
} HCW_CORE;

/*
 * One that is not listed is on trial from now on, so nothing it does is missed while user space
 * decides. It is told even if it was before: its comm may match now. Where that fails it is not
 * listed, or it would stay on trial; user space looks at KFD's list, too.
 */
static __always_inline void kfd_announce(struct task_struct *task)
{
	__u32 tid = current_tid(), tgid = current_tgid(), trial = HCW_WATCHED_TRIAL;

	if (tgid_listed(tgid))
		return;
	if (bpf_map_update_elem(&watched, &tgid, &trial, BPF_NOEXIST)) {
		count_limit(HCW_LIMIT_WATCHED, 1);
		return;
	}
	forget_task(tid);
	tell_task(task, bpf_ktime_get_boot_ns());
	if (!bpf_map_lookup_elem(&seen_tasks, &tid))
		bpf_map_delete_elem(&watched, &tgid);
}

static __always_inline int kfd_open_entry(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	if (watch_mode() == HCW_WATCH_ANNOUNCE)
		kfd_announce(task);
	kfd_remember(BPF_CORE_READ(task, mm), current_tgid());
	if (tgid_watched(current_tgid()))
		tell_task(task, bpf_ktime_get_boot_ns());
	return 0;
}

SEC("fentry")
int BPF_PROG(kfd_open_fentry)
{
	return kfd_open_entry();
}

SEC("kprobe")
int BPF_KPROBE(kfd_open_kprobe)
{
	return kfd_open_entry();
}

/* A victim without an owner and never seen before can still be one of ours that is exiting. */
static __always_inline bool victim_unknown(struct mm_struct *mm, __u32 victim)
{
	return !victim && !kfd_tgid(mm);
}

static __always_inline int quiesce_entry(void *ctx, __u32 frames, struct mm_struct *mm,
					 __u32 trigger)
{
	__u32 victim = mm_tgid(mm);
	struct hcw_thread *t;

	kfd_remember(mm, victim);
	kfd_sign(mm, true);
	if (!kfd_watched(mm, victim) && !victim_unknown(mm, victim))
		return 0;
	t = thread_enter(HCW_R_QUIESCE);
	if (!t)
		return 0;
	thread_unended(HCW_R_QUIESCE, t->quiesce.start);
	t->quiesce.start = bpf_ktime_get_boot_ns();
	t->quiesce.mm = (__u64)mm;
	t->quiesce.attempt = t->attempt;
	t->quiesce.lo = t->callback.mm == (__u64)mm ? t->callback.lo : 0;
	t->quiesce.hi = t->callback.mm == (__u64)mm ? t->callback.hi : 0;
	t->quiesce.trigger = trigger;
	t->quiesce.stack = keep_stack(ctx, frames);
	t->quiesce.victim = victim;
	t->quiesce.reason = thread_reason(t);
	t->quiesce.via = thread_via(t);
	return 0;
}

/* Of an unknown victim only a failed quiesce is told: the noise of an exit, for user space to
 * count. */
static __always_inline int quiesce_return(__s32 ret)
{
	HCW_RECORD(struct hcw_quiesce) r = {};
	struct hcw_thread *t = thread_find();
	struct task_struct *owner;
	struct mm_struct *mm;
	__u64 now;

	if (!t || !t->quiesce.start)
		return 0;
	r.body = t->quiesce;
	r.body.ret = ret;
	t->quiesce.start = 0;
	mm = (struct mm_struct *)r.body.mm;
	if (kfd_watched(mm, r.body.victim) || ret) {
		now = bpf_ktime_get_boot_ns();
		owner = compat_mm_owner(mm);
		if (owner)
			tell_task(owner, now);
		emit_at(&r.rec, HCW_R_QUIESCE, sizeof(r), now);
	}
	thread_leave(t);
	return 0;
}

SEC("fentry")
int BPF_PROG(quiesce_fentry, struct mm_struct *mm, __u32 trigger)
{
	return quiesce_entry(ctx, FENTRY_FRAMES, mm, trigger);
}

SEC("fexit")
int BPF_PROG(quiesce_fexit, struct mm_struct *mm, __u32 trigger, int ret)
{
	return quiesce_return(ret);
}

SEC("kprobe")
int BPF_KPROBE(quiesce_kprobe, struct mm_struct *mm, __u32 trigger)
{
	return quiesce_entry(ctx, KPROBE_FRAMES, mm, trigger);
}

SEC("kretprobe")
int BPF_KRETPROBE(quiesce_kretprobe, int ret)
{
	return quiesce_return(ret);
}

static __always_inline int resume_entry(struct mm_struct *mm)
{
	struct hcw_thread *t;

	kfd_remember(mm, mm_tgid(mm));
	kfd_sign(mm, false);
	if (!kfd_watched(mm, mm_tgid(mm)))
		return 0;
	t = thread_enter(HCW_R_RESUME);
	if (!t)
		return 0;
	thread_unended(HCW_R_RESUME, t->resume.start);
	t->resume.start = bpf_ktime_get_boot_ns();
	t->resume.mm = (__u64)mm;
	if (t->pass.start) {
		t->pass.mm = (__u64)mm;
		t->pass.resumed = 1;
	}
	return 0;
}

static __always_inline int resume_return(__s32 ret)
{
	HCW_RECORD(struct hcw_resume) r = {};
	struct hcw_thread *t = thread_find();
	struct task_struct *owner;
	__u64 now;

	if (!t || !t->resume.start)
		return 0;
	r.body = t->resume;
	r.body.ret = ret;
	t->resume.start = 0;
	now = bpf_ktime_get_boot_ns();
	/* it can be the first that is seen of its process */
	owner = compat_mm_owner((struct mm_struct *)r.body.mm);
	if (owner)
		tell_task(owner, now);
	emit_at(&r.rec, HCW_R_RESUME, sizeof(r), now);
	thread_leave(t);
	return 0;
}

SEC("fentry")
int BPF_PROG(resume_fentry, struct mm_struct *mm)
{
	return resume_entry(mm);
}

SEC("fexit")
int BPF_PROG(resume_fexit, struct mm_struct *mm, int ret)
{
	return resume_return(ret);
}

SEC("kprobe")
int BPF_KPROBE(resume_kprobe, struct mm_struct *mm)
{
	return resume_entry(mm);
}

SEC("kretprobe")
int BPF_KRETPROBE(resume_kretprobe, int ret)
{
	return resume_return(ret);
}

static __always_inline void queues_fill(struct hcw_evict *e, struct kfd_process *p, __u32 victim,
					__u32 trigger, __s32 stack)
{
	e->start = bpf_ktime_get_boot_ns();
	e->mm = (__u64)BPF_CORE_READ(p, mm);
	e->victim = victim;
	e->trigger = trigger;
	e->stack = stack;
}

static __always_inline int evict_entry(void *ctx, __u32 frames, struct kfd_process *p,
				       __u32 trigger)
{
	__u32 victim = BPF_CORE_READ(p, lead_thread, tgid);
	struct hcw_thread *t;

	if (!kfd_watched(BPF_CORE_READ(p, mm), victim))
		return 0;
	t = thread_enter(HCW_R_EVICT);
	if (!t)
		return 0;
	thread_unended(HCW_R_EVICT, t->evict.start);
	queues_fill(&t->evict, p, victim, trigger,
		    t->quiesce.start ? NO_STACK : keep_stack(ctx, frames));
	return 0;
}

static __always_inline int restore_entry(struct kfd_process *p)
{
	__u32 victim = BPF_CORE_READ(p, lead_thread, tgid);
	struct hcw_thread *t;

	if (!kfd_watched(BPF_CORE_READ(p, mm), victim))
		return 0;
	t = thread_enter(HCW_R_RESTORE);
	if (!t)
		return 0;
	thread_unended(HCW_R_RESTORE, t->restore.start);
	queues_fill(&t->restore, p, victim, 0, NO_STACK);
	return 0;
}

static __always_inline void queues_emit(struct hcw_evict *open, __u16 type, __s32 ret)
{
	HCW_RECORD(struct hcw_evict) r = {};

	r.body = *open;
	r.body.ret = ret;
	open->start = 0;
	emit(&r.rec, type, sizeof(r));
}

static __always_inline int evict_return(__s32 ret)
{
	struct hcw_thread *t = thread_find();

	if (!t || !t->evict.start)
		return 0;
	queues_emit(&t->evict, HCW_R_EVICT, ret);
	thread_leave(t);
	return 0;
}

static __always_inline int restore_return(__s32 ret)
{
	struct hcw_thread *t = thread_find();

	if (!t || !t->restore.start)
		return 0;
	queues_emit(&t->restore, HCW_R_RESTORE, ret);
	thread_leave(t);
	return 0;
}

SEC("fentry")
int BPF_PROG(evict_fentry, struct kfd_process *p, __u32 trigger)
{
	return evict_entry(ctx, FENTRY_FRAMES, p, trigger);
}

SEC("fexit")
int BPF_PROG(evict_fexit, struct kfd_process *p, __u32 trigger, int ret)
{
	return evict_return(ret);
}

SEC("kprobe")
int BPF_KPROBE(evict_kprobe, struct kfd_process *p, __u32 trigger)
{
	return evict_entry(ctx, KPROBE_FRAMES, p, trigger);
}

SEC("kretprobe")
int BPF_KRETPROBE(evict_kretprobe, int ret)
{
	return evict_return(ret);
}

SEC("fentry")
int BPF_PROG(restore_fentry, struct kfd_process *p)
{
	return restore_entry(p);
}

SEC("fexit")
int BPF_PROG(restore_fexit, struct kfd_process *p, int ret)
{
	return restore_return(ret);
}

SEC("kprobe")
int BPF_KPROBE(restore_kprobe, struct kfd_process *p)
{
	return restore_entry(p);
}

SEC("kretprobe")
int BPF_KRETPROBE(restore_kretprobe, int ret)
{
	return restore_return(ret);
}
