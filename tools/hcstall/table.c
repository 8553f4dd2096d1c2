/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "result.h"

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void print_pages(const struct stall_trial *t, const struct stall_trigger *trigger)
{
	const struct stall_pages *p = &t->pages;
	char text[40];

	if (trigger->counted == STALL_NOT || t->rc < 0)
		snprintf(text, sizeof(text), "%s", stall_outcome_name(t->outcome));
	else if (t->outcome == STALL_REFUSED)
		snprintf(text, sizeof(text), "%u / %u %s", p->moved, p->efault + p->enoent,
			 p->efault ? "EFAULT" : "ENOENT");
	else
		snprintf(text, sizeof(text), "%u / %u", p->moved, p->attempted - p->moved);
	printf("%-18s", text);
}

static void print_rest(const struct stall_trial *t)
{
	const struct stall_pages *p = &t->pages;

	if (t->outcome <= STALL_DONE)
		return;
	printf("       no page %u, busy %u, shared %u, other %u, unanswered %u, already %u\n",
	       p->efault + p->enoent, p->ebusy, p->eacces, p->other, p->unanswered, p->already);
}

static void print_evicted(const struct stall_evicted *e)
{
	int i;

	if (e->count < 0)
		printf("unknown");
	for (i = 0; i < e->count && i < 8; i++)
		printf("%s%llu", i ? " " : "", (unsigned long long)e->gpu[i].evicted_ms);
	if (e->count > 8)
		printf(" ...");
}

static void print_phase(const struct stall_phase *p)
{
	printf("%12.3f %9.3f   %-5s  ", ms(p->dist.max), ms(p->median_ns),
	       p->copy_ok ? "right" : "WRONG");
	print_evicted(&p->evicted);
	putchar('\n');
}

static void print_trial(const struct stall_result *r, unsigned int i)
{
	const struct stall_trial *t = &r->trial[i];
	unsigned int rank;

	printf("%5u  ", i + 1);
	print_pages(t, r->trigger);
	print_phase(&t->phase);
	print_rest(t);
	for (rank = 1; rank < r->ranks; rank++) {
		printf("         rank %-2u         ", rank);
		print_phase(&r->rank[rank].trial[i]);
	}
}

static void print_head(const struct stall_result *r)
{
	printf("device     %.50s x%d (%s)\n", r->device_name, r->gpus, r->driver);
	printf("rocBLAS    %.68s\n", r->gemm);
	printf("pool       %s, %llu bytes at %p (device %p)\n", r->allocator,
	       (unsigned long long)r->pool.bytes, r->pool.host, r->pool.device);
	if (r->pool.huge_bytes)
		printf("           %llu MiB of it huge pages\n",
		       (unsigned long long)(r->pool.huge_bytes >> 20));
	printf("trigger    %s on the first %llu MiB; %u rank%s\n", r->trigger->name,
	       (unsigned long long)(r->window_bytes >> 20), r->ranks, r->ranks > 1 ? "s" : "");
	printf("control    median %.3f ms, worst %.3f ms, %u iterations, evicted ",
	       ms(r->control.median_ns), ms(r->control.dist.max), r->iterations);
	print_evicted(&r->control.evicted);
	printf("\n\n");
}

static void print_dist(const char *name, const struct stall_dist *d)
{
	printf("%-10s %10.3f %10.3f %10.3f %10.3f %12.3f\n", name, ms(d->p50), ms(d->p90),
	       ms(d->p99), ms(d->p99_9), ms(d->max));
}

static void print_distributions(const struct stall_result *r)
{
	char name[24];
	unsigned int i;

	printf("\niterations (ms)   p50        p90        p99      p99.9          max\n");
	print_dist("control", &r->control.dist);
	for (i = 0; i < r->trials; i++) {
		snprintf(name, sizeof(name), "trial %u", i + 1);
		print_dist(name, &r->trial[i].phase.dist);
	}
}

int stall_print_table(const struct stall_result *r)
{
	unsigned int i;

	print_head(r);
	printf("trial  pages                 iteration (ms)     copy   evicted (ms)\n");
	printf("       moved/not            worst    median            per GPU\n");
	for (i = 0; i < r->trials; i++)
		print_trial(r, i);
	print_distributions(r);
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}
