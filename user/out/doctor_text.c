/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of `hcwatch doctor`: the host. Strings of the host are escaped. */
#include <inttypes.h>
#include <string.h>
#include "../base/escape.h"
#include "doctor.h"
#include "fmt.h"

#define LABEL "%-11s"

static void bold_word(FILE *f, const char *word, bool bold)
{
	fprintf(f, bold ? "\033[1m%s\033[0m" : "%s", word);
}

/* "HCW-401  text": a heading in the first 11 columns. */
static void headed(FILE *f, const char *head, const char *text, bool bold)
{
	bold_word(f, head, bold);
	fprintf(f, "%*s", strlen(head) < 11 ? (int)(11 - strlen(head)) : 1, "");
	fmt_wrap_at(f, 11, text);
}

static void labelled(FILE *f, const char *label, const char *text)
{
	char head[32];

	snprintf(head, sizeof(head), LABEL, label);
	fmt_wrap(f, head, text);
}

static void answer(FILE *f, const struct doctor_host *h, bool bold)
{
	size_t found = doctor_findings(h), unread = doctor_unread(h);
	char text[256];

	if (unread) {
		snprintf(text, sizeof(text),
			 "%zu thing%s of this host could not be read; of the others, %zu can stop "
			 "GPUs that work from registered pools.",
			 unread, unread == 1 ? "" : "s", found);
		headed(f, "INCOMPLETE", text, bold);
	} else if (found) {
		snprintf(text, sizeof(text),
			 "%zu host setting%s can stop GPUs that work from registered pools.", found,
			 found == 1 ? "" : "s");
		headed(f, "EXPOSED", text, bold);
	} else {
		headed(f, "QUIET",
		       "No host setting was found that moves or unmaps pages of registered pools by "
		       "itself.",
		       bold);
	}
	fputc('\n', f);
}

static void nodes(char *out, size_t size, const struct doctor_host *h)
{
	size_t i, n;

	if (h->nodes_known != DOCTOR_KNOWN) {
		snprintf(out, size, "%s",
			 h->nodes_known == DOCTOR_ABSENT ? "no NUMA" : "NUMA nodes unknown");
		return;
	}
	n = (size_t)snprintf(out, size, "%zu memory node%s", h->n_nodes,
			     h->n_nodes == 1 ? "" : "s");
	for (i = 0; i < h->n_nodes && i < 8 && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%d", i ? ", " : " (", h->node[i]);
	if (i && n < size)
		snprintf(out + n, size - n, "%s)", i < h->n_nodes ? ", ..." : "");
}

static void host_line(FILE *f, const struct doctor_host *h)
{
	char host[100], kernel[100], node[96], text[400];

	nodes(node, sizeof(node), h);
	snprintf(text, sizeof(text), "%s · kernel %s · %s · %s",
		 hcw_escape(host, sizeof(host), h->host, strlen(h->host)),
		 hcw_escape(kernel, sizeof(kernel), h->kernel, strlen(h->kernel)), node,
		 h->kernel_btf == DOCTOR_KNOWN	  ? "BTF"
		 : h->kernel_btf == DOCTOR_ABSENT ? "no BTF (CONFIG_DEBUG_INFO_BTF)"
						  : "BTF present but not readable");
	labelled(f, "host", text);
}

static void module_line(FILE *f, const struct doctor_module *m)
{
	char version[100], text[400];
	size_t n;

	if (m->known != DOCTOR_KNOWN) {
		snprintf(text, sizeof(text), "%s: unknown", m->name);
		labelled(f, "driver", text);
		return;
	}
	n = (size_t)snprintf(text, sizeof(text), "%s %s", m->name, m->state);
	if (m->version[0])
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, ", version %s",
			hcw_escape(version, sizeof(version), m->version, strlen(m->version)));
	if (m->out_of_tree)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      ", built outside the kernel (DKMS)");
	if (m->present)
		snprintf(text + n, sizeof(text) - n, ", %s",
			 m->btf == DOCTOR_KNOWN	   ? "BTF"
			 : m->btf == DOCTOR_ABSENT ? "no BTF of its own: kprobes instead of fentry"
						   : "BTF unknown");
	labelled(f, "driver", text);
}

