/* SPDX-License-Identifier: BSD-2-Clause */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "result.h"

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static json_t *address(const void *ptr)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(uintptr_t)ptr);
	return json_string(text);
}

static json_t *device(const struct stall_result *r)
{
	json_t *gpus = json_array();
	int i;

	for (i = 0; i < r->gpus; i++)
		json_array_append_new(gpus, json_pack("{s:i, s:s}", "render", (int)r->gpu[i].minor,
						      "driver", r->gpu[i].driver));
	return json_pack("{s:s, s:s, s:b, s:o}", "name", r->device_name, "driver", r->driver,
			 "simulated", r->simulated, "gpus", gpus);
}

static json_t *nodes(const struct stall_result *r)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < r->nodes; i++)
		json_array_append_new(list, json_integer(r->node[i]));
	return list;
}

static json_t *evicted(const struct stall_evicted *e)
{
	json_t *by_gpu;
	char gpuid[16];
	int i;

	if (e->count < 0)
		return json_null();
	by_gpu = json_object();
	for (i = 0; i < e->count; i++) {
		snprintf(gpuid, sizeof(gpuid), "%u", e->gpu[i].gpuid);
		json_object_set_new(by_gpu, gpuid, json_integer((json_int_t)e->gpu[i].evicted_ms));
	}
	return by_gpu;
}

static json_t *trial(const struct stall_trial *t)
{
	json_t *move, *timing;

	move = json_pack("{s:I, s:I, s:i, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "begin_ns",
			 (json_int_t)t->begin_ns, "end_ns", (json_int_t)t->end_ns, "target_node",
			 t->target_node, "rc", (json_int_t)t->rc, "errno", t->error, "attempted",
			 (int)t->pages.attempted, "moved", (int)t->pages.moved, "efault",
			 (int)t->pages.efault, "enoent", (int)t->pages.enoent, "ebusy",
			 (int)t->pages.ebusy, "eacces", (int)t->pages.eacces, "other",
			 (int)t->pages.other);
	timing = json_pack("{s:I, s:I, s:i, s:f, s:f, s:I, s:o, s:b}", "move_begin_ns",
			   (json_int_t)t->move_begin_ns, "move_end_ns", (json_int_t)t->move_end_ns,
			   "mover_tid", (int)t->mover_tid, "median_ms", ms(t->median_ns),
			   "max_iteration_ms", ms(t->max_ns), "max_iteration_begin_ns",
			   (json_int_t)t->max_begin_ns, "evicted_ms_delta", evicted(&t->evicted),
			   "copy_ok", t->copy_ok);
	json_object_update(move, timing);
	json_decref(timing);
	return move;
}

static json_t *trials(const struct stall_result *r)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < r->trials; i++)
		json_array_append_new(list, trial(&r->trial[i]));
	return list;
}

static json_t *whole(const struct stall_result *r)
{
	return json_pack(
		"{s:i, s:s, s:I, s:o, s:o, s:i, s:s, s:o, s:s, s:o, s:i, s:f, s:f, s:o, s:o}",
		"schema", 1, "allocator", r->allocator, "pool_bytes", (json_int_t)r->pool.bytes,
		"pool_ptr", address(r->pool.host), "device_ptr", address(r->pool.device), "pid",
		(int)getpid(), "mover_comm", STALL_MOVER_COMM, "device", device(r), "gemm", r->gemm,
		"nodes", nodes(r), "iterations", (int)r->iterations, "control_median_ms",
		ms(r->control_median_ns), "control_max_ms", ms(r->control_max_ns),
		"control_evicted_ms_delta", evicted(&r->control_evicted), "trials", trials(r));
}

int stall_print_json(const struct stall_result *result)
{
	json_t *root = whole(result);
	int ret;

	if (!root)
		return -1;
	ret = json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(root);
	return ret || puts("") < 0 || fflush(stdout) ? -1 : 0;
}
