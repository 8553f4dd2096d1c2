/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "result.h"

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void print_pages(const struct stall_pages *p)
{
	char text[40];

	snprintf(text, sizeof(text), "%u / %u%s", p->moved, p->efault, p->efault ? " EFAULT" : "");
	printf("%-18s", text);
}

static void print_rest(const struct stall_pages *p)
{
	if (p->moved + p->efault == p->attempted)
		return;
	printf("      no page %u, busy %u, shared %u, other %u\n", p->enoent, p->ebusy, p->eacces,
	       p->other);
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

static void print_trial(unsigned int number, const struct stall_trial *t)
{
	printf("%5u  ", number);
	print_pages(&t->pages);
	printf("%12.3f %9.3f   %-5s  ", ms(t->max_ns), ms(t->median_ns),
	       t->copy_ok ? "right" : "WRONG");
	print_evicted(&t->evicted);
	putchar('\n');
	print_rest(&t->pages);
}

int stall_print_table(const struct stall_result *r)
{
	unsigned int i;

	printf("device     %.50s x%d (%s)\n", r->device_name, r->gpus, r->driver);
	printf("rocBLAS    %.68s\n", r->gemm);
	printf("pool       %s, %llu bytes at %p (device %p)\n", r->allocator,
	       (unsigned long long)r->pool.bytes, r->pool.host, r->pool.device);
	printf("control    median %.3f ms, worst %.3f ms, %u iterations, evicted ",
	       ms(r->control_median_ns), ms(r->control_max_ns), r->iterations);
	print_evicted(&r->control_evicted);
	printf("\n\n");
	printf("trial  pages                 iteration (ms)     copy   evicted (ms)\n");
	printf("       moved/refused        worst    median            per GPU\n");
	for (i = 0; i < r->trials; i++)
		print_trial(i + 1, &r->trial[i]);
	return fflush(stdout) ? -1 : 0;
}
