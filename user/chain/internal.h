/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the chain only. */
#ifndef HCW_CHAIN_INTERNAL_H
#define HCW_CHAIN_INTERNAL_H

#include "chain.h"
#include "stats.h"

/* Limits of the tables; beyond them model.dropped counts. */
#define HCW_MAX_TASKS	 (1u << 16)
#define HCW_MAX_ATTEMPTS (1u << 20)
#define HCW_MAX_EPISODES (1u << 20)
#define HCW_MAX_STALLS	 (1u << 16)
#define HCW_MAX_POOLS	 (1u << 12) /* looked through for each attempt */
#define HCW_MAX_VICTIMS	 (1u << 12)
#define HCW_MAX_HOLES	 (1u << 16)
#define HCW_MAX_STACKS	 (1u << 12)
#define HCW_MAX_REQUESTS 16 /* the last ones */
#define HCW_OPEN_ITERS	 64 /* iterations of one process under way at once */
#define HCW_KNOWN_RANGES 16 /* registered ranges of one process that were hit, the last ones */

/* enum KFD_QUEUE_EVICTION_TRIGGERS, the same in 6.1 .. 7.3; up to this one a notifier did it */
#define HCW_TRIGGER_USERPTR 1u

struct thread_slot {
	struct hcw_task task; /* tid 0 = free slot */
	int attempt;	      /* index of the attempt this thread is in, -1 = none */
	__u64 attempt_start;
	__u64 hit;	   /* mm of this thread's last invalidation outside an attempt, 0 = none */
	__u64 prolongs;	   /* attempt that prolonged episodes under a cause not final, 0 = none */
	int prolongs_from; /* the first of those episodes */
	__u64 iter;	   /* id of its last iteration begun */
	bool iter_seen;
};

struct open_iter {
	__u64 id, start;
	__u32 tid;   /* 0 = free */
	bool unique; /* the thread's ids rise: an end with this id can only be this one's */
};

struct ledger; /* prolong.h */

/* What the model does not show of a victim. Same index as model.victims. */
struct victim_state {
	int open, last;	    /* episode indices, -1 = none */
	__u32 depth;	    /* evictions not yet restored */
	__u64 before_since; /* first sign of an episode that began before the recording */
	__u64 work;	    /* restore work of the process, 0 = not seen */
	struct open_iter iter[HCW_OPEN_ITERS];
	struct hcw_hist *hist, *calm; /* calm: without those that overlap an episode,
					 their own or one of their group */
	__u64 calm_max;
	struct ledger *ledger_open, *ledger_last; /* of the episodes `open` and `last` */
	struct {
		__u64 lo, hi;
	} range[HCW_KNOWN_RANGES];
	unsigned int n_ranges;
};

struct request {
	__u64 ts, mm;
	__u32 kind;
	struct hcw_actor actor;
};

struct stack_names {
	__s32 id;
	__u32 depth;
	char *names;
	size_t len;
};

struct hcw_chain {
	struct hcw_model model;
	unsigned int sources;
	bool one_group;
	__u64 iter_hole; /* end of the last hole that marks of iterations may have fallen into */
	struct request requests[HCW_MAX_REQUESTS]; /* a ring, by n_requests */
	size_t n_requests;
	struct stack_names *stacks;
	size_t n_stacks, cap_stacks;
	struct thread_slot *threads; /* open addressing by tid */
	size_t n_threads, cap_threads;
	struct victim_state *victims; /* beside model.victims */
	size_t cap_attempts, cap_episodes, cap_stalls, cap_pools, cap_victims, cap_holes;
};

/* Makes room for one more element; false when the limit is reached or memory is short, then
 * *dropped is counted up. */
bool chain_room(void *array, size_t *cap, size_t n, size_t max, size_t size, __u64 *dropped);

/* Copies a body into *out, zeroing what an older writer did not write. */
void chain_body(const struct hcw_rec *rec, void *out, size_t size);

/* tasks.c */
struct thread_slot *chain_thread(struct hcw_chain *c,
				 __u32 tid); /* made when new; NULL when full */
