/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the tracer only. */
#ifndef HCW_TRACER_INTERNAL_H
#define HCW_TRACER_INTERNAL_H

#include <limits.h>
#include "../probe/session.h"
#include "../sys/kallsyms.h"
#include "child.h"
#include "rejected.h"
#include "tracer.h"
#include "watched.h"

#define TRACER_NOTE_MAX	   16384 /* bytes of body of a record we make */
#define TRACER_MAX_PENDING 256	 /* pools whose mapping is still to be read */
#define TRACER_MAX_STACKS  4096	 /* stack ids named */

#define TRACER_MAX_GAPS	   8 /* modules whose probes are missing */

/* A module whose probes are missing since `from`. */
struct driver_gap {
	const char *module; /* NULL: none */
	unsigned int types; /* 1 << type of the records that are missing */
	__u64 from;
};

struct pending_pool {
	__u64 ptr, bytes;
	__u32 tgid;
};

/* What a successor of the watched process is known by. */
struct identity {
	char exe[PATH_MAX]; /* empty: nobody follows it */
	char comm[64];
	char cmdline[512]; /* empty: not read, as the process was not quiet */
};

/* A process of -p, or its successor. */
struct target {
	pid_t pid;	      /* followed now, 0 = none, or waiting for a successor */
	pid_t last_pid;	      /* the last one followed */
	uint64_t start_ticks; /* of `pid`: with it the identity of a process */
	struct identity identity;
};

struct tracer {
	const struct tracer_opts *opts;
	struct hcw_session *session;
	struct hcw_child child;
	struct hcs_kallsyms *symbols; /* for the names of stacks; NULL when they cannot be read */
	int root;
	enum filter_pids pids;			 /* what the numbers in /proc are */
	struct filter_process named[FILTER_MAX]; /* of each -p, as found at the start */
	struct target target[FILTER_MAX];	 /* of each -p */
	struct rejected rejected;		 /* on trial, and not taken */
	pid_t first_taken;			 /* by --comm or --cgroup, 0 = none yet */
	pid_t command;				 /* the child, as the host numbers it; 0 = none */
	__u64 next_search;			 /* for successors */
	struct pending_pool pending[TRACER_MAX_PENDING];
	size_t n_pending;
	struct watched_table watched;
	bool told_crowd;  /* that there are more of them */
	__u64 since;	  /* when tracing began */
	__u64 attached;	  /* when the kernel's probes were */
	bool no_old_pass; /* no eviction from before that is under way */
	bool told_waiting;
	bool known_files; /* looked for marks where they are known to be */
	bool ready;	  /* the ready file was made */
	bool told_target; /* the header has the command line of whom it is about */
	unsigned char stack_named[TRACER_MAX_STACKS];
	struct hcw_totals last[HCW_R_BPF_COUNT]; /* for holes */
	__u64 last_look;			 /* when `last` was read */
	__u64 last_ts;				 /* of the last record of the kernel side */
	bool unread; /* the pump was left with records in the ring, perhaps */
	__u64 next_tick;
	__u64 records; /* given to the sink */
	size_t marks;  /* USDT marks attached so far */
	struct driver_gap gap[TRACER_MAX_GAPS];
	bool had_gap;
	bool failed_sink;
	struct hcw_err *err;
};

/* tracer.c: the only way to the sink */
int tracer_put(struct tracer *r, const struct hcw_rec *rec, const void *body);

/* tracer_notes.c: records of the user side */
int note_put(struct tracer *r, enum hcw_record_type type, const void *body, size_t len);
int note_header(struct tracer *r);
/* Again, with the command line of whom it is about, once that may be read. */
int note_target(struct tracer *r);
int note_clock(struct tracer *r);
int note_end(struct tracer *r, enum hcw_end_reason reason);
/* Totals of all sources, and a hole record for each that lost records since the last look.
 * *lost: records lost so far, and processes that could not be watched. */
int note_totals(struct tracer *r, bool write_totals, unsigned long long *lost);
int note_samples(struct tracer *r);
/* Lets go of the names of functions, and says so, when they take more than their share. */
void symbols_fit(struct tracer *r);
/* Records of these times are in the ring still, and will not be read. */
int note_unread(struct tracer *r, __u64 from, __u64 to);

/* tracer_driver.c: drivers that are absent, come and go */
/* Says which one is missing; an error with `no_wait`. Before anything is written. */
int driver_start(struct tracer *r);
int driver_look(struct tracer *r);
/* Holes that are open still. */
int driver_end(struct tracer *r);

/* tracer_watch.c: what the stream tells us to look at */
int watch_record(struct tracer *r, const struct hcw_rec *rec);
/* Reads mappings that are due; `last_call` takes them even if their process has been quiet too
 * short. */
int watch_pending(struct tracer *r, bool last_call);
/* Attaches marks of files the watched processes have mapped since, when all of them may be touched.
 */
int watch_files(struct tracer *r);
/* The same for files known to carry marks, before anybody has mapped them. */
void watch_known_files(struct tracer *r);
/* The process's entry; it is looked at from now on. NULL when there are too many. */
struct watched *watch_process(struct tracer *r, __u32 tgid);

/* tracer_quiet.c: whether marks may be planted now */
bool quiet_everywhere(struct tracer *r);
/* Waits for it, a while; true at once when nobody uses KFD. */
bool quiet_wait(struct tracer *r);
/* Before marks are removed, which locks as planting does: waits as long as `go_on` says so. */
void quiet_before_end(struct tracer *r, bool (*go_on)(void *ctx), void *ctx);
/* Whether the process's memory may be read, as by /proc/PID/cmdline. */
bool quiet_process(struct tracer *r, pid_t pid);

/* tracer_target.c: the processes of -p */
/* Finds whom the filter names, before anything is attached; says on stderr what is not obvious. */
int target_resolve(struct tracer *r);
int target_start(struct tracer *r);
/* Whether all are gone for good. With `follow` successors are looked for, and taken when there are.
 */
bool target_over(struct tracer *r);
/* Reads the command lines by which successors are known, of those that are quiet. */
void target_identify(struct tracer *r);
/* Whom a reader of the trace is told: the first of all; 0 = nobody in particular. */
pid_t target_shown(const struct tracer *r);

/* tracer_filter.c: the processes of --comm and --cgroup, now and later */
/* Watches it, its children and the numbers it has in containers. */
int target_watch(struct tracer *r, pid_t pid);
/* Takes those at KFD that match and are not watched yet. */
int filter_look(struct tracer *r);
/* Where nobody is named: the numbers that those at KFD have in containers. */
void filter_number_all(struct tracer *r);
/* A process opened KFD: decides at once. */
int filter_announced(struct tracer *r, const struct hcw_task *task);
/* The record is about a process that was on trial, and not taken. */
bool filter_drops(const struct tracer *r, const struct hcw_rec *rec);

#endif
