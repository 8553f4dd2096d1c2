/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the recorder only. */
#ifndef HCW_RECORDER_INTERNAL_H
#define HCW_RECORDER_INTERNAL_H

#include "../probe/session.h"
#include "../sys/kallsyms.h"
#include "../trace/trace.h"
#include "child.h"
#include "recorder.h"

#define HCW_NOTE_MAX	16384 /* bytes of body of a record we write */
#define REC_MAX_PENDING 256   /* pools whose mapping is still to be read */
#define REC_MAX_STACKS	4096  /* stack ids named */
#define REC_MAX_WATCHED 64    /* processes whose evicted_ms and files are looked at */
#define REC_QUIET_NS                                                                 \
	1000000000ull /* after an episode, before smaps or uprobes touch its process \
		       */

struct pending_pool {
	__u64 ptr, bytes;
	__u32 tgid;
};

/* A process that the records are about. */
struct watched {
	__u32 tgid;
	__u64 mm;
	unsigned int evicted; /* quiesces not yet resumed */
	__u64 last_evicted;   /* ts of the last quiesce or resume */
	bool files_seen;      /* its mapped files were looked at after it settled */
};

struct recorder {
	const struct recorder_opts *opts;
	struct hcw_session *session;
	struct hcw_writer *writer;
	struct hcw_child child;
	struct hcs_kallsyms *symbols; /* loaded with the first stack */
	int root;
	struct pending_pool pending[REC_MAX_PENDING];
	size_t n_pending;
	struct watched watched[REC_MAX_WATCHED];
	size_t n_watched;
	unsigned char stack_named[REC_MAX_STACKS];
	struct hcw_totals last[HCW_R_BPF_COUNT]; /* for holes */
	__u64 last_look;			 /* when `last` was read */
	__u64 next_tick;
	size_t marks; /* USDT marks attached so far */
	struct hcw_err *err;
};

/* recorder_notes.c: records of the user side */
int note_put(struct recorder *r, enum hcw_record_type type, const void *body, size_t len);
int note_header(struct recorder *r);
int note_clock(struct recorder *r);
int note_end(struct recorder *r, enum hcw_end_reason reason);
/* Totals of all sources, and a hole record for each that lost records since the last look. */
int note_totals(struct recorder *r, bool write_totals, unsigned long long *lost);
int note_samples(struct recorder *r);
int note_task_info(struct recorder *r, __u32 tgid);

/* recorder_watch.c: what the stream tells us to look at */
int watch_record(struct recorder *r, const struct hcw_rec *rec);
/* Reads mappings that are due; `last_call` takes them even if their process has been quiet too
 * short. */
int watch_pending(struct recorder *r, bool last_call);
/* Attaches marks of files the watched processes have mapped since. */
int watch_files(struct recorder *r);
struct watched *watch_find(struct recorder *r, __u32 tgid, __u64 mm);

#endif
