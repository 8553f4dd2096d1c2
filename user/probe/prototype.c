/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "prototype.h"

static const struct btf_type *plain_type(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* What it points to; NULL when it is no pointer. Void is of kind BTF_KIND_UNKN. */
static const struct btf_type *pointee(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = plain_type(btf, id);

	return t && btf_is_ptr(t) ? plain_type(btf, t->type) : NULL;
}

static bool is_struct_named(const struct btf *btf, const struct btf_type *t, const char *name)
{
	return t && (btf_is_struct(t) || btf_is_fwd(t)) &&
	       !strcmp(btf__name_by_offset(btf, t->name_off), name);
}

static bool is_integer(const struct btf_type *t, unsigned char size)
{
	return t && (btf_is_int(t) || btf_is_any_enum(t)) && t->size == size;
}

static bool arg_fits(const struct btf *btf, const struct btf_param *param,
		     const struct hcw_arg *want)
{
	const struct btf_type *to = pointee(btf, param->type);

	switch (want->kind) {
	case HCW_ARG_STRUCT:
		return is_struct_named(btf, to, want->type);
	case HCW_ARG_POINTER:
		return to != NULL;
	default:
		return is_integer(plain_type(btf, param->type), want->size);
	}
}

static void say_wanted(const struct hcw_arg *want, char *why, size_t size)
{
	switch (want->kind) {
	case HCW_ARG_STRUCT:
		snprintf(why, size, "another prototype: argument %d is no struct %s *",
			 want->index + 1, want->type);
		break;
	case HCW_ARG_POINTER:
		snprintf(why, size, "another prototype: argument %d is no pointer",
			 want->index + 1);
		break;
	default:
		snprintf(why, size, "another prototype: argument %d is no integer of %d bytes",
			 want->index + 1, want->size);
		break;
	}
}

int hcw_prototype_check(const struct btf *btf, __u32 function, const struct hcw_prototype *want,
			bool count, char *why, size_t size)
{
	const struct btf_type *f = btf__type_by_id(btf, function);
	const struct btf_type *proto = f && btf_is_func(f) ? btf__type_by_id(btf, f->type) : NULL;
	const struct hcw_arg *arg;

	if (!want || !proto || !btf_is_func_proto(proto))
		return 0;
	for (arg = want->arg; arg->kind != HCW_ARG_END; arg++) {
		if (arg->index < btf_vlen(proto) &&
		    arg_fits(btf, &btf_params(proto)[arg->index], arg))
			continue;
		say_wanted(arg, why, size);
		return -EPROTOTYPE;
	}
	if (!count || !want->params || want->params == btf_vlen(proto))
		return 0;
	snprintf(why, size, "another prototype: %d arguments, not %d", btf_vlen(proto),
		 want->params);
	return -EPROTOTYPE;
}
