/* SPDX-License-Identifier: BSD-2-Clause */
/* One function per thing that happens, each making the records a recorder would have. Times are
 * given in ms since the start of the trace. */
#ifndef TEST_TRACES_PUT_H
#define TEST_TRACES_PUT_H

#include "../../../user/trace/trace.h"

#define T0	1000000000000ull /* CLOCK_BOOTTIME of the start; 10:14:00 UTC */
#define AT(ms_) (T0 + (__u64)((ms_)*1e6))

/* Records in any order; trace_close() sorts them by time, as a recorder gets them. */
struct trace;

struct trace *trace_new(void);
/* Writes the file, which must not exist yet, and frees the trace. 0 or a negative errno. */
int trace_close(struct trace *w, const char *path);

struct process {
	__u32 pid;
	__u64 mm;
	const char *comm;
};

struct mover {
	__u32 tid, tgid;
	__u64 mm; /* 0 = kernel thread */
	const char *comm;
};

/* What stops the queues of `victim`, from `start` for `took` ms, inside `attempt` (ms, < 0: no
 * migration). */
struct stop {
	const struct process *victim;
	const struct mover *by;
	double start, took, attempt;
	__u32 reason, trigger, via;
	__s32 stack;
	__u64 lo, hi;
};

void put(struct trace *w, enum hcw_record_type type, __u64 ts, __u32 tid, const void *body,
	 size_t size);
/* `missing`: names of probe points that are not active, each with a blank before and behind. */
void put_header(struct trace *w, const char *driver, unsigned int gpus, __u32 target,
		const char *missing, const char *why);
void put_end(struct trace *w, double ts);
void put_thread(struct trace *w, double ts, const struct mover *m);
void put_process(struct trace *w, double ts, const struct process *p);
void put_pool(struct trace *w, double ts, const struct process *p, __u64 ptr, __u64 bytes,
	      enum hcw_backing backing);
void put_stack(struct trace *w, double ts, __s32 id, const char *const names[]);
void put_stop(struct trace *w, const struct stop *s);
void put_restart(struct trace *w, double start, double took, const struct process *p);
void put_pass(struct trace *w, double start, double end, const struct process *p, bool thrown);
void put_inval(struct trace *w, double start, double end, const struct stop *s, __u32 count);
void put_migrate(struct trace *w, double attempt, double start, double end, const struct mover *m,
		 __u32 reason, __u64 pages);
void put_move_pages(struct trace *w, double start, double end, const struct mover *m, __u64 ptr,
		    __u32 pages, bool refused);
void put_iterations(struct trace *w, double start, double each, unsigned int n,
		    const struct process *p);
void put_hole(struct trace *w, double from, double to, __u64 count, __u32 source,
	      enum hcw_hole_cause cause);
void put_totals(struct trace *w, double ts, __u32 source, __u64 emitted, __u64 lost);
/* The same for runs of a program that were skipped, and one end without a start. */
void put_skipped(struct trace *w, double ts, __u32 source, __u64 emitted, __u64 skipped);
void put_limits(struct trace *w, double ts, const struct hcw_limits *l);

#endif
