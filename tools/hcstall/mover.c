/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "../../bpf/hcwatch_abi.h"
#include "../../user/sys/sys.h"
#include "mover.h"
#include "stats.h"

/* The kernel's answers for each page, put right by where the pages are now. */
static void count(const struct stall_mover *m)
{
	struct stall_window *w = m->shot->window;
	struct stall_trial *t = m->trial;
	int *now = w->node; /* free until the next move */

	if (m->trigger->counted == STALL_NOT)
		return;
	stall_window_query(w, 0, now);
	if (m->trigger->counted == STALL_BY_QUERY)
		memcpy(w->status, now, w->count * sizeof(*now));
	t->pages = stall_count(w->before, w->status, now, w->count, t->target_node);
}

static void *move(void *arg)
{
	struct stall_mover *m = arg;
	struct stall_trial *t = m->trial;

	pthread_setname_np(pthread_self(), STALL_MOVER_COMM);
	t->mover_pid = m->trigger->other ? m->shot->helper->pid : getpid();
	t->mover_tid = m->trigger->other ? m->shot->helper->pid : gettid();
	while (sem_wait(&m->go) && errno == EINTR)
		;
	if (m->cancelled)
		return NULL;
	t->move_begin_ns = hcs_boot_ns();
	t->rc = m->trigger->fire(m->shot);
	t->error = t->rc < 0 ? errno : 0;
	t->move_end_ns = hcs_boot_ns();
	count(m);
	atomic_store(&m->done, true);
	return NULL;
}

int stall_mover_start(struct stall_mover *m, const struct stall_trigger *trigger,
		      const struct stall_shot *shot, struct stall_trial *trial,
		      struct stall_err *err)
{
	int ret;

	memset(m, 0, sizeof(*m));
	m->trigger = trigger;
	m->shot = shot;
	m->trial = trial;
	sem_init(&m->go, 0, 0);
	ret = pthread_create(&m->thread, NULL, move, m);
	if (!ret)
		return 0;
	sem_destroy(&m->go);
	return stall_fail(err, HCW_EXIT_UNSUPPORTED, "cannot start a thread: %s", strerror(ret));
}

void stall_mover_go(struct stall_mover *m)
{
	sem_post(&m->go);
}

bool stall_mover_done(struct stall_mover *m)
{
	return atomic_load(&m->done);
}

void stall_mover_join(struct stall_mover *m, bool cancel)
{
	if (cancel) {
		m->cancelled = true;
		sem_post(&m->go);
	}
	pthread_join(m->thread, NULL);
	sem_destroy(&m->go);
}
