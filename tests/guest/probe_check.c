/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command under a tracing session and prints the plan and every record as text, one a line.
 *   probe_check [-a] [-l] [-p PID] [-m FILE]... CMD [ARG]...
 * -a watches everything, -p a process instead of the command, -l is the long-running mode, -m
 * attaches the marks of a file. Fails when the records read are not exactly those the kernel side
 * says it wrote, and when one of invalidations spans the start or the end of a restore pass.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../user/probe/session.h"
#include "../../user/sys/kallsyms.h"

#define MAX_MARKED 8
#define DRAIN_MS   300
#define MAX_KEPT   65536 /* records of invalidations; of passes */

struct interval {
	__u64 mm, from, to;
};

struct intervals {
	struct interval *item;
	size_t n;
};

struct check {
	struct hcw_session *session;
	struct hcs_kallsyms *symbols;
	__u64 received[HCW_R_BPF_COUNT];
	__u64 first;
	struct intervals invals, passes;
};

struct options {
	struct hcw_session_opts session;
	const char *marked[MAX_MARKED];
	int n_marked;
	pid_t pid;
};

static void print_plan(const struct hcw_plan *plan)
{
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		printf("plan %-13s %-6s %s%s%s\n", hcw_point_name(p),
		       hcw_tier_name(plan->entry[p].tier), plan->entry[p].target,
		       plan->entry[p].reason[0] ? " # " : "", plan->entry[p].reason);
}

static void print_stack(const struct check *c, __s32 id)
{
	__u64 ip[HCW_STACK_DEPTH];
	char name[128];
	int i, n = hcw_session_stack(c->session, id, ip, HCW_STACK_DEPTH);

	for (i = 0; i < n; i++)
		if (!hcs_kallsyms_name(c->symbols, ip[i], name, sizeof(name)))
			printf(" %s", name);
}

static void print_migration(const struct hcw_rec *rec)
{
	const struct hcw_move_pages *m = (const void *)(rec + 1);
	const struct hcw_migrate *g = (const void *)(rec + 1);

	if (rec->type == HCW_R_MOVE_PAGES)
		printf("move_pages start=%llu pid=%d range=%llx..%llx requested=%u read=%u moved=%u "
		       "efault=%u enoent=%u ebusy=%u eacces=%u other=%u rc=%d",
		       m->start, m->pid, m->lo, m->hi, m->requested, m->read, m->moved, m->efault,
		       m->enoent, m->ebusy, m->eacces, m->other, m->rc);
	else
		printf("migrate start=%llu attempt=%llu ok=%llu failed=%llu mode=%u reason=%u",
		       g->start, g->attempt, g->ok, g->failed, g->mode, g->reason);
}

static void print_eviction(const struct check *c, const struct hcw_rec *rec)
{
	const struct hcw_inval *i = (const void *)(rec + 1);
	const struct hcw_quiesce *q = (const void *)(rec + 1);
	const struct hcw_resume *r = (const void *)(rec + 1);
	const struct hcw_evict *e = (const void *)(rec + 1);
	const struct hcw_pass *p = (const void *)(rec + 1);

	switch (rec->type) {
	case HCW_R_INVAL:
		printf("inval start=%llu mm=%llx range=%llx..%llx attempt=%llu count=%u event=%u "
		       "victim=%u span=%u reason=%d via=%u",
		       i->start, i->mm, i->lo, i->hi, i->attempt, i->count, i->event, i->victim,
		       i->span, (int)i->reason, i->via);
		break;
	case HCW_R_QUIESCE:
		printf("quiesce start=%llu mm=%llx attempt=%llu range=%llx..%llx trigger=%u ret=%d "
		       "victim=%u reason=%d via=%u stack=%d",
		       q->start, q->mm, q->attempt, q->lo, q->hi, q->trigger, q->ret, q->victim,
		       (int)q->reason, q->via, q->stack);
		print_stack(c, q->stack);
		break;
	case HCW_R_RESUME:
		printf("resume start=%llu mm=%llx ret=%d", r->start, r->mm, r->ret);
		break;
	case HCW_R_PASS:
		printf("pass start=%llu mm=%llx work=%llx faults=%u resumed=%u", p->start, p->mm,
		       p->work, p->faults, p->resumed);
		break;
	default:
		printf("%s start=%llu mm=%llx victim=%u trigger=%u ret=%d stack=%d",
		       rec->type == HCW_R_EVICT ? "evict" : "restore", e->start, e->mm, e->victim,
		       e->trigger, e->ret, e->stack);
	}
}

