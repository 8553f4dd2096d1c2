/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger of one episode: its last restore passes and the invalidations that met them, from
 * which the length of the episode is divided (model.h says how).
 *
 * Records come in any of two orders: an invalidation before the pass it overtook (the pass is told
 * at its end) or after it (flushed late). So passes wait for invalidations and invalidations for
 * passes, each up to a bound; what falls out of it is settled for good.
 */
#ifndef HCW_CHAIN_PROLONG_H
#define HCW_CHAIN_PROLONG_H

#include "internal.h"

#define LEDGER_PASSES	32
#define LEDGER_PENDING	128
#define LEDGER_CULPRITS 32
#define LEDGER_CHARGES	7		/* named actors of one pass */
#define LEDGER_OTHERS	LEDGER_CULPRITS /* + cause: index of those who found no room, never named */
#define LEDGER_PLACES	(LEDGER_OTHERS + HCW_CAUSE_COUNT)

/* One (thread, cause), or one thread inside an attempt whose cause is not final yet. */
struct culprit {
	bool used;
	bool nested; /* evicted queues that were stopped already */
	struct hcw_actor actor;
	enum hcw_cause cause;
	__u64 attempt; /* start of the attempt that may name the cause, 0 = final */
	__u64 invalidations;
};

/* Invalidations of one culprit during one pass. */
struct charge {
	unsigned int who;
	__u64 known; /* those that met a registered range */
	__u64 other;
};

struct kept_pass {
	__u64 start, end;
	bool thrown;
	unsigned int n_charges;
	struct charge charge[LEDGER_CHARGES + HCW_CAUSE_COUNT];
};

/* Invalidations that lie in no pass told so far. */
struct pending_inval {
	__u64 start, last;
	__u64 known, other;
	unsigned int who;
};

/* Where the time goes. */
struct account {
	__u64 started, rest;
	__u64 ns[LEDGER_PLACES];
	double passes[LEDGER_PLACES];
};

struct ledger {
	int episode;
	__u32 nested_causes; /* of the driver's own evictions, and of final culprits */
	struct culprit culprit[LEDGER_PLACES];
	struct kept_pass pass[LEDGER_PASSES]; /* by end */
	unsigned int n_passes;
	struct pending_inval pending[LEDGER_PENDING];
	unsigned int n_pending;
	/* passes no longer kept */
	bool has_settled;
	__u64 first_end; /* of the first one */
	struct kept_pass settled_last;
	struct account settled; /* from first_end to the end of settled_last */
};

/* culprits.c */
/* Index of who did this, made when new; LEDGER_OTHERS + cause when full. */
unsigned int culprit_of(struct hcw_chain *c, struct ledger *l, __u32 tid, enum hcw_cause cause,
			__u64 attempt);
/* Divides `left` ns of the episode among the culprits; what they do not take is its rest. */
void culprits_publish(const struct ledger *l, const struct account *a, struct hcw_episode *e,
		      __u64 left);
/* A cause is final unless the attempt's own record may still say that it was move_pages. */
bool culprit_open(__u64 attempt, __u32 reason);

#endif
