/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `hcwatch lab`. */
#include <inttypes.h>
#include <string.h>
#include "../base/escape.h"
#include "fmt.h"
#include "lab.h"

static void probe_line(FILE *f, const struct lab_result *r)
{
	size_t active = 0, used = 0, i;
	char line[HCW_MAX_PROBES * 52], safe[sizeof(line)];

	for (i = 0; i < r->info.n_probes; i++)
		active += r->info.probe[i].active;
	used = (size_t)snprintf(line, sizeof(line), "%zu of %zu, lost %" PRIu64 ":", active,
				r->info.n_probes, (uint64_t)r->lost);
	for (i = 0; i < r->info.n_probes && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %s %s",
					 i ? " ·" : "", r->info.probe[i].point,
					 r->info.probe[i].tier);
	fmt_wrap(f, "probes   ", hcw_escape(safe, sizeof(safe), line, strlen(line)));
}

static void heading(FILE *f, const struct lab_result *r)
{
	char device[80], driver[48], kernel[80];

	fprintf(f, "device   %s x%zu (%s)   kernel %s\n",
		hcw_escape(device, sizeof(device), r->device, strlen(r->device)), r->n_gpus,
		hcw_escape(driver, sizeof(driver), r->driver, strlen(r->driver)),
		hcw_escape(kernel, sizeof(kernel), r->info.kernel, strlen(r->info.kernel)));
	if (r->trigger[0])
		fprintf(f, "trigger  %s\n",
			hcw_escape(device, sizeof(device), r->trigger, strlen(r->trigger)));
	probe_line(f, r);
}

/* All GPUs of a process stop together: two are shown, of more, or of long ones, the largest. */
static void evicted_text(char *buf, size_t size, const struct lab_trial *t)
{
	__u64 max = 0;
	size_t i;

	snprintf(buf, size, "%s", t->evicted_known ? "-" : "unknown");
	for (i = 0; i < t->n_evicted; i++)
		if (t->evicted[i].ms > max)
			max = t->evicted[i].ms;
	if (t->n_evicted == 2 && max < 10000)
		snprintf(buf, size, "%" PRIu64 " %" PRIu64, (uint64_t)t->evicted[0].ms,
			 (uint64_t)t->evicted[1].ms);
	else if (t->n_evicted)
		snprintf(buf, size, "%" PRIu64 " x%zu", (uint64_t)max, t->n_evicted);
}

static void trial_line(FILE *f, const struct lab_arm *a, size_t i)
{
	const struct lab_trial *t = &a->trial[i];
	char pages[40], evicted[48], episode[FMT_LEN] = "-", actor[80] = "-", comm[64];
	__u64 refused = t->attempted - t->moved;

	if (t->attempted)
		snprintf(pages, sizeof(pages), "%" PRIu64 " / %" PRIu64 "%s", (uint64_t)t->moved,
			 (uint64_t)refused, refused && refused == t->efault ? " EFAULT" : "");
	else
		snprintf(pages, sizeof(pages), "%s",
			 hcw_escape(comm, sizeof(comm), t->outcome, strlen(t->outcome)));
	evicted_text(evicted, sizeof(evicted), t);
	if (t->episodes)
		fmt_ms(episode, t->episode_ns);
	if (t->actor.tid)
		snprintf(actor, sizeof(actor), "%s (%u)",
			 hcw_escape(comm, sizeof(comm), t->actor.comm, strlen(t->actor.comm)),
			 t->actor.tgid);
	fprintf(f, "%-10s %2zu  %-14s %7.1f ms  %-9s %7s  %s\n", i ? "" : a->allocator, i + 1,
		pages, t->max_iteration_ms, evicted, episode, actor);
}

static void table(FILE *f, const struct lab_result *r)
{
	size_t i, j;

	fprintf(f, "\nallocator  #  pages               worst  evicted   episode  caused by\n"
		   "              moved/refused   iteration  ms (GPU)  ms\n");
	for (i = 0; i < r->n_arms; i++)
		for (j = 0; j < r->arm[i]->n_trials; j++)
			trial_line(f, r->arm[i], j);
	for (i = 0; i < r->n_arms; i++)
		fprintf(f, "%-12s control: median %.1f ms, worst %.1f ms\n", r->arm[i]->allocator,
			r->arm[i]->control_median_ms, r->arm[i]->control_max_ms);
}

static const char *shout(enum hcw_verdict_word v)
{
	static const char *const words[] = {"INCONCLUSIVE", "EXPOSED", "IMMUNE"};

	return words[v];
}

static void verdict_line(FILE *f, const struct lab_arm *a)
{
	__u64 asked = 0, moved = 0, refused = 0, episodes = 0, passes = 0;
	const char *sep = "";
	size_t i;

	for (i = 0; i < a->n_trials; i++) {
		asked += a->trial[i].attempted;
		moved += a->trial[i].moved;
		refused += a->trial[i].efault;
		episodes += a->trial[i].episodes;
		passes += a->trial[i].passes;
	}
	fprintf(f, "%-11s  %-12s by %s: ", a->allocator, shout(a->verdict),
		hcw_evidence_name(a->evidence));
	if (a->verdict == HCW_VERDICT_EXPOSED)
		fprintf(f,
			"moved %" PRIu64 " of %" PRIu64 "; episodes %" PRIu64 ", passes %" PRIu64,
			(uint64_t)moved, (uint64_t)asked, (uint64_t)episodes, (uint64_t)passes);
	else
		fprintf(f, "refused %" PRIu64 " of %" PRIu64 "; episodes %" PRIu64,
			(uint64_t)refused, (uint64_t)asked, (uint64_t)episodes);
	fprintf(f, "\n             ");
	for (i = 0; i < HCW_WHY_COUNT; i++)
		if (a->reasons & (1u << i)) {
			fprintf(f, "%s%s", sep, hcw_reason_name(1u << i));
			sep = ", ";
		}
	fputc('\n', f);
}

void lab_text(FILE *f, const struct lab_result *r)
{
	size_t i;

	heading(f, r);
	table(f, r);
	fputc('\n', f);
	for (i = 0; i < r->n_arms; i++)
		verdict_line(f, r->arm[i]);
	if (r->simulated)
		fprintf(f,
			"\nSimulated GPU: the migration and KFD paths are the kernel's own, the stall\n"
			"length is the model's. On hardware: the same command, --pool-gb 180.\n");
}
