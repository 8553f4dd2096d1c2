/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "lead.h"
#include "refusal.h"
#include "trial.h"

struct lead {
	struct stall_session *s;
	struct stall_helper *helper;
	struct stall_result *result;
	struct stall_window window;
	int home; /* node the window is on before the first trial */
};

/*
 * Sees to it that the window is on one node, so that every page has somewhere to go in each trial.
 * It is moved only when it must be: a move is an attempt in its own right. Driver memory tells no
 * node, and is left alone.
 */
static void settle_window(struct lead *l)
{
	struct stall_window *w = &l->window;

	l->home = l->result->node[0];
	if (stall_window_query(w, 0, w->status) || w->status[0] < 0)
		return;
	l->home = stall_window_node(w, w->status);
	if (l->home >= 0)
		return;
	l->home = l->result->node[0];
	stall_window_move(w, 0, l->home, w->status);
}

/*
 * Where the window is. After a move that failed it is still there, and the next trial tries again;
 * where no query tells (driver memory, pages on several nodes) trials go to and fro.
 */
static int from_node(const struct lead *l, unsigned int trial)
{
	const struct stall_result *r = l->result;
	int node = stall_window_node(&l->window, l->window.before);

	if (node >= 0)
		return node;
	if (trial % 2 == 0)
		return l->home;
	return r->node[0] == l->home ? r->node[1] : r->node[0];
}

/* A call that failed as a whole will fail again: the run ends with its reason. */
static int refused(const struct lead *l, const struct stall_trial *t, struct stall_err *err)
{
	const struct stall_trigger *trigger = l->result->trigger;
	char allowed[64];
	struct stall_refused r = {
		.trigger = trigger->counted == STALL_BY_STATUS ? "move_pages" : trigger->name,
		.error = t->error,
		.target_node = t->target_node,
		.other = trigger->other ? getpid() : 0,
		.moved = t->pages.moved,
		.allowed = allowed,
	};

	stall_mems_allowed(l->s->root, allowed, sizeof(allowed));
	return stall_refused(l->s->root, &r, err);
}

static int trial(struct lead *l, unsigned int i, struct stall_err *err)
{
	struct stall_result *r = l->result;
	struct stall_trial *t = &r->trial[i];
	struct stall_shot shot = {.window = &l->window, .helper = l->helper};

	stall_progress(l->s, "trial %u of %u", i + 1, r->trials_wanted);
	stall_window_query(&l->window, 0, l->window.before);
	shot.from = from_node(l, i);
	shot.target = shot.from == r->node[0] ? r->node[1] : r->node[0];
	t->target_node = shot.target;
	if (stall_trial(l->s, &shot, i + 1, t, err))
		return -1;
	t->outcome = stall_outcome(t, r->trigger, r->pool.backing);
	if (t->rc < 0 && t->outcome != STALL_REFUSED)
		return refused(l, t, err);
	r->trials++;
	return 0;
}

int stall_lead(struct stall_session *s, struct stall_helper *helper, struct stall_result *result,
	       struct stall_err *err)
{
	struct lead l = {.s = s, .helper = helper, .result = result};
	unsigned int i;
	int ret;

	if (stall_window_open(&l.window, result->pool.host, s->opts->window_bytes))
		return stall_fail(err, HCW_EXIT_UNSUPPORTED, "no memory for the window");
	settle_window(&l);
	stall_progress(s, "control phase, %u iterations", result->iterations);
	ret = stall_control(s, &result->control, err);
	for (i = 0; i < result->trials_wanted && !ret; i++)
		ret = trial(&l, i, err);
	stall_window_close(&l.window);
	return ret;
}