static void gpu_line(FILE *f, const struct doctor_gpu *g)
{
	char driver[48], total[FMT_LEN], used[FMT_LEN], text[240];
	size_t n =
		(size_t)snprintf(text, sizeof(text), "renderD%u %s%s", g->render,
				 hcw_escape(driver, sizeof(driver), g->driver, strlen(g->driver)),
				 g->simulated ? " (simulated)" : "");

	if (g->has_gtt)
		snprintf(text + n, sizeof(text) - n, ", GTT %s, used %s",
			 fmt_bytes(total, g->gtt_total), fmt_bytes(used, g->gtt_used));
	else
		snprintf(text + n, sizeof(text) - n, ", GTT unknown");
	labelled(f, "gpu", text);
}

static void gpus(FILE *f, const struct doctor_host *h)
{
	char limit[FMT_LEN], text[160];
	size_t i;

	for (i = 0; i < h->n_gpus; i++)
		gpu_line(f, &h->gpu[i]);
	if (!h->n_gpus)
		labelled(f, "gpu",
			 h->gpus_known == DOCTOR_UNKNOWN ? "unknown"
							 : "no AMD GPU is to be seen here");
	if (h->ttm_module) {
		snprintf(text, sizeof(text),
			 "%s.pages_limit allows %s for all GPUs and processes together",
			 h->ttm_module, fmt_bytes(limit, h->ttm_limit));
		labelled(f, "gtt", text);
	}
	if (h->kfd != DOCTOR_KNOWN)
		labelled(f, "kfd",
			 h->kfd == DOCTOR_ABSENT
				 ? "not there (/sys/class/kfd): no ROCm process can "
				   "have queues here"
				 : "unknown");
}

static const char *value_of(const struct doctor_setting *s)
{
	if (s->known == DOCTOR_ABSENT)
		return "not built in";
	return s->known == DOCTOR_UNKNOWN ? "unknown" : s->value;
}

static void settings(FILE *f, const struct doctor_host *h)
{
	char value[48];
	const char *v;
	size_t i;

	fprintf(f, "\n%-28s %-14s %-17s %s\n", "can it stop a pool's GPUs?", "value",
		"MAP_SHARED pool", "MAP_PRIVATE pool");
	for (i = 0; i < h->n_settings; i++) {
		const struct doctor_setting *s = &h->setting[i];

		v = value_of(s);
		fprintf(f, "%-28s %-14s %-17s %s\n", s->name,
			hcw_escape(value, sizeof(value), v, strlen(v)),
			doctor_effect_name(s->shared), doctor_effect_name(s->private_));
		if (s->means[0])
			fmt_wrap(f, "    ", s->means);
	}
}

static void finding(FILE *f, const struct doctor_setting *s, bool bold)
{
	const struct hcw_finding_text *t = hcw_finding_by_code(s->code);
	char seen[96], value[48];

	fputc('\n', f);
	headed(f, t->code, t->title, bold);
	snprintf(seen, sizeof(seen), "%s = %s", s->name,
		 hcw_escape(value, sizeof(value), s->value, strlen(s->value)));
	labelled(f, "  seen", seen);
	labelled(f, "  do", t->remedy);
	labelled(f, "  leaves", t->leaves);
}

static void unknown_line(FILE *f, const struct doctor_setting *s)
{
	char text[160], why[128];

	snprintf(text, sizeof(text), "%s: %s", s->name,
		 hcw_escape(why, sizeof(why), s->why, strlen(s->why)));
	labelled(f, "unknown", text);
}

void doctor_text(FILE *f, const struct doctor_host *h, bool bold)
{
	size_t i;

	answer(f, h, bold);
	host_line(f, h);
	for (i = 0; i < h->n_modules; i++)
		module_line(f, &h->module[i]);
	gpus(f, h);
	settings(f, h);
	for (i = 0; i < h->n_settings; i++)
		if (h->setting[i].code)
			finding(f, &h->setting[i], bold);
	fputc('\n', f);
	labelled(f, "scope", "these settings are the host's, also when read in a container");
	for (i = 0; i < h->n_settings; i++)
		if (h->setting[i].known == DOCTOR_UNKNOWN)
			unknown_line(f, &h->setting[i]);
	labelled(
		f, "not asked",
		"who else moves pages: move_pages, mbind, cpusets and memory hotplug by others need "
		"no setting. A pool in GTT is hit by none of all this.");
	labelled(f, "Next:",
		 "hcwatch doctor --probes  (what can be traced here);  hcwatch lab  "
		 "(measures pools of its own)");
}
