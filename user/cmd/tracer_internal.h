/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the tracer only. */
#ifndef HCW_TRACER_INTERNAL_H
#define HCW_TRACER_INTERNAL_H

#include <limits.h>
#include "../probe/session.h"
#include "../sys/kallsyms.h"
#include "child.h"
#include "tracer.h"
#include "watched.h"

#define TRACER_NOTE_MAX	   16384 /* bytes of body of a record we make */
#define TRACER_MAX_PENDING 256	 /* pools whose mapping is still to be read */
#define TRACER_MAX_STACKS  4096	 /* stack ids named */

struct pending_pool {
	__u64 ptr, bytes;
	__u32 tgid;
};

/* What a successor of the watched process is known by. */
struct identity {
	char exe[PATH_MAX];
	char cmdline[512];
};

struct tracer {
	const struct tracer_opts *opts;
	struct hcw_session *session;
	struct hcw_child child;
	struct hcs_kallsyms *symbols; /* for the names of stacks; NULL when they cannot be read */
	int root;
	pid_t pid;	      /* followed now, 0 = none, or waiting for a successor */
	pid_t last_pid;	      /* the last one followed */
	uint64_t start_ticks; /* of `pid`: with it the identity of a process */
	struct identity identity;
	__u64 next_search; /* for a successor */
	struct pending_pool pending[TRACER_MAX_PENDING];
	size_t n_pending;
	struct watched_table watched;
	__u64 since;	  /* when tracing began */
	bool known_files; /* looked for marks where they are known to be */
	bool ready;	  /* the ready file was made */
	unsigned char stack_named[TRACER_MAX_STACKS];
	struct hcw_totals last[HCW_R_BPF_COUNT]; /* for holes */
	__u64 last_look;			 /* when `last` was read */
	__u64 next_tick;
	__u64 records; /* given to the sink */
	size_t marks;  /* USDT marks attached so far */
	bool failed_sink;
	struct hcw_err *err;
};

/* tracer.c: the only way to the sink */
int tracer_put(struct tracer *r, const struct hcw_rec *rec, const void *body);

/* tracer_notes.c: records of the user side */
int note_put(struct tracer *r, enum hcw_record_type type, const void *body, size_t len);
int note_header(struct tracer *r);
int note_clock(struct tracer *r);
int note_end(struct tracer *r, enum hcw_end_reason reason);
/* Totals of all sources, and a hole record for each that lost records since the last look. */
int note_totals(struct tracer *r, bool write_totals, unsigned long long *lost);
int note_samples(struct tracer *r);

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

/* tracer_target.c: the process of -p */
int target_start(struct tracer *r, pid_t pid);
/* Whether it is gone for good. With `follow` a successor is looked for, and taken when there is
 * one. */
bool target_over(struct tracer *r);

#endif
