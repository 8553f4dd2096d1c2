/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that `record` and `live` share: whom to trace, and how. */
#ifndef HCW_TRACER_OPTIONS_H
#define HCW_TRACER_OPTIONS_H

#include <argp.h>

/* An argp child; its input is a struct tracer_opts. */
extern const struct argp tracer_options;

/* Gives a command's parser its child: call it with the command's state at ARGP_KEY_INIT. */
void tracer_options_start(struct argp_state *state, void *opts);

#endif
