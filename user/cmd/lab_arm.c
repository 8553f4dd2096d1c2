/* SPDX-License-Identifier: BSD-2-Clause */
/* One arm of the lab: hcstall under the recorder. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lab_internal.h"
#include "recorder.h"

#define MAX_ARGS    24
#define MAX_OUTPUT  (4u << 20)

#define USERPTR_ENV "HSA_USERPTR_FOR_PAGED_MEM"

/* registered does not depend on the variable; with 0, HIP's own buffers are as in the gtt arm, and
 * SGLang's reproducer wants it so. */
const struct lab_kind lab_kinds[] = {
	{"registered", "0", true},
	{"gtt", "0", true},
	{"userptr", NULL, false},
	{0},
};

/* As hcstall --trigger list has them. */
const char *const lab_triggers[] = {
	"move_pages",	    "move_pages-other", "migrate_pages",   "mbind",	 "mprotect", "fork",
	"madvise-dontneed", "madvise-free",	"madvise-pageout", "soft-dirty", NULL};

const struct lab_kind *lab_kind_find(const char *name)
{
	size_t i;

	for (i = 0; lab_kinds[i].name; i++)
		if (!strcmp(lab_kinds[i].name, name))
			return &lab_kinds[i];
	return NULL;
}

static void hcstall_path(const struct lab_opts *o, char *buf, size_t size)
{
	ssize_t n;
	char *slash;

	snprintf(buf, size, "%s", o->hcstall ? o->hcstall : "hcstall");
	if (o->hcstall)
		return;
	n = readlink("/proc/self/exe", buf, size - 1);
	if (n <= 0)
		return;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	snprintf(slash + 1, size - (size_t)(slash + 1 - buf), "hcstall");
	if (access(buf, X_OK))
		snprintf(buf, size, "hcstall");
}

static void hcstall_args(const struct lab_opts *o, const char *allocator, char *program,
			 const char *argv[MAX_ARGS])
{
	size_t n = 0;

	argv[n++] = program;
	argv[n++] = "--json";
	argv[n++] = "--allocator";
	argv[n++] = allocator;
	if (o->pool_value) {
		argv[n++] = o->pool_option;
		argv[n++] = o->pool_value;
	}
	if (o->trials) {
		argv[n++] = "--trials";
		argv[n++] = o->trials;
	}
	if (o->iterations) {
		argv[n++] = "--iterations";
		argv[n++] = o->iterations;
	}
	if (o->trigger) {
		argv[n++] = "--trigger";
		argv[n++] = o->trigger;
	}
	if (o->hip) {
		argv[n++] = "--hip";
		argv[n++] = o->hip;
	}
	if (o->rocblas) {
		argv[n++] = "--rocblas";
		argv[n++] = o->rocblas;
	}
	argv[n] = NULL;
}

static int take_output(int fd, struct lab_result *res, struct lab_arm *arm, __u32 *pid, __u64 *ptr,
		       struct hcw_err *err)
{
	struct stat st;
	char *text;
	int ret;

	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > (off_t)MAX_OUTPUT)
		return hcw_err_set(err, -EBADMSG, HCW_EXIT_INCOMPLETE, "hcstall printed no result");
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return hcw_err_set(err, -errno, HCW_EXIT_INCOMPLETE,
				   "cannot read hcstall's result");
	ret = lab_parse(text, (size_t)st.st_size, res, arm, pid, ptr, err);
	munmap(text, (size_t)st.st_size);
	return ret;
}

/* hcstall has said on stderr what was wrong; its exit code is ours. */
static int hcstall_status(const struct recorder_result *rr, const char *allocator,
			  struct lab_arm *arm, struct hcw_err *err)
{
	int code = WIFEXITED(rr->child_status) ? WEXITSTATUS(rr->child_status) : -1;

	/* hcstall had the signal too, and says what it has as "measured in part" */
	if (rr->signalled)
		return hcw_err_set(err, -EINTR, HCW_EXIT_INCOMPLETE, "stopped by a signal");
	arm->measured = code == HCW_EXIT_OK;
	if (code == HCW_EXIT_OK || code == HCW_EXIT_INCOMPLETE)
		return 0;
	if (code < 0)
		return hcw_err_set(err, -ECHILD, HCW_EXIT_INCOMPLETE,
				   "hcstall (%s) was killed by signal %d", allocator,
				   WTERMSIG(rr->child_status));
	return hcw_err_set(err, -ECHILD, code > HCW_EXIT_TRACE ? HCW_EXIT_UNSUPPORTED : code,
			   "hcstall (%s) could not measure (exit code %d)", allocator, code);
}

static int analyse(const char *trace, int output, const struct recorder_result *rr,
		   const char *allocator, struct lab_result *res, struct lab_arm *arm,
		   struct hcw_err *err)
{
	struct hcw_loaded l;
	__u32 pid;
	__u64 ptr;
	int ret;

	ret = hcstall_status(rr, allocator, arm, err);
	if (!ret)
		ret = take_output(output, res, arm, &pid, &ptr, err);
	if (!ret)
		ret = load_trace(trace, &l, err);
	if (ret)
		return ret;
	if (!res->info.n_probes)
		res->info = l.info;
	lab_join(arm, hcw_chain_model(l.chain), pid, ptr);
	res->lost += arm->lost;
	hcw_chain_free(l.chain);
	return 0;
}

/* HIP reads it once, when hcstall starts it. */
static void set_userptr(const char *value)
{
	if (value)
		setenv(USERPTR_ENV, value, 1);
	else
		unsetenv(USERPTR_ENV);
}

void lab_trace_path(const struct lab_opts *o, const char *allocator, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s.hcw", o->traces, allocator);
}

int lab_arm_run(const struct lab_opts *o, const char *allocator, struct lab_result *res,
		struct lab_arm *arm, struct hcw_err *err)
{
	char program[PATH_MAX], trace[PATH_MAX];
	const char *argv[MAX_ARGS];
	struct recorder_opts ro = {
		.path = trace,
		.trace = {.argv = (char *const *)argv,
			  .own_command = true,
			  .choices = o->choices,
			  .no_wait = true},
	};
	struct recorder_result rr;
	int ret;

	snprintf(arm->allocator, sizeof(arm->allocator), "%s", allocator);
	lab_trace_path(o, allocator, trace, sizeof(trace));
	hcstall_path(o, program, sizeof(program));
	hcstall_args(o, allocator, program, argv);
	set_userptr(lab_kind_find(allocator)->userptr);
	ro.trace.stdout_fd = memfd_create("hcstall", MFD_CLOEXEC);
	if (ro.trace.stdout_fd < 0)
		return hcw_err_set(err, -errno, HCW_EXIT_UNSUPPORTED, "memfd_create: %s",
				   strerror(errno));
	ret = recorder_run(&ro, &rr, err);
	if (!ret)
		ret = analyse(trace, ro.trace.stdout_fd, &rr, allocator, res, arm, err);
	close(ro.trace.stdout_fd);
	return ret;
}
