/* SPDX-License-Identifier: BSD-2-Clause */
/* Strict numbers: the whole string is the number, or it is an error. Leading blanks and signs are
 * errors. */
#ifndef HCS_NUM_H
#define HCS_NUM_H

#include <stdint.h>

/* Decimal. 0, or -EINVAL (not a number), -ERANGE (outside min..max). */
int hcs_num_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/*
 * Bytes with an optional unit: K, M, G, T are powers of 1024 (also KiB, MiB …), KB, MB, GB, TB
 * powers of 1000. Same errors as hcs_num_u64().
 */
int hcs_num_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* A time with unit ns, us, ms, s, m or h; a plain number is seconds. Result in ns. Decimals are
 * allowed ("1.5s"). */
int hcs_num_ns(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/*
 * A decimal number with up to 9 fraction digits, scaled: hcs_num_decimal("0.5", 1000000000, …) is
 * 500000000. For --pool-gb, where the unit is decimal GB. Rounds down.
 */
int hcs_num_decimal(const char *text, uint64_t scale, uint64_t min, uint64_t max, uint64_t *value);

#endif
