/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/stat.h>
#include "../chain/order.h"
#include "../trace/trace.h"
#include "header.h"
#include "load.h"

/* What a recorder writes late is at most as late as its looks at the counters of loss. */
#define ORDER_NS    500000000ull
#define ORDER_BYTES (16u << 20)

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

/* At once, before what it is about: records from before it are in the ring already. */
static int take_header(struct hcw_loaded *l, const struct hcw_rec *rec, struct hcw_err *err)
{
	/* a later header says what became active meanwhile */
	int ret = header_parse((const char *)(rec + 1), rec->len, &l->info, err);

	if (ret)
		return ret;
	hcw_chain_sources(l->chain, header_sources(&l->info));
	hcw_chain_one_group(l->chain, l->info.target != 0);
	return 0;
}

static int load_records(struct hcw_reader *r, struct hcw_order *order, const char *path,
			struct hcw_loaded *l, struct hcw_err *err)
{
	const struct hcw_rec *rec;
	bool header = false;
	int ret;

	while ((ret = hcw_reader_next(r, &rec, err)) > 0) {
		if (rec->type == HCW_R_HEADER) {
			ret = take_header(l, rec, err);
			if (ret)
				return ret;
			header = true;
		}
		ret = hcw_order_put(order, rec, rec + 1);
		if (ret)
			break;
	}
	if (!ret)
		ret = hcw_order_flush(order);
	if (ret == -ENOMEM)
		return hcw_err_set(err, ret, HCW_EXIT_UNSUPPORTED, "out of memory");
	if (ret < 0)
		return ret;
	hcw_chain_late(l->chain, hcw_order_late(order));
	return header ? 0 : no_header(path, hcw_reader_cut(r), err);
}

static int to_chain(void *ctx, const struct hcw_rec *rec)
{
	return hcw_chain_add(ctx, rec);
}

static __u64 file_bytes(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) ? (__u64)st.st_size : 0;
}

int load_trace(const char *path, struct hcw_loaded *out, struct hcw_err *err)
{
	struct hcw_order *order;
	struct hcw_reader *r;
	int ret;

	*out = (struct hcw_loaded){0};
	ret = hcw_reader_open(&r, path, err);
	if (ret)
		return ret;
	out->chain = hcw_chain_new();
	order = hcw_order_new(ORDER_BYTES, ORDER_NS, to_chain, out->chain);
	if (!out->chain || !order) {
		hcw_chain_free(out->chain);
		hcw_order_free(order);
		hcw_reader_close(r);
		out->chain = NULL;
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_UNSUPPORTED, "out of memory");
	}
	ret = load_records(r, order, path, out, err);
	hcw_order_free(order);
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
