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

/* What is loaded and attached together: the points of the kernel itself, or those of one module. */
struct hcw_attached {
	const char *module; /* NULL: the kernel's, and the marks */
	struct hcw_bpf *skel;
	struct bpf_link **link;
	size_t links, room;
};

/* HCW_LIBBPF_DEBUG=1 in the environment: libbpf's messages and the verifier's go to stderr. */
bool hcw_libbpf_debug(void);

/* Whether a candidate belongs to it. */
bool hcw_attached_has(const struct hcw_attached *a, const struct hcw_calibration *c,
		      enum hcw_point p, size_t i);

/*
 * Loads and attaches all chosen candidates that are in `module` (NULL: in the kernel); marks are
 * only loaded. `shared`: whose maps it uses, NULL: its own, with a ring of `ring_bytes`. 0 when
 * every chosen candidate is attached. -EAGAIN when some were refused: they are rejected in `c`,
 * nothing is attached, and another call will use what is chosen then. Any other error: BPF cannot
 * be used.
 */
int hcw_attach_chosen(struct hcw_attached *a, struct hcw_calibration *c, const char *module,
		      const struct hcw_attached *shared, size_t ring_bytes);

/* Why the kernel would not have a program of this tier, in words. Writes into buf, returns it. */
const char *hcw_refusal(enum hcw_tier tier, int error, char *buf, size_t size);

/* Attaches the program of a mark to a file, for every process that maps it. */
int hcw_attach_mark(struct hcw_attached *a, const struct hcw_hook *hook, const char *path);

struct bpf_program *hcw_hook_program(const struct hcw_attached *a, const struct hcw_hook *hook);

/* The kernel skips a program that would interrupt itself; what it would have told is lost. */
__u64 hcw_hook_skipped(const struct hcw_attached *a, const struct hcw_hook *hook);

/* Detaches and unloads everything. */
void hcw_detach(struct hcw_attached *a);

#endif
