/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One tracing session: calibrate -> plan -> attach -> pump. The only door to libbpf.
 *
 * Not thread safe, and one session at a time in a process. Everything is detached when the session
 * is closed, and by the kernel when the process dies.
 */
#ifndef HCW_SESSION_H
#define HCW_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "../base/err.h"
#include "plan.h"

struct hcw_session;

struct hcw_session_opts {
	bool watch_all; /* every process seen at KFD; else only those given to hcw_session_watch()
			 */
	bool long_running; /* kprobes instead of fentry on module functions: fentry would block a
			      driver unload */
	size_t ring_bytes; /* 0 = default, 16 MiB; rounded up to a power of two of pages */
};

/*
 * Calibrates and attaches every kernel probe. A point that cannot be attached is inactive in the
 * plan with its reason, not an error. Fails when BPF cannot be used at all (-EPERM: err says which
 * capability or setting).
 */
int hcw_session_open(struct hcw_session **out, const struct hcw_session_opts *opts,
		     struct hcw_err *err);

/* The plan as attached; owned by the session. USDT points become active with the first file
 * attached. */
const struct hcw_plan *hcw_session_plan(const struct hcw_session *s);

/* Adds a victim by host tgid. */
int hcw_session_watch(struct hcw_session *s, pid_t tgid, struct hcw_err *err);

/*
 * Attaches the USDT marks hcwatch:iteration_* and hcpool:* found in an ELF file, for every process
 * that maps it. The same file (device, inode) is attached once. Returns the number of marks
 * attached now, 0 when it has none.
 */
int hcw_session_attach_file(struct hcw_session *s, const char *path, struct hcw_err *err);

/* rec is followed by rec->len bytes of body. A negative return stops the pump and is returned by
 * it. */
typedef int (*hcw_record_fn)(const struct hcw_rec *rec, void *ctx);

/* Waits up to timeout_ms for records and hands all that are there to fn. Returns their number, or
 * -errno; -EINTR on a signal. */
int hcw_session_pump(struct hcw_session *s, int timeout_ms, hcw_record_fn fn, void *ctx);

/* Totals per record type, exact: emitted (in the ring) and lost. `totals` has HCW_R_BPF_COUNT
 * entries. */
int hcw_session_totals(struct hcw_session *s, struct hcw_totals *totals);

/* Instruction pointers of a stack id, innermost first. Returns the depth, -ENOENT for an unknown
 * id. */
int hcw_session_stack(struct hcw_session *s, __s32 id, __u64 *ip, size_t max);

void hcw_session_close(struct hcw_session *s); /* s may be NULL */

#endif
