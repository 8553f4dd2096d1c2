/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom a session watches, beyond hcw_session_watch(): trial, inner pids, and who is quiet. */
#ifndef HCW_SESSION_WATCH_H
#define HCW_SESSION_WATCH_H

#include "session.h"

/* enum hcw_watched, or 0 when it is not in the list. */
int hcw_session_watched(struct hcw_session *s, pid_t tgid);

/* Takes it from the list. Records of it that are in the ring still come. */
void hcw_session_unwatch(struct hcw_session *s, pid_t tgid);

/*
 * Says that `tgid` is number `inner` in pid namespace `ns` (inode), for move_pages(2) calls from
 * there. The programs know it by themselves of a process that opens KFD or is forked while watched.
 */
void hcw_session_inner_pid(struct hcw_session *s, __u64 ns, pid_t inner, pid_t tgid);

/* What is known of the evictions of a process at KFD, whether it is watched or not. */
struct hcw_quiet {
	__u64 last; /* last sign of an eviction or of its end, CLOCK_BOOTTIME; 0 = none */
	bool evicted;
};

/* Calls fn for each address space that was ever seen at KFD, also of processes that are gone. */
void hcw_session_each_quiet(struct hcw_session *s,
			    void (*fn)(pid_t tgid, const struct hcw_quiet *quiet, void *ctx),
			    void *ctx);

#endif
