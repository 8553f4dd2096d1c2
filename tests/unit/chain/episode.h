/* SPDX-License-Identifier: BSD-2-Clause */
/* An episode that others prolong, and what must hold for the length of any. */
#ifndef TEST_CHAIN_EPISODE_H
#define TEST_CHAIN_EPISODE_H

#include "stream.h"

#define SCANNER 600u
#define THIRD	700u
#define AROUND	MS(99)
#define STOPPED MS(100)

/* How the mover's call stops the server. */
extern const struct stop cast_start;

/* The usual server with a registered pool, stopped; SCANNER is a thread of it, THIRD is a process.
 */
void cast_begin(struct stream *s);

/* Passes number `from` up to `to` of three, from 102, 121 and 141 to 120, 140 and 160 ms; two are
 * thrown away, the last one ends the episode. */
void cast_passes(struct stream *s, int from, int to);

/* NUMA scanning in the pool. */
void cast_scan(struct stream *s, unsigned int ms, __u32 tid, __u32 count);

/* Equal but for the rounding of doubles. */
void assert_close(double a, double b);

/* The parts are the length from its start to `end`, and the shares no more than the passes thrown
 * away. */
void check_sum(const struct hcw_episode *e, __u64 end);

/* `ns` within 100 ns: a division has a remainder. */
void check_prolonger(const struct hcw_prolonger *p, __u32 tid, enum hcw_cause cause,
		     __u64 invalidations, double passes, __u64 ns);

#endif
