/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "../trace/trace.h"
#include "header.h"
#include "load.h"

static int load_records(struct hcw_reader *r, struct hcw_loaded *l, struct hcw_err *err)
{
	const struct hcw_rec *rec;
	bool header = false;
	int ret;

	while ((ret = hcw_reader_next(r, &rec, err)) > 0) {
		if (rec->type == HCW_R_HEADER) {
			/* a later header says what became active meanwhile */
			ret = header_parse((const char *)(rec + 1), rec->len, &l->info, err);
			if (ret)
				return ret;
			hcw_chain_sources(l->chain, header_sources(&l->info));
			header = true;
		}
		hcw_chain_add(l->chain, rec);
	}
	if (ret < 0)
		return ret;
	if (!header)
		return hcw_err_set(err, -EBADMSG, HCW_EXIT_TRACE, "the trace has no header");
	return 0;
}

int load_trace(const char *path, struct hcw_loaded *out, struct hcw_err *err)
{
	struct hcw_reader *r;
	int ret;

	*out = (struct hcw_loaded){0};
	ret = hcw_reader_open(&r, path, err);
	if (ret)
		return ret;
	out->chain = hcw_chain_new();
	if (!out->chain) {
		hcw_reader_close(r);
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	}
	ret = load_records(r, out, err);
	out->info.cut = hcw_reader_cut(r);
	hcw_reader_close(r);
	if (ret) {
		hcw_chain_free(out->chain);
		out->chain = NULL;
		return ret;
	}
	hcw_chain_finish(out->chain);
	return 0;
}
