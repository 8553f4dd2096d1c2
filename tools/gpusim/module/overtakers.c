// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ground truth for "who made it longer": whose invalidations overtook restore passes. A pass that
 * was thrown away is charged to all who overtook it, by their share of the invalidations.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "gpusim.h"

#define MAX_OVERTAKERS 64
#define PASS	       1000000ULL /* shares are in millionths of a pass */

struct overtaker {
	pid_t tid;
	char comm[TASK_COMM_LEN];
	u64 invalidations;
	u64 thrown; /* millionths of passes */
};

static DEFINE_SPINLOCK(lock);
static struct overtaker table[MAX_OVERTAKERS];
static unsigned int used;
static struct overtaker other = {.comm = "other"}; /* beyond a table's size */
static struct overtaker nobody = {
	.comm = "nobody"}; /* passes that ended early for another reason */

void gpusim_pass_begin(struct gpusim_pass *pass)
{
	memset(pass, 0, sizeof(*pass));
	pass->running = true;
}

void gpusim_pass_overtaken(struct gpusim_pass *pass)
{
	struct gpusim_actor *actor = pass->actor;
	unsigned int i;

	if (!pass->running)
		return;
	pass->invalidations++;
	for (i = 0; i < pass->actors; i++)
		if (actor[i].tid == current->pid)
			break;
	if (i == GPUSIM_PASS_ACTORS)
		return;
	if (i == pass->actors) {
		pass->actors++;
		actor[i].tid = current->pid;
		get_task_comm(actor[i].comm, current);
	}
	actor[i].invalidations++;
}

static struct overtaker *find(const struct gpusim_actor *actor)
{
	unsigned int i;

	for (i = 0; i < used; i++)
		if (table[i].tid == actor->tid && !strcmp(table[i].comm, actor->comm))
			return &table[i];
	if (used == MAX_OVERTAKERS)
		return &other;
	table[used].tid = actor->tid;
	strscpy(table[used].comm, actor->comm, sizeof(table[used].comm));
	return &table[used++];
}

static void charge(struct overtaker *to, u64 invalidations, u64 all)
{
	to->invalidations += invalidations;
	to->thrown += div64_u64(PASS * invalidations, all);
}

void gpusim_pass_end(struct gpusim_pass *pass, bool thrown)
{
	u64 all = pass->invalidations, rest = all;
	unsigned int i;

	pass->running = false;
	if (!thrown)
		return;
	spin_lock(&lock);
	for (i = 0; i < pass->actors; i++) {
		charge(find(&pass->actor[i]), pass->actor[i].invalidations, all);
		rest -= pass->actor[i].invalidations;
	}
	if (rest)
		charge(&other, rest, all);
	if (!all)
		nobody.thrown += PASS;
	spin_unlock(&lock);
}

/* One word, whatever a task calls itself. */
static ssize_t show_one(const struct overtaker *o, char *buf, ssize_t len)
{
	char word[TASK_COMM_LEN];
	char *c;

	strscpy(word, o->comm, sizeof(word));
	for (c = word; *c; c++)
		if (!isgraph(*c))
			*c = '_';
	return sysfs_emit_at(buf, len, "%d %s %llu %llu\n", o->tid, word, o->invalidations,
			     div64_u64(o->thrown + PASS / 2000, PASS / 1000));
}

ssize_t gpusim_overtakers_show(char *buf)
{
	ssize_t len = 0;
	unsigned int i;

	spin_lock(&lock);
	for (i = 0; i < used; i++)
		len += show_one(&table[i], buf, len);
	len += show_one(&other, buf, len);
	len += show_one(&nobody, buf, len);
	spin_unlock(&lock);
	return len;
}

void gpusim_overtakers_reset(void)
{
	spin_lock(&lock);
	used = 0;
	memset(table, 0, sizeof(table));
	other.invalidations = other.thrown = 0;
	nobody.thrown = 0;
	spin_unlock(&lock);
}
