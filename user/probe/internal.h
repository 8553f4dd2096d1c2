/* SPDX-License-Identifier: BSD-2-Clause */
/* What session.c and pump.c share. */
#ifndef HCW_PROBE_INTERNAL_H
#define HCW_PROBE_INTERNAL_H

#include <sys/stat.h>
#include "attach.h"
#include "session.h"
#include "targets.h"

struct hcw_marked_file {
	dev_t dev;
	ino_t ino;
};

struct hcw_session {
	struct hcw_calibration calibration;
	struct hcw_targets targets;
	struct hcw_attached attached;
	struct hcw_plan plan;
	struct ring_buffer *ring;
	struct hcw_marked_file *file; /* files looked at; their marks are attached */
	size_t files;
	hcw_record_fn fn; /* while pumping */
	void *ctx;
};

/* Makes the ring's reader. */
int hcw_pump_open(struct hcw_session *s);
void hcw_pump_close(struct hcw_session *s);

#endif
