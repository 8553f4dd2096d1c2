/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people read them. Each writes into buf (at least 32 bytes) and returns it. */
#ifndef HCW_FMT_H
#define HCW_FMT_H

#include <stddef.h>
#include <stdio.h>
#include "../../bpf/hcwatch_abi.h"

#define FMT_LEN 32

const char *fmt_ms(char *buf, __u64 ns);       /* "391.8": milliseconds, one decimal */
const char *fmt_duration(char *buf, __u64 ns); /* "391.8 ms", "64.16 s", "42 min 10 s" */
const char *fmt_bytes(char *buf, __u64 bytes); /* "180.0 GB": decimal, as --hicache-size counts */
const char *fmt_clock(char *buf, __u64 ts, __s64 realtime_offset); /* "10:14:02.118", local time */

/*
 * Prints text after `head`, broken at blanks so that no line is longer than 80 columns; later lines
 * start under the first. A word that is longer than a line stays whole.
 */
void fmt_wrap(FILE *f, const char *head, const char *text);

/* The same for a head of `indent` columns that is printed already. */
void fmt_wrap_at(FILE *f, size_t indent, const char *text);

#endif
