/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/stat.h>
#include "../trace/trace.h"
#include "header.h"
#include "load.h"

static int no_header(const char *path, bool cut, struct hcw_err *err)
{
	if (!cut) {
		hcw_err_set(err, -EBADMSG, HCW_EXIT_TRACE, "the trace %s has no header", path);
		hcw_err_hint(err, "Give a file that hcwatch record has written.");
		return -EBADMSG;
	}
	hcw_err_set(err, -EBADMSG, HCW_EXIT_TRACE,
		    "the trace %s ends early, before its first second was written", path);
	hcw_err_hint(err, "Nothing in it can be read: record again.");
	return -EBADMSG;
}

static int load_records(struct hcw_reader *r, const char *path, struct hcw_loaded *l,
			struct hcw_err *err)
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
			hcw_chain_one_group(l->chain, l->info.target != 0);
			header = true;
		}
		hcw_chain_add(l->chain, rec);
	}
	if (ret < 0)
		return ret;
	return header ? 0 : no_header(path, hcw_reader_cut(r), err);
}

static __u64 file_bytes(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) ? (__u64)st.st_size : 0;
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
	ret = load_records(r, path, out, err);
	out->info.cut = hcw_reader_cut(r);
	out->info.file_bytes = file_bytes(path);
	hcw_reader_close(r);
	if (ret) {
		hcw_chain_free(out->chain);
		out->chain = NULL;
		return ret;
	}
	hcw_chain_finish(out->chain);
	return 0;
}
