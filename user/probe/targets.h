/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What BTF says of the functions to probe, looked up once for all: the ids that fentry programs
 * attach to, and whether a function has the arguments our programs read.
 *
 * libbpf could find the ids (bpf_program__set_attach_target), but 1.1 searches the kernel's whole
 * BTF again for each module and each program: 3 s and more where modules are many and the machine
 * is slow. So the sections fentry and fexit have a handler of ours, which is process-wide: only one
 * session can be open at a time.
 */
#ifndef HCW_TARGETS_H
#define HCW_TARGETS_H

#include "calibrate.h"

struct hcw_target {
	__u32 btf_id; /* 0 = not known */
	int btf_fd;   /* of the module's BTF, 0 = the kernel's; closed by hcw_targets_close() */
};

struct hcw_targets {
	struct hcw_target target[HCW_MAX_CANDIDATES]; /* by hcw_candidate_index() */
	int handler[HCW_HOOKS];			      /* of libbpf */
};

/*
 * Looks up all candidates that are not rejected, and rejects those with other arguments, and fentry
 * ones without BTF. -ENODATA without BTF of the kernel, -EBADMSG when it is there and cannot be
 * read: then no program can be loaded.
 */
int hcw_targets_open(struct hcw_targets *t, struct hcw_calibration *c);

/* The same anew for what is in one module. */
int hcw_targets_module(struct hcw_targets *t, struct hcw_calibration *c, const char *module);

void hcw_targets_close(struct hcw_targets *t);

#endif
