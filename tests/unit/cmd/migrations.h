/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations made at will: the product's own programs on this machine's kernel, run by
 * BPF_PROG_TEST_RUN in the calling thread as if the tracepoints had fired. So it is known exactly
 * what happened.
 */
#ifndef TEST_CMD_MIGRATIONS_H
#define TEST_CMD_MIGRATIONS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <pthread.h>
#include <stdbool.h>
#include <cmocka.h>
#include "../../../user/probe/internal.h"

#define MIGRATIONS_SKIPPED 77

/* Whether BPF is permitted here; prints why not. */
bool migrations_possible(void);

/* A session that watches this process. `live`: its programs are attached, too, and see the threads
 * of this process end; else nothing but migrate_begin() and migrate_end() makes records. */
struct hcw_session *migrations_open(size_t ring_bytes, bool live);

/* The start of a run of migrate_pages(), and the end of one that moved `ok` pages. */
void migrate_begin(const struct hcw_session *s);
void migrate_end(const struct hcw_session *s, __u64 ok);

/* `n` migrations from thread to thread: number first, first + 1, … is the pages it moved. */
struct migrator {
	const struct hcw_session *session;
	__u64 first, n;
	pthread_t thread;
};

void migrator_start(struct migrator *m, const struct hcw_session *s, __u64 first, __u64 n);
void migrator_join(struct migrator *m);

struct hcw_totals migrations_total(struct hcw_session *s, __u32 type);

#endif
