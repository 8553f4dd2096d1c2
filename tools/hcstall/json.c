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

static json_t *dist(const struct stall_dist *d)
{
	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "count", (json_int_t)d->count, "p50",
			 ms(d->p50), "p90", ms(d->p90), "p99", ms(d->p99), "p99_9", ms(d->p99_9),
			 "max", ms(d->max));
}

/* The members of both, in `into`. */
static json_t *join(json_t *into, json_t *more)
{
	json_object_update(into, more);
	json_decref(more);
	return into;
}

static json_t *pages(const struct stall_pages *p)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "attempted",
			 (int)p->attempted, "moved", (int)p->moved, "already", (int)p->already,
			 "efault", (int)p->efault, "enoent", (int)p->enoent, "ebusy", (int)p->ebusy,
			 "eacces", (int)p->eacces, "other", (int)(p->other + p->unanswered),
			 "unanswered", (int)p->unanswered, "requeried", (int)p->requeried);
}

/* What every rank has of a trial. */
static json_t *iterations(const struct stall_phase *p)
{
	return json_pack("{s:f, s:f, s:I, s:o, s:o, s:b}", "median_ms", ms(p->median_ns),
			 "max_iteration_ms", ms(p->dist.max), "max_iteration_begin_ns",
			 (json_int_t)p->max_begin_ns, "distribution_ms", dist(&p->dist),
			 "evicted_ms_delta", evicted(&p->evicted), "copy_ok", p->copy_ok);
}

static json_t *trial(const struct stall_trial *t)
{
	json_t *o;

	o = json_pack("{s:I, s:I, s:i, s:I, s:i, s:s, s:I, s:I, s:i, s:i}", "begin_ns",
		      (json_int_t)t->begin_ns, "end_ns", (json_int_t)t->end_ns, "target_node",
		      t->target_node, "rc", (json_int_t)t->rc, "errno", t->error, "outcome",
		      stall_outcome_name(t->outcome), "move_begin_ns", (json_int_t)t->move_begin_ns,
		      "move_end_ns", (json_int_t)t->move_end_ns, "mover_pid", (int)t->mover_pid,
		      "mover_tid", (int)t->mover_tid);
	return join(join(o, pages(&t->pages)), iterations(&t->phase));
}

static json_t *trials(const struct stall_result *r)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < r->trials; i++)
		json_array_append_new(list, trial(&r->trial[i]));
	return list;
}

static json_t *control(const struct stall_phase *p)
{
	return json_pack("{s:f, s:f, s:o, s:o}", "control_median_ms", ms(p->median_ns),
			 "control_max_ms", ms(p->dist.max), "control_distribution_ms",
			 dist(&p->dist), "control_evicted_ms_delta", evicted(&p->evicted));
}

static const struct stall_phase *phase_of(const struct stall_result *r, unsigned int rank,
					  unsigned int i)
{
	return rank ? &r->rank[rank].trial[i] : &r->trial[i].phase;
}

static json_t *rank_json(const struct stall_result *r, unsigned int rank)
{
	const struct hcpool_info *pool = rank ? &r->rank[rank].pool : &r->pool;
	json_t *list = json_array(), *o;
	uint64_t worst = 0;
	unsigned int i;

	for (i = 0; i < r->trials; i++) {
		const struct stall_phase *p = phase_of(r, rank, i);

		if (p->dist.max > worst)
			worst = p->dist.max;
		json_array_append_new(list, iterations(p));
	}
	o = json_pack("{s:i, s:i, s:o, s:I, s:f, s:o}", "rank", (int)rank, "pid",
		      rank ? (int)r->rank[rank].pid : (int)getpid(), "pool_ptr",
		      address(pool->host), "pool_bytes", (json_int_t)pool->bytes,
		      "max_iteration_ms", ms(worst), "trials", list);
	return join(o, control(rank ? &r->rank[rank].control : &r->control));
}

static json_t *ranks(const struct stall_result *r)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < r->ranks; i++)
		json_array_append_new(list, rank_json(r, i));
	return list;
}

static json_t *settings(const struct stall_result *r)
{
	return json_pack("{s:s, s:i, s:I, s:I, s:I}", "trigger", r->trigger->name, "gemm_n",
			 (int)r->gemm_n, "copy_bytes", (json_int_t)r->copy_bytes, "window_bytes",
			 (json_int_t)r->window_bytes, "huge_bytes", (json_int_t)r->pool.huge_bytes);
}

static json_t *whole(const struct stall_result *r)
{
	json_t *o;

	o = json_pack("{s:i, s:s, s:I, s:o, s:o, s:i, s:s, s:o, s:s, s:o, s:i, s:o, s:o}", "schema",
		      1, "allocator", r->allocator, "pool_bytes", (json_int_t)r->pool.bytes,
		      "pool_ptr", address(r->pool.host), "device_ptr", address(r->pool.device),
		      "pid", (int)getpid(), "mover_comm", STALL_MOVER_COMM, "device", device(r),
		      "gemm", r->gemm, "nodes", nodes(r), "iterations", (int)r->iterations,
		      "trials", trials(r), "ranks", ranks(r));
	return join(join(o, settings(r)), control(&r->control));
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
