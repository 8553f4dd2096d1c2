/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading the chosen programs and attaching them. */
#ifndef HCW_ATTACH_H
#define HCW_ATTACH_H

#include <bpf/libbpf.h>
#include "calibrate.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "hcwatch.skel.h"
#pragma GCC diagnostic pop

struct hcw_attached {
	struct hcw_bpf *skel;
	struct bpf_link **link;
	size_t links, room;
};

/* HCW_LIBBPF_DEBUG=1 in the environment: libbpf's messages and the verifier's go to stderr. */
bool hcw_libbpf_debug(void);

/*
 * Loads and attaches all chosen candidates of kernel points; marks are only loaded. 0 when every
 * chosen candidate is attached. -EAGAIN when some were refused: they are rejected in `c`, nothing
 * is attached, and another call will use what is chosen then. Any other error: BPF cannot be used.
 */
int hcw_attach_chosen(struct hcw_attached *a, struct hcw_calibration *c, size_t ring_bytes);

/* Attaches the program of a mark to a file, for every process that maps it. */
int hcw_attach_mark(struct hcw_attached *a, const struct hcw_hook *hook, const char *path);

struct bpf_program *hcw_hook_program(const struct hcw_attached *a, const struct hcw_hook *hook);

/* Detaches and unloads everything. */
void hcw_detach(struct hcw_attached *a);

#endif
