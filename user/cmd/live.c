/* SPDX-License-Identifier: BSD-2-Clause */
/* hcwatch live: the chain as it happens, a line per finding. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../chain/order.h"
#include "../out/live.h"
#include "budget.h"
#include "command.h"
#include "header.h"
#include "tracer.h"
#include "tracer_options.h"

#define MAX_OPEN 256	      /* episodes told as begun and not yet as ended */
#define LATE_NS	 300000000ull /* records about an episode's end can come this much after it */
#define NEWS_NS	 200000000ull /* an episode is told when the records that explain it have come */
#define ORDER_NS 150000000ull /* a hole is known so much after it began */
#define READ_NS	 50000000ull  /* what is in the ring is no older */

enum { OPT_JSON = 256 };

struct live {
	struct hcw_chain *chain;
	struct hcw_trace_info info;
	int (*render)(FILE *f, const struct hcw_trace_info *info, const struct hcw_chain *chain,
		      const struct live_event *e);
	size_t episodes, stalls; /* told so far */
	size_t open[MAX_OPEN];
	size_t n_open;
	__u64 lost;
	__u64 unwatched;    /* processes for which there was no room */
	size_t unexplained; /* stalls without an eviction anywhere, not yet told; the longest of
			       them */
	size_t longest;
	struct hcw_order *order; /* before the chain */
	bool header;		 /* a new one came */
	bool told_target;
	__u32 target; /* as told */
};

struct live_args {
	struct tracer_opts tracer;
	bool json;
};

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "print one JSON object a line", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct live_args *a = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		tracer_options_start(state, &a->tracer);
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int put(void *ctx, const struct hcw_rec *rec, const void *body, struct hcw_err *err)
{
	struct live *l = ctx;

	if (rec->type == HCW_R_HEADER) {
		if (header_parse(body, rec->len, &l->info, err))
			return -EBADMSG;
		hcw_chain_sources(l->chain, header_sources(&l->info));
		hcw_chain_one_group(l->chain, l->info.target != 0);
		l->header = true;
	}
	return hcw_order_put(l->order, rec, body);
}

static int to_chain(void *ctx, const struct hcw_rec *rec)
{
	return hcw_chain_add(ctx, rec);
}

static int tell(struct live *l, enum live_kind kind, size_t index, __u64 now, __u64 count)
{
	struct live_event e = {.kind = kind, .index = index, .now = now, .count = count};

	return l->render(stdout, &l->info, l->chain, &e);
}

static int tell_begun(struct live *l, __u64 now, bool all)
{
	const struct hcw_model *m = hcw_chain_model(l->chain);
	int ret = 0;

	for (; !ret && l->episodes < m->n_episodes; l->episodes++) {
		if (!all && now < m->episodes[l->episodes].start + NEWS_NS)
			break;
		ret = tell(l, LIVE_EVICTED, l->episodes, now, 0);
		if (l->n_open < MAX_OPEN)
			l->open[l->n_open++] = l->episodes;
	}
	return ret;
}

/* Ended ones leave the list; `all` takes them without waiting for what may still come. */
static int tell_open(struct live *l, __u64 now, bool second, bool all)
{
	const struct hcw_model *m = hcw_chain_model(l->chain);
	size_t i, kept = 0;
	int ret = 0;

	if (second)
		hcw_chain_update(l->chain); /* what prolongs an open episode, up to now */
	for (i = 0; i < l->n_open; i++) {
		const struct hcw_episode *e = &m->episodes[l->open[i]];
		bool ended = all || (e->end && now > e->end + LATE_NS);

		if (ended && !ret)
			ret = tell(l, LIVE_RESTORED, l->open[i], now, 0);
		else if (second && !e->end && !ret && now > e->start)
			ret = tell(l, LIVE_SO_FAR, l->open[i], now, 0);
		if (!ended)
			l->open[kept++] = l->open[i];
	}
	l->n_open = kept;
	return ret;
}

/*
 * A stall under an episode is told with it. Those nobody's eviction explains can be many and are no
 * finding: once a second the longest, with their number.
 */
static int tell_stalls(struct live *l, __u64 now, bool second)
{
	const struct hcw_model *m = hcw_chain_model(l->chain);
	int ret = 0;

	for (; !ret && l->stalls < m->n_stalls; l->stalls++) {
		const struct hcw_stall *s = &m->stalls[l->stalls], *w = &m->stalls[l->longest];

		if (s->collateral >= 0) {
			ret = tell(l, LIVE_STALL, l->stalls, now, 1);
		} else if (s->episode < 0) {
			if (!l->unexplained++ || s->end - s->start > w->end - w->start)
				l->longest = l->stalls;
		}
	}
	if (!ret && second && l->unexplained) {
		ret = tell(l, LIVE_STALL, l->longest, now, l->unexplained);
		l->unexplained = 0;
	}
	return ret;
}

