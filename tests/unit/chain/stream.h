/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synthetic record streams for the chain: well-formed records with explicit times, written into a
 * chain as a recorder would have. All times are ns; MS() makes them from milliseconds.
 */
#ifndef TEST_CHAIN_STREAM_H
#define TEST_CHAIN_STREAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "chain.h"

#define MS(x)	      ((__u64)(x)*1000000u)

#define ALL_SOURCES   0xfffeu
#define BIT_OF(type)  (1u << (type))
#define WITHOUT(type) (ALL_SOURCES & ~BIT_OF(type))

/* The usual cast: a server that moves its own pool, and the kworker that restores its queues. */
#define SERVER	   100u
#define MOVER	   101u /* a thread of the server */
#define KWORKER	   7u
#define MM	   0xffff888000001000ull
#define WORK	   0xffff888000002000ull
#define POOL	   0x7f0000000000ull
#define POOL_BYTES (64ull << 20)
#define PAGE	   4096u

/* enum KFD_QUEUE_EVICTION_TRIGGERS */
#define BY_USERPTR 1u
#define BY_TTM	   2u

#define MR_SYSCALL 3u

struct stream {
	struct hcw_chain *chain;
	unsigned int sources;
};

/* One stop of the queues as the kernel makes it; 0 in tid, victim and mm means the usual cast. */
struct stop {
	__u64 start, end; /* of kgd2kfd_quiesce_mm() */
	__u32 tid, victim;
	__u64 mm;
	__u64 attempt;
	__u32 reason; /* enum migrate_reason, used when attempt is set */
	__u32 via;    /* enum hcw_via */
	__u32 trigger;
	__u64 lo, hi;
};

/* Invalidations of the server's pages, from `start` to `last`; hi 0 means pages of its pool. */
struct hit {
	__u64 start, last;
	__u32 tid, count;
	__u64 attempt;
	__u32 reason; /* enum migrate_reason, used when attempt is set */
	__u32 via;    /* enum hcw_via */
	__u64 lo, hi;
};

void stream_open(struct stream *s, unsigned int sources);
void stream_close(struct stream *s);

/* Ends the trace at `ts`, fixes the verdicts and returns the model. */
const struct hcw_model *stream_end(struct stream *s, __u64 ts);

/* One record with this body; of a BPF source that is not attached there is none. */
void stream_put(struct stream *s, enum hcw_record_type type, __u64 ts, __u32 tid, const void *body,
		size_t len);

void stream_task(struct stream *s, __u64 ts, __u32 tid, __u32 tgid, __u64 mm, const char *comm);
/* The leader ends last; stream_leave() says who does. */
void stream_exit(struct stream *s, __u64 ts, __u32 tid, __u32 tgid);
void stream_leave(struct stream *s, __u64 ts, __u32 tid, __u32 tgid, bool last);
void stream_pool(struct stream *s, __u64 ts, __u32 tgid, __u64 ptr, enum hcw_backing backing);
void stream_pool_free(struct stream *s, __u64 ts, __u32 tgid, __u64 ptr);
void stream_mapping(struct stream *s, __u64 ts, __u64 pool, __u64 lo, __u64 hi, __u32 vmflags);
void stream_hole(struct stream *s, __u64 from, __u64 to, __u64 count, __u32 source);
void stream_hit(struct stream *s, __u64 ts, const struct hit *hit);
/* The same, made by move_pages() or by no migration; `ts` is the last one's, too. */
void stream_inval(struct stream *s, __u64 start, __u64 ts, __u32 tid, __u64 attempt, __u32 count);
void stream_migrate(struct stream *s, __u64 start, __u64 ts, __u32 tid, __u64 attempt, __u64 ok);
void stream_pass(struct stream *s, __u64 start, __u64 ts, __u64 mm, __u64 work, bool resumed);
void stream_iteration(struct stream *s, __u64 start, __u64 end, __u32 tgid);
/* `n` iterations of `each` ns, one after the other, ending at `end`. */
void stream_warm_up(struct stream *s, __u64 end, __u32 tgid, unsigned int n, __u64 each);

/* kfd_process_evict_queues() inside kgd2kfd_quiesce_mm(). */
void stream_stop(struct stream *s, const struct stop *stop);
/* kfd_process_restore_queues() inside kgd2kfd_resume_mm(), likewise; `ts` is the resume's end. */
void stream_restart(struct stream *s, __u64 ts, __u32 victim, __u64 mm);
/* An eviction or a restore that no quiesce or resume encloses. */
void stream_evict(struct stream *s, __u64 start, __u64 ts, __u32 victim, __u64 mm, __u32 trigger);
void stream_restore(struct stream *s, __u64 ts, __u32 victim, __u64 mm);

void stream_request(struct stream *s, __u64 ts, __u32 tid, enum hcw_request_kind kind, __u64 mm);
/* `names`: `depth` of them, each NUL terminated, `len` bytes in all. */
void stream_stack(struct stream *s, __s32 id, __u32 depth, const char *names, size_t len);

/* What move_pages() answered: `n` pages from the start of `pool`, all refused or all moved. */
struct hcw_move_pages stream_refused(__u64 start, __u64 pool, __u32 n);
struct hcw_move_pages stream_moved(__u64 start, __u64 pool, __u32 n);
/* The call, and the migration inside it of every page that answered with a node. */
void stream_move(struct stream *s, __u64 ts, __u32 tid, const struct hcw_move_pages *mp);
/* The call alone. */
void stream_answer(struct stream *s, __u64 ts, __u32 tid, const struct hcw_move_pages *mp);

/* The first records of a trace, at FIRST, of a server that is older than it. */
#define FIRST 1000u
void stream_old_server(struct stream *s);

/* The server appears, with a pool of this backing and the mapping that goes with it. */
void stream_server(struct stream *s, enum hcw_backing backing);

#endif
