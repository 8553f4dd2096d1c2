/* SPDX-License-Identifier: BSD-2-Clause */
/* What `hcwatch doctor` found, and its renderers. They decide nothing. */
#ifndef HCW_OUT_DOCTOR_H
#define HCW_OUT_DOCTOR_H

#include "../chain/findings.h"
#include "report.h"

#define DOCTOR_MAX_SETTINGS 16
#define DOCTOR_MAX_MODULES  4
#define DOCTOR_MAX_NODES    64
#define DOCTOR_MAX_CHECKS   16
#define DOCTOR_MAX_CAPS	    8

enum doctor_known {
	DOCTOR_KNOWN,
	DOCTOR_ABSENT,	/* this kernel has no such thing */
	DOCTOR_UNKNOWN, /* it could not be read: `why` says so */
};

/* What a setting, as it stands, does to a pool of user pages under a GPU. */
enum doctor_effect {
	DOCTOR_NO,	   /* nothing: off, or measured to spare this kind of pool */
	DOCTOR_CAN,	   /* stops its GPUs: measured on 6.1, 6.12 and 7.3 */
	DOCTOR_CAN_SOME,   /* measured to do so on some kernels only */
	DOCTOR_ON_REQUEST, /* only pools or programs that ask for it */
	DOCTOR_UNMEASURED, /* the kernel's source says it can */
	DOCTOR_CANNOT_SAY, /* the setting is not known */
};

struct doctor_setting {
	const char *name; /* stable: member of the JSON */
	enum doctor_known known;
	char value[32];		     /* as the kernel writes it; "" unless known */
	char means[160];	     /* that value in words */
	char why[96];		     /* why it is not known */
	enum doctor_effect shared;   /* on pools mapped MAP_SHARED, as SGLang registers them */
	enum doctor_effect private_; /* on MAP_PRIVATE ones, as older ROCr allocates them */
	const char *code;	     /* of the finding it makes, NULL = none */
};

struct doctor_module {
	const char *name;
	enum doctor_known known;
	const char *state; /* "loaded", "built in", "not loaded", "coming or going" */
	bool present;	   /* loaded or built in */
	bool out_of_tree;
	char version[64], srcversion[32]; /* "" when it has none */
	enum doctor_known btf;
};

struct doctor_gpu {
	unsigned int render;
	char driver[32];
	bool simulated, has_gtt;
	__u64 gtt_total, gtt_used; /* bytes */
};

struct doctor_host {
	char host[65], kernel[65];
	enum doctor_known nodes_known;
	int node[DOCTOR_MAX_NODES]; /* those with memory */
	size_t n_nodes;
	struct doctor_setting setting[DOCTOR_MAX_SETTINGS];
	size_t n_settings;
	struct doctor_module module[DOCTOR_MAX_MODULES];
	size_t n_modules;
	enum doctor_known kernel_btf, kfd;
	struct doctor_gpu gpu[HCW_MAX_GPUS];
	size_t n_gpus;
	enum doctor_known gpus_known;
	const char *ttm_module; /* whose pages_limit it is; NULL = none */
	__u64 ttm_limit;	/* bytes */
};

/* How one thing of this host or process bears on tracing. */
enum doctor_bearing { DOCTOR_FINE, DOCTOR_LIMITS, DOCTOR_BLOCKS, DOCTOR_NOT_KNOWN };

struct doctor_check {
	const char *name; /* stable: "lockdown", "perf_event_paranoid" */
	enum doctor_bearing bearing;
	char value[64];	  /* what was read, "" for nothing */
	char means[320];  /* what follows from it */
	const char *code; /* of the finding that tells the remedy, NULL = none needed */
};

struct doctor_cap {
	const char *name; /* "CAP_BPF" */
	bool have;
	const char *buys;
};

struct doctor_probes {
	struct hcw_probe_info probe[HCW_MAX_PROBES];
	bool needed[HCW_MAX_PROBES]; /* nothing is ever cleared without it */
	size_t n_probes;
	bool denied;		   /* BPF is not permitted at all */
	char what[512], hint[512]; /* the error then, "" otherwise */
	struct doctor_check check[DOCTOR_MAX_CHECKS];
	size_t n_checks;
	struct doctor_cap cap[DOCTOR_MAX_CAPS];
	size_t n_caps;
};

/* Settings that make a finding, and things that could not be read. */
size_t doctor_findings(const struct doctor_host *h);
size_t doctor_unread(const struct doctor_host *h);

/* 5 when something could not be read, else 1 with a finding, else 0. */
enum hcw_exit doctor_exit(const struct doctor_host *h);

size_t doctor_needed(const struct doctor_probes *p, bool active_only);

/* 4 when BPF is not permitted, 0 when every needed point is active, else 5. */
enum hcw_exit doctor_probes_exit(const struct doctor_probes *p);

/* "no", "yes", ... : stable, as in the JSON. */
const char *doctor_effect_name(enum doctor_effect e);
const char *doctor_known_name(enum doctor_known k);
const char *doctor_bearing_name(enum doctor_bearing b);

/* At most 80 columns wide; `bold` sets the first word and the codes off, for a terminal. */
void doctor_text(FILE *f, const struct doctor_host *h, bool bold);
void doctor_probes_text(FILE *f, const struct doctor_probes *p, bool bold);

/* One JSON object (schema 1, hcwatch-doctor(8)) and a newline. 0 or -EIO. */
int doctor_json(FILE *f, const struct doctor_host *h);
int doctor_probes_json(FILE *f, const struct doctor_probes *p);

#endif