static int tell_news(struct live *l, __u64 now, bool second, bool all)
{
	const struct hcw_model *m = hcw_chain_model(l->chain);
	int ret = 0;

	/* a header also comes when marks of one more file were attached */
	if (l->header && (!l->told_target || l->info.target != l->target)) {
		ret = tell(l, LIVE_WATCHING, 0, now, 0);
		l->told_target = true;
		l->target = l->info.target;
	}
	l->header = false;
	if (!ret)
		ret = tell_begun(l, now, all);
	if (!ret)
		ret = tell_open(l, now, second, all);
	if (!ret)
		ret = tell_stalls(l, now, second || all);
	if (!ret && (m->lost > l->lost || m->limits.count[HCW_LIMIT_WATCHED] > l->unwatched))
		ret = tell(l, LIVE_LOST, 0, now, m->lost - l->lost);
	l->lost = m->lost;
	l->unwatched = m->limits.count[HCW_LIMIT_WATCHED];
	return ret;
}

static int settle(void *ctx, __u64 now, bool second, struct hcw_err *err)
{
	struct live *l = ctx;

	if (hcw_order_advance(l->order, now - READ_NS))
		return hcw_err_set(err, -ENOMEM, HCW_EXIT_INCOMPLETE, "out of memory");
	hcw_chain_late(l->chain, hcw_order_late(l->order));
	errno = 0;
	if (!tell_news(l, now, second, false))
		return 0;
	if (errno == EPIPE)
		return hcw_err_set(err, -EPIPE, HCW_EXIT_OK, "the reader is gone");
	return hcw_err_set(err, -EIO, HCW_EXIT_INCOMPLETE, "cannot write to stdout: %s",
			   strerror(errno));
}

static int end(struct live *l, int ret, struct hcw_err *err, const struct tracer_result *tr)
{
	const struct hcw_model *m = hcw_chain_model(l->chain);
	int code;

	if (ret && ret != -EPIPE)
		return hcw_err_print(stderr, "hcwatch", err);
	hcw_order_flush(l->order);
	hcw_chain_late(l->chain, hcw_order_late(l->order));
	hcw_chain_finish(l->chain);
	if (ret)
		return HCW_EXIT_OK; /* the reader of a pipe is gone: a quiet end */
	if (tell_news(l, m->last_ts, false, true) || tell(l, LIVE_TOTALS, 0, m->last_ts, 0))
		return errno == EPIPE ? HCW_EXIT_OK : HCW_EXIT_INCOMPLETE;
	tracer_say_missing(&tr->plan);
	code = report_exit(&l->info, m);
	return tr->lost && code != HCW_EXIT_INCOMPLETE ? HCW_EXIT_INCOMPLETE : code;
}

static int live_open(struct live *l, uint64_t mem)
{
	l->chain = hcw_chain_new();
	l->order = hcw_order_new(budget_of(mem).order, ORDER_NS, to_chain, l->chain);
	if (l->chain && l->order)
		return 0;
	hcw_chain_free(l->chain);
	hcw_order_free(l->order);
	return -ENOMEM;
}

int cmd_live(int argc, char **argv)
{
	static const struct argp_child children[] = {{&tracer_options, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.children = children,
		.parser = parse,
		.args_doc = "[-- COMMAND...]",
		.doc = "Tell what stops the GPUs while it happens: a line when queues are evicted, one a second while they "
		       "are, one when they run again. With neither -p nor a command, every process that uses KFD is watched.\v"
		       "Ends with the command, or on SIGINT, SIGTERM or SIGHUP.\n"
		       "Exit status: 0 nothing found, 1 a finding, 4 not permitted, 5 loss or a missing probe.",
	};
	struct live_args args = {
		.tracer = {.stdout_fd = STDERR_FILENO, .long_running = true, .follow = true}};
	struct live *l = calloc(1, sizeof(*l));
	struct tracer_result tr;
	struct hcw_err err;
	int ret;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &args);
	if (!l || live_open(l, args.tracer.mem_bytes)) {
		free(l);
		fputs("hcwatch: out of memory\n", stderr);
		return HCW_EXIT_UNSUPPORTED;
	}
	l->render = args.json ? live_json : live_text;
	args.tracer.sink = (struct tracer_sink){.put = put, .settle = settle, .ctx = l};
	ret = tracer_run(&args.tracer, &tr, &err);
	ret = end(l, ret, &err, &tr);
	hcw_order_free(l->order);
	hcw_chain_free(l->chain);
	free(l);
	return ret;
}
