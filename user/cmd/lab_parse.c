/* SPDX-License-Identifier: BSD-2-Clause */
/* hcstall's JSON, which is our own but came through a pipe: every member is checked. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "../sys/num.h"
#include "lab_internal.h"

static __u64 take_u64(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v > 0 ? (__u64)v : 0;
}

static double take_real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void take_text(char *out, size_t size, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	snprintf(out, size, "%s", s ? s : "");
}

static void take_evicted(const json_t *o, struct lab_trial *t)
{
	const char *gpu;
	json_t *ms;
	uint64_t id;

	t->evicted_known = json_is_object(o);
	json_object_foreach ((json_t *)o, gpu, ms) {
		if (t->n_evicted == HCW_MAX_GPUS || hcs_num_u64(gpu, 0, UINT32_MAX, &id))
			continue;
		t->evicted[t->n_evicted].gpuid = (__u32)id;
		t->evicted[t->n_evicted++].ms = (__u64)json_integer_value(ms);
	}
}

static void take_trial(const json_t *o, struct lab_trial *t)
{
	t->begin_ns = take_u64(o, "begin_ns");
	t->end_ns = take_u64(o, "end_ns");
	t->attempted = take_u64(o, "attempted");
	t->moved = take_u64(o, "moved");
	t->efault = take_u64(o, "efault");
	t->other = take_u64(o, "enoent") + take_u64(o, "ebusy") + take_u64(o, "eacces") +
		   take_u64(o, "other");
	take_text(t->outcome, sizeof(t->outcome), o, "outcome");
	t->mover_pid = (__u32)take_u64(o, "mover_pid");
	t->max_iteration_ms = take_real(o, "max_iteration_ms");
	take_evicted(json_object_get(o, "evicted_ms_delta"), t);
}

static void take_device(const json_t *o, struct lab_result *res)
{
	take_text(res->device, sizeof(res->device), o, "name");
	take_text(res->driver, sizeof(res->driver), o, "driver");
	res->simulated = json_is_true(json_object_get(o, "simulated"));
	res->n_gpus = json_array_size(json_object_get(o, "gpus"));
}

int lab_parse(const char *json, size_t len, struct lab_result *res, struct lab_arm *arm, __u32 *pid,
	      __u64 *ptr, struct hcw_err *err)
{
	json_error_t where;
	json_t *o = json_loadb(json, len, 0, &where), *trial;
	const char *text;
	size_t i;

	if (!json_is_object(o)) {
		json_decref(o);
		return hcw_err_set(err, -EBADMSG, HCW_EXIT_INCOMPLETE,
				   "hcstall printed no result (%s)", where.text);
	}
	take_device(json_object_get(o, "device"), res);
	take_text(res->gemm, sizeof(res->gemm), o, "gemm");
	take_text(res->trigger, sizeof(res->trigger), o, "trigger");
	arm->pool_bytes = take_u64(o, "pool_bytes");
	arm->control_median_ms = take_real(o, "control_median_ms");
	arm->control_max_ms = take_real(o, "control_max_ms");
	*pid = (__u32)take_u64(o, "pid");
	text = json_string_value(json_object_get(o, "pool_ptr"));
	*ptr = text ? strtoull(text, NULL, 16) : 0;
	json_array_foreach (json_object_get(o, "trials"), i, trial)
		if (arm->n_trials < LAB_MAX_TRIALS)
			take_trial(trial, &arm->trial[arm->n_trials++]);
	json_decref(o);
	return 0;
}