static void print_process(const struct hcw_rec *rec)
{
	const struct hcw_iter *i = (const void *)(rec + 1);
	const struct hcw_pool *p = (const void *)(rec + 1);
	const struct hcw_task *t = (const void *)(rec + 1);
	const struct hcw_task_exit *x = (const void *)(rec + 1);
	const struct hcw_request *r = (const void *)(rec + 1);

	if (rec->type == HCW_R_ITER_BEGIN || rec->type == HCW_R_ITER_END)
		printf("%s id=%llu tgid=%u",
		       rec->type == HCW_R_ITER_BEGIN ? "iteration_begin" : "iteration_end", i->id,
		       i->tgid);
	else if (rec->type == HCW_R_POOL_ALLOC || rec->type == HCW_R_POOL_FREE)
		printf("%s ptr=%llx bytes=%llu backing=%u tgid=%u",
		       rec->type == HCW_R_POOL_ALLOC ? "pool_alloc" : "pool_free", p->ptr, p->bytes,
		       p->backing, p->tgid);
	else if (rec->type == HCW_R_TASK)
		printf("task tid=%u tgid=%u start_time=%llu mm=%llx comm=%s", t->tid, t->tgid,
		       t->start_time, t->mm, t->comm);
	else if (rec->type == HCW_R_TASK_EXIT)
		printf("task_exit tid=%u tgid=%u mm=%llx", x->tid, x->tgid, x->mm);
	else
		printf("request kind=%u tgid=%u mm=%llx", r->kind, r->tgid, r->mm);
}

static int keep(struct intervals *list, __u64 mm, __u64 from, __u64 to)
{
	if (list->n == MAX_KEPT)
		return -1;
	list->item[list->n++] = (struct interval){mm, from, to};
	return 0;
}

static int keep_interval(struct check *c, const struct hcw_rec *rec)
{
	const struct hcw_inval *i = (const void *)(rec + 1);
	const struct hcw_pass *p = (const void *)(rec + 1);

	if (rec->type == HCW_R_INVAL && i->span)
		return keep(&c->invals, i->mm, i->start, i->start + i->span);
	if (rec->type == HCW_R_PASS)
		return keep(&c->passes, p->mm, p->start, rec->ts);
	return 0;
}

static bool inside(const struct interval *i, __u64 edge)
{
	return i->from < edge && edge < i->to;
}

/* Number of records of invalidations that span an edge of a pass of the same victim. */
static int spanning(const struct check *c)
{
	size_t i, p;
	int bad = 0;

	for (i = 0; i < c->invals.n; i++)
		for (p = 0; p < c->passes.n; p++)
			bad += c->invals.item[i].mm == c->passes.item[p].mm &&
			       (inside(&c->invals.item[i], c->passes.item[p].from) ||
				inside(&c->invals.item[i], c->passes.item[p].to));
	printf("aggregates=%zu passes=%zu spanning=%d\n", c->invals.n, c->passes.n, bad);
	return bad;
}

static int on_record(const struct hcw_rec *rec, void *ctx)
{
	struct check *c = ctx;

	if (rec->type >= HCW_R_BPF_COUNT || keep_interval(c, rec))
		return -1;
	c->received[rec->type]++;
	if (!c->first)
		c->first = rec->ts;
	printf("%10.3f tid=%u ", (double)(rec->ts - c->first) / 1e6, rec->tid);
	if (rec->type <= HCW_R_MIGRATE)
		print_migration(rec);
	else if (rec->type <= HCW_R_PASS)
		print_eviction(c, rec);
	else
		print_process(rec);
	putchar('\n');
	return 0;
}