struct thread_slot *chain_thread_find(const struct hcw_chain *c, __u32 tid); /* NULL = not known */
void chain_actor(struct hcw_chain *c, __u32 tid, struct hcw_actor *out);
/* Index of the victim, made when new; -1 when full. mm 0 and tgid 0 mean "not known". */
int chain_victim(struct hcw_chain *c, __u32 tgid, __u64 mm);
/* The same without making one; -1 when it is not known. */
int chain_victim_find(struct hcw_chain *c, __u32 tgid, __u64 mm);
void chain_task(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_task_exit(struct hcw_chain *c, const struct hcw_rec *rec);

/* join.c */
int chain_attempt(struct hcw_chain *c, __u32 tid,
		  __u64 start); /* index, made when new; -1 when full */
void chain_move_pages(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_migrate(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_inval(struct hcw_chain *c, const struct hcw_rec *rec);

/* episodes.c */
void chain_quiesce(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_resume(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_evict(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_restore(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_pass(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_victim_died(struct hcw_chain *c, int victim, __u64 ts);
/* `tid` 0 = who started it is not known. NULL when the table is full. */
struct hcw_episode *chain_episode_open(struct hcw_chain *c, int victim, __u32 tid, __u64 start);
/* `via` counts outside a migration only. */
enum hcw_cause chain_cause(const struct hcw_chain *c, __u32 trigger, __u32 reason, __u32 via,
			   bool is_move_pages);
/* Books an iteration on every episode of the victim that it overlaps. Returns the one it overlaps
 * longest, -1 = none. */
int chain_episodes_under(struct hcw_chain *c, int victim, __u64 start, __u64 end, bool stall);

/* before.c: episodes open when the recording started. `sign` is the type of the record that shows
 * one, `since` when its queues were stopped for sure. */
/* Opens such an episode, if the victim can have one; tgid 0 = the mm's owner. Returns the victim,
 * -1 = it has none. */
int chain_before(struct hcw_chain *c, __u32 tgid, __u64 mm, enum hcw_record_type sign, __u64 since);
/* Queues run again: the victim whose open episode that ends, opened just now if it began before. -1
 * = none; a restore that should have had one is counted. */
int chain_restored(struct hcw_chain *c, __u32 tgid, __u64 mm, enum hcw_record_type sign,
		   __u64 since);
/* A stop whose record came after the first sign of its end: returns the episode, which is no longer
 * one from before; -1 = there is none. */
int chain_before_started(struct hcw_chain *c, int victim, __u32 tid, __u64 start);
/* Records from this time on are missing: a start among them begins with its first sign. */
void chain_before_lost(struct hcw_chain *c, __u64 from);

/* prolong.c: a ledger for each victim's open and last episode. */
void chain_prolong_open(struct hcw_chain *c, int v, int ep);
void chain_prolong_close(struct hcw_chain *c, int v); /* the open one is the last one now */
void chain_prolong_pass(struct hcw_chain *c, int v, int ep, const struct hcw_pass *p, __u64 end);
void chain_prolong_inval(struct hcw_chain *c, int v, int ep, __u32 tid, const struct hcw_inval *in);
/* A registered range of this victim was seen. */
void chain_prolong_range(struct hcw_chain *c, int v, __u64 lo, __u64 hi);
/* An eviction nested in the open episode: for a cause known now, and by a notifier. */
void chain_prolong_nested(struct hcw_chain *c, int v, enum hcw_cause cause);
void chain_prolong_nested_hit(struct hcw_chain *c, int v, __u32 tid, const struct hcw_quiesce *q);
/* Divides the length of the episode anew; after any change of its times. */
void chain_prolong_publish(struct hcw_chain *c, int v, int ep);
/* culprits.c: the attempt ended, and this was its cause. */
void chain_prolong_attempt(struct hcw_chain *c, __u32 tid, __u64 attempt, enum hcw_cause cause);

/* requests.c */
void chain_request(struct hcw_chain *c, const struct hcw_rec *rec);
/* Who asked for what started this episode; after any change of its cause. */
void chain_initiator(const struct hcw_chain *c, struct hcw_episode *e);

/* clocks.c */
void chain_clock(struct hcw_chain *c, const struct hcw_rec *rec);

/* stacks.c */
void chain_stack(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_stacks_free(struct hcw_chain *c);

/* costs.c: what hcw_chain_finish() sums up. */
void chain_costs(struct hcw_chain *c);

/* stalls.c */
void chain_iter(struct hcw_chain *c, const struct hcw_rec *rec);
/* The thread is gone: what it began it will not end. */
void chain_iter_abandon(struct hcw_chain *c, __u32 tgid, __u32 tid);

/* pools.c */
void chain_pool_alloc(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_pool_free(struct hcw_chain *c, const struct hcw_rec *rec);
void chain_mapping(struct hcw_chain *c, const struct hcw_rec *rec);
/* Books a complete move_pages attempt on the pools it meets. */
void chain_pool_attempt(struct hcw_chain *c, int attempt);
/* Index of the first pool by address of `tgid`, alive at `ts`, that meets [lo, hi); -1 = none. */
int chain_pool_at(const struct hcw_chain *c, __u32 tgid, __u64 lo, __u64 hi, __u64 ts);
/* Counts the episode, once, on every such pool. */
void chain_pools_hit(struct hcw_chain *c, int ep, __u64 lo, __u64 hi, __u64 ts);
/* Adds to their time that of an episode whose own range meets them. */
void chain_pools_time(struct hcw_chain *c, const struct hcw_episode *e, __u64 ns);
/* Does [lo, hi) meet a pool of `tgid` alive at `ts` that may be under a notifier? */
bool chain_pool_registered(const struct hcw_chain *c, __u32 tgid, __u64 lo, __u64 hi, __u64 ts);
/* The process ended or was replaced by exec: what it held is gone. */
void chain_pools_gone(struct hcw_chain *c, __u32 tgid, __u64 ts);

/* verdict.c */
void chain_verdicts(struct hcw_chain *c);

#endif
