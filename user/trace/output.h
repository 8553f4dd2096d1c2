/* SPDX-License-Identifier: BSD-2-Clause */
/* The file a trace is written to: whole blocks or nothing. Internal to hctrace. Negative errno on
 * failure. */
#ifndef HCW_TRACE_OUTPUT_H
#define HCW_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hcw_output {
	int fd;
	bool can_cut; /* a regular file: a block that failed is cut off again */
	off_t end;    /* of the last whole block */
};

/* "-" is stdout; anything else is created, O_EXCL and 0600. */
int hcw_output_open(struct hcw_output *o, const char *path);

/* Writes all of it. SIGPIPE and SIGXFSZ of the write are swallowed and come back as -EPIPE, -EFBIG.
 */
int hcw_output_block(struct hcw_output *o, const void *block, size_t size);

int hcw_output_close(struct hcw_output *o);

#endif