/* The child waits for a byte, so that it is watched before it does anything. */
static pid_t start(char **argv, int *go)
{
	int pipefd[2];
	char byte;
	pid_t pid;

	if (pipe(pipefd))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(pipefd[1]);
		if (read(pipefd[0], &byte, 1) != 1)
			_exit(126);
		close(pipefd[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipefd[0]);
	*go = pipefd[1];
	return pid;
}

static int compare(struct check *c)
{
	struct hcw_totals totals[HCW_R_BPF_COUNT];
	int type, bad = 0;

	if (hcw_session_totals(c->session, totals))
		return 1;
	for (type = 1; type < HCW_R_BPF_COUNT; type++) {
		printf("total type=%d emitted=%llu lost=%llu received=%llu\n", type,
		       totals[type].emitted, totals[type].lost, c->received[type]);
		bad += totals[type].emitted != c->received[type];
	}
	return bad;
}

static int trace(struct check *c, const struct options *o, char **argv, struct hcw_err *err)
{
	int go = -1, status = 0, i, ret = 0;
	pid_t pid = start(argv, &go);

	if (pid < 0)
		return hcw_err_set(err, -1, HCW_EXIT_UNSUPPORTED, "cannot start %s", argv[0]);
	if (!o->session.watch_all)
		ret = hcw_session_watch(c->session, o->pid ? o->pid : pid, err);
	for (i = 0; i < o->n_marked && ret >= 0; i++)
		ret = hcw_session_attach_file(c->session, o->marked[i], err);
	print_plan(hcw_session_plan(c->session));
	if (ret >= 0 && write(go, "", 1) != 1)
		ret = -1;
	close(go);
	while (ret >= 0 && waitpid(pid, &status, WNOHANG) == 0)
		ret = hcw_session_pump(c->session, 100, on_record, c);
	while (ret > 0 ||
	       (ret == 0 && (ret = hcw_session_pump(c->session, DRAIN_MS, on_record, c)) > 0))
		ret = hcw_session_pump(c->session, DRAIN_MS, on_record, c);
	printf("command status=%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return ret;
}

static int parse(struct options *o, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+alm:p:")) != -1) {
		if (opt == 'a')
			o->session.watch_all = true;
		else if (opt == 'l')
			o->session.long_running = true;
		else if (opt == 'm' && o->n_marked < MAX_MARKED)
			o->marked[o->n_marked++] = optarg;
		else if (opt == 'p')
			o->pid = (pid_t)strtol(optarg, NULL, 10);
		else
			return -1;
	}
	return optind < argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct check c = {0};
	struct options o = {0};
	struct hcw_err err = {0};
	int root, ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse(&o, argc, argv)) {
		fprintf(stderr,
			"usage: probe_check [-a] [-l] [-p PID] [-m FILE]... CMD [ARG]...\n");
		return HCW_EXIT_USAGE;
	}
	root = hcs_root();
	c.invals.item = calloc(MAX_KEPT, sizeof(*c.invals.item));
	c.passes.item = calloc(MAX_KEPT, sizeof(*c.passes.item));
	if (root < 0 || !c.invals.item || !c.passes.item || hcs_kallsyms_load(&c.symbols, root, 0))
		return HCW_EXIT_UNSUPPORTED;
	if (hcw_session_open(&c.session, &o.session, &err))
		return hcw_err_print(stderr, "probe_check", &err);
	ret = trace(&c, &o, argv + optind, &err);
	if (ret < 0)
		ret = hcw_err_print(stderr, "probe_check", &err);
	else
		ret = compare(&c) + spanning(&c) ? 1 : 0;
	hcw_session_close(c.session);
	hcs_kallsyms_free(c.symbols);
	free(c.invals.item);
	free(c.passes.item);
	close(root);
	return ret;
}
