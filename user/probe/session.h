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
#include "../sys/kallsyms.h"
#include "choice.h"
#include "plan.h"

struct hcw_session;

struct hcw_session_opts {
	bool watch_all; /* every process seen at KFD; else only those given to hcw_session_watch()
			 */
	bool announce;	/* one that opens KFD is watched on trial: enum hcw_watch_mode */
	bool long_running; /* kprobes instead of fentry on module functions: fentry would block a
			      driver unload */
	size_t ring_bytes; /* 0 = default, 16 MiB; rounded up to a power of two of pages */
	struct hcw_probe_choices choices;   /* of --probe; all zero: none */
	const struct hcs_kallsyms *symbols; /* read already and used while opening only; NULL: read
					       here */
};

/*
 * Calibrates and attaches every kernel probe. A point that cannot be attached is inactive in the
 * plan with its reason, not an error. Fails when BPF cannot be used at all (-EPERM: err says which
 * capability or setting).
 */
int hcw_session_open(struct hcw_session **out, const struct hcw_session_opts *opts,
		     struct hcw_err *err);

/*
 * The plan a session would have: calibrates, loads, attaches, detaches. 0 when BPF could be used.
 * Where it is refused or impossible the error (err says which) is returned and the plan is made
 * from names alone, with that reason at every point; so it is filled in any case but -ENOMEM.
 */
int hcw_probe_plan(struct hcw_plan *plan, const struct hcw_session_opts *opts, struct hcw_err *err);

/* A module with functions to probe that went, or came. */
struct hcw_driver_change {
	const char *module;
	bool came; /* and is probed now; false: it is gone, or was not there at the start */
	unsigned int types; /* 1 << type of the records that miss meanwhile; 0 = none */
	__u64 from;	    /* the last time it was known to be probed, or the start */
	__u64 to;	    /* came: when it was probed again; 0: it is absent still */
};

/*
 * Looks whether drivers came, went or were loaded again since the last look, and attaches to what
 * there is now. Cheap when nothing changed: call it at least every 100 ms. Returns 1 with one
 * change in `out` (call again: there may be more), 0 when there is none. A driver that is not there
 * at the start is told once, at the first look, when points depend on it.
 *
 * When it came, kernel symbols are read anew: *symbols is the new table, for the caller to free, in
 * all other cases NULL. Takes as long as attaching does: a second and more on a slow machine.
 */
int hcw_session_drivers(struct hcw_session *s, struct hcw_driver_change *out,
			struct hcs_kallsyms **symbols);

/* The plan as attached; owned by the session. USDT points become active with the first file
 * attached. */
const struct hcw_plan *hcw_session_plan(const struct hcw_session *s);

/* Adds a victim by host tgid. */
int hcw_session_watch(struct hcw_session *s, pid_t tgid, struct hcw_err *err);

/*
 * Attaches the USDT marks hcwatch:iteration_* and hcpool:* found in an ELF file, for every process
 * that maps it. The same file (device, inode) is attached once. Returns the number of marks
 * attached now, 0 when it has none. A refusal is also the reason in the plan, while no other file's
 * marks are attached.
 */
int hcw_session_attach_file(struct hcw_session *s, const char *path, struct hcw_err *err);

/* rec is followed by rec->len bytes of body. A negative return stops the pump and is returned by
 * it. */
typedef int (*hcw_record_fn)(const struct hcw_rec *rec, void *ctx);

/* Waits up to timeout_ms for records and hands all that are there to fn. Returns their number, or
 * -errno; -EINTR on a signal. */
int hcw_session_pump(struct hcw_session *s, int timeout_ms, hcw_record_fn fn, void *ctx);

/* Totals per record type, exact: emitted (in the ring) and lost, and why. `totals` has
 * HCW_R_BPF_COUNT entries. */
int hcw_session_totals(struct hcw_session *s, struct hcw_totals *totals);

/* What the tables of the kernel side had no room for, since the session was opened. */
int hcw_session_limits(struct hcw_session *s, struct hcw_limits *limits);

/* Instruction pointers of a stack id, innermost first. Returns the depth, -ENOENT for an unknown
 * id. */
int hcw_session_stack(struct hcw_session *s, __s32 id, __u64 *ip, size_t max);

void hcw_session_close(struct hcw_session *s); /* s may be NULL */

#endif
