/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a session share. */
#ifndef HCW_PROBE_INTERNAL_H
#define HCW_PROBE_INTERNAL_H

#include <sys/stat.h>
#include "attach.h"
#include "session.h"
#include "targets.h"

#define HCW_KALLSYMS_MS                                                           \
	60000 /* half a second, but an emulated or busy machine may take its time \
	       */

struct hcw_marked_file {
	dev_t dev;
	ino_t ino;
};

/* A module with functions to probe. */
struct hcw_driver {
	const char *name;
	uint64_t id;	    /* of the load that is attached: hcs_module_id() */
	bool attached;	    /* what there is of it is probed */
	bool told;	    /* that it is absent */
	unsigned int types; /* of records that miss while it is absent */
	__u64 seen;	    /* when it was last known to be as `attached` says */
	__u64 absent_since; /* last sign of it, or the start of the session */
	struct hcw_attached stage;
};

/* Runs of programs that the kernel skipped, by record type. An end that is skipped may be counted
 * by the programs too, as a start that was left open: the two are kept apart. */
struct hcw_skipped {
	__u64 starts[HCW_R_BPF_COUNT], ends[HCW_R_BPF_COUNT];
};

struct hcw_session {
	struct hcw_calibration calibration;
	struct hcw_targets targets;
	struct hcw_attached attached; /* the kernel's own points; has the maps of all */
	struct hcw_driver driver[HCW_MODULES];
	bool long_running;
	struct hcw_skipped skipped; /* by programs that are detached again */
	struct hcw_plan plan;
	struct hcw_limits limits; /* as last looked at; see pump.c */
	struct ring_buffer *ring;
	struct hcw_marked_file *file; /* files looked at; their marks are attached */
	size_t files;
	hcw_record_fn fn; /* while pumping */
	void *ctx;
};

/* session.c: loads and attaches what is chosen of one module (NULL: the kernel itself). */
int hcw_session_attach_stage(struct hcw_session *s, struct hcw_attached *stage, const char *module,
			     size_t ring_bytes);

/* driver.c: the modules that are there are attached; nothing of them is an error. */
void hcw_drivers_open(struct hcw_session *s, int root);
void hcw_drivers_close(struct hcw_session *s);

/* Where a candidate's programs are loaded. */
const struct hcw_attached *hcw_session_stage(const struct hcw_session *s, enum hcw_point p,
					     size_t i);

/* skipped.c: adds what was skipped of a chosen candidate's programs, loaded in `a`. */
void hcw_skipped_add(struct hcw_skipped *s, const struct hcw_attached *a, enum hcw_point p,
		     size_t i);

/* Records of a type that were lost by it; `unended`: starts that were found left open. */
__u64 hcw_skipped_records(const struct hcw_skipped *s, __u32 type, __u64 unended);

/* Makes the ring's reader. */
int hcw_pump_open(struct hcw_session *s);
void hcw_pump_close(struct hcw_session *s);

#endif
