/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of `hcwatch doctor`: what is read, and what follows from it. All of it can be given another
 * root than "/", so that tests can make up hosts. */
#ifndef HCW_DOCTOR_INTERNAL_H
#define HCW_DOCTOR_INTERNAL_H

#include "../out/doctor.h"
#include "../probe/plan.h"
#include "../sys/vm.h"

#define DOCTOR_READ_MS 500 /* for each look at the system */

/* What was read of the memory management; each with 0 or its error. */
struct doctor_vm {
	struct hcs_vm_value value[HCS_VM_COUNT];
	int error[HCS_VM_COUNT];
	struct hcs_swap swap;
	int swap_error;
	int nodes; /* nodes with memory; -ENOENT: a kernel without NUMA, other: could not be read */
};

/* What was tried before the checks are made. */
struct doctor_attempt {
	bool denied;	     /* the kernel refused BPF altogether for want of a right */
	int symbols_error;   /* of reading kallsyms */
	bool symbols_hidden; /* every address read 0 */
	int kprobe, uprobe;  /* hcs_perf_probe_right() */
	__u64 memlock;	     /* RLIMIT_MEMLOCK, bytes; ~0 = no limit */
};

/* ---- doctor_host.c ---- */
void doctor_read_host(struct doctor_host *out, int root);

/* Why an errno says that something could not be read. */
const char *doctor_why(int error);

/* ---- doctor_rules.c: settings in words, and which are findings ---- */
size_t doctor_settings(struct doctor_setting out[DOCTOR_MAX_SETTINGS], const struct doctor_vm *vm);

/* ---- doctor_checks.c: what stands in the way of tracing, and what each capability buys ---- */
void doctor_read_checks(struct doctor_probes *out, int root, const struct doctor_attempt *tried);

/* ---- doctor_probes.c ---- */

/* The plan in the renderers' form. */
void doctor_take_plan(struct doctor_probes *out, const struct hcw_plan *plan);

#endif
