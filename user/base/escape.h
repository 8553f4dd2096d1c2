/* SPDX-License-Identifier: BSD-2-Clause */
/* Untrusted strings (comm, paths, trace content) made fit for a terminal. JSON is escaped by
 * jansson. */
#ifndef HCW_ESCAPE_H
#define HCW_ESCAPE_H

#include <stddef.h>

/*
 * Copies `in` (NUL terminated or `len` bytes) to out: printable UTF-8 stays, control characters,
 * escape sequences, bidirectional overrides and bytes that are not UTF-8 become \xNN. Always NUL
 * terminated; cut (with "...") when it does not fit. Returns out, so it can stand in a printf.
 */
const char *hcw_escape(char *out, size_t size, const char *in, size_t len);

/*
 * A string that jansson accepts: bytes that are not UTF-8 become U+FFFD. Same contract as
 * hcw_escape().
 */
const char *hcw_utf8(char *out, size_t size, const char *in, size_t len);

#endif
