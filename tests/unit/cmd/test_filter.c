/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom -p, --comm and --cgroup name: two containers with equal numbers, and the host's own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../sys/tree.h"
#include "../../../user/cmd/filter.h"

#define NS_A 4026532441u
#define NS_B 4026532519u

/* pids: "48213\t97"; the comm and the cgroup of a process, and its own pid namespace. */
static void process(int root, pid_t pid, const char *pids, unsigned long ns, const char *comm,
		    const char *cgroup)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%d/status", (int)pid);
	snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nPid:\t%d\nNSpid:\t%s\n", (int)pid,
		 (int)pid, pids);
	tree_text(root, path, text);
	snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
	snprintf(text, sizeof(text), "%d (%s) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 555 0 0\n",
		 (int)pid, comm);
	tree_text(root, path, text);
	snprintf(path, sizeof(path), "proc/%d/cgroup", (int)pid);
	tree_text(root, path, cgroup);
	snprintf(path, sizeof(path), "proc/%d/ns/pid", (int)pid);
	snprintf(text, sizeof(text), "pid:[%lu]", ns);
	tree_link(root, path, text);
}

static void at_kfd(int root, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "sys/class/kfd/kfd/proc/%d/pasid", (int)pid);
	tree_text(root, path, "0\n");
}

/* Host 97 and 500; 97 in A (48213), 97 in B (48300) and 12 in B (48301), which is 5 one deeper. */
static int machine(void)
{
	int root = tree_new();

	process(root, 97, "97", 4026531836u, "kworker/0:2", "0::/\n");
	process(root, 500, "500", 4026531836u, "bash", "0::/user.slice\n");
	process(root, 48213, "48213\t97", NS_A, "sglang::schedul", "0::/kubepods/a\n");
	process(root, 48300, "48300\t97", NS_B, "vllm [0]", "4:memory:/docker/b\n");
	process(root, 48301, "48301\t12\t5", NS_B, "sglang::schedul", "0::/kubepods/a/deeper\n");
	return root;
}

static int find(int root, pid_t number, uint64_t ns, struct filter_process *out,
		struct filter_process *other, struct hcw_err *err)
{
	const struct filter_pid named = {.number = number, .ns = ns};

	*err = (struct hcw_err){0};
	return filter_find(root, &named, out, other, err);
}

static void a_host_pid_comes_first(void **state)
{
	struct filter_process p, other;
	struct hcw_err err;
	int root = machine();

	(void)state;
	assert_int_equal(find(root, 97, 0, &p, &other, &err), 0);
	assert_int_equal(p.pid, 97);
	assert_int_equal(p.inner, 0);
	assert_string_equal(p.comm, "kworker/0:2");
	/* of those in containers only one that uses KFD is worth a word */
	assert_int_equal(other.pid, 0);
	at_kfd(root, 48300);
	at_kfd(root, 97);
	assert_int_equal(find(root, 97, 0, &p, &other, &err), 0);
	assert_int_equal(p.pid, 97);
	assert_int_equal(other.pid, 48300);
	/* one that has the number on both sides is no other */
	process(root, 77, "77\t77", NS_A, "twice", "0::/\n");
	at_kfd(root, 77);
	assert_int_equal(find(root, 77, 0, &p, &other, &err), 0);
	assert_int_equal(p.pid, 77);
	assert_int_equal(other.pid, 0);
	tree_remove(root);
}

static void an_inner_pid_is_translated(void **state)
{
	struct filter_process p, other;
	struct hcw_err err;
	int root = machine();

	(void)state;
	assert_int_equal(find(root, 5, 0, &p, &other, &err), 0);
	assert_int_equal(p.pid, 48301);
	assert_int_equal(p.inner, 5);
	assert_int_equal(p.ns, NS_B);
	/* by the number it has in the namespace between */
	assert_int_equal(find(root, 12, 0, &p, &other, &err), 0);
	assert_int_equal(p.pid, 48301);
	assert_int_equal(p.inner, 12);
	assert_int_equal(find(root, 97, NS_A, &p, &other, &err), 0);
	assert_int_equal(p.pid, 48213);
	assert_int_equal(p.ns, NS_A);
	assert_int_equal(find(root, 97, NS_B, &p, &other, &err), 0);
	assert_int_equal(p.pid, 48300);
	assert_int_equal(find(root, 97, 4026531836u, &p, &other, &err), 0);
	assert_int_equal(p.pid, 97);
	assert_int_equal(p.inner, 0);
	assert_int_equal(other.pid, 0);
	tree_remove(root);
}

static void two_of_one_number_are_listed(void **state)
{
	struct filter_process p, other;
	struct hcw_err err;
	int root = tree_new();

	(void)state;
	process(root, 48213, "48213\t97", NS_A, "sglang::schedul", "0::/\n");
	process(root, 48300, "48300\t97", NS_B, "vllm", "0::/\n");
	assert_int_equal(find(root, 97, 0, &p, &other, &err), -ESRCH);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_non_null(strstr(err.what, "2 have that number"));
	assert_non_null(strstr(err.hint, "process 48213, sglang::schedul, in pid namespace "
					 "4026532441\n"));
	assert_non_null(strstr(err.hint, "process 48300, vllm, in pid namespace 4026532519\n"));
	assert_non_null(strstr(err.hint, "-p 97@NAMESPACE"));
	for (int i = 0; i < 100; i++)
		process(root, 50000 + i, "50000\t97", NS_B, "0123456789abcde", "0::/\n");
	assert_int_equal(find(root, 97, 0, &p, &other, &err), -ESRCH);
	assert_non_null(strstr(err.what, "102 have that number"));
	assert_non_null(strstr(err.hint, "and 98 more\nTake one: -p 97@NAMESPACE"));
	tree_remove(root);
}

static void nobody_is_an_error(void **state)
{
	struct filter_process p, other;
	struct hcw_err err;
	int root = machine();

	(void)state;
	assert_int_equal(find(root, 98, 0, &p, &other, &err), -ESRCH);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_string_equal(err.what, "no process 98");
	assert_true(err.hint[0]);
	assert_int_equal(find(root, 97, 1, &p, &other, &err), -ESRCH);
	assert_string_equal(err.what, "no process 97 in pid namespace 1");
	assert_int_equal(find(root, 48213, NS_A, &p, &other, &err), -ESRCH);
	/* a thread's id */
	tree_text(root, "proc/501/status", "Tgid:\t500\nPid:\t501\nNSpid:\t501\n");
	assert_int_equal(find(root, 501, 0, &p, &other, &err), -ESRCH);
	assert_string_equal(err.what, "501 is a thread of process 500");
	tree_remove(root);
}

static void options(void **state)
{
	static const char *const pids[] = {"",	   "0",	   "-1",  "12abc",   "97@",
					   "97@x", "97@0", "@97", "4194305", "97@4294967296"};
	struct filter f = {0};
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		assert_int_equal(filter_add_pid(&f, pids[i], &why), -EINVAL);
	assert_false(filter_named(&f));
	assert_int_equal(filter_add_pid(&f, "97@4026532441", &why), 0);
	assert_int_equal(f.pid[0].number, 97);
	assert_int_equal(f.pid[0].ns, NS_A);
	assert_true(filter_named(&f));
	assert_false(filter_waits(&f));
	assert_int_equal(filter_add_comm(&f, "", &why), -EINVAL);
	assert_int_equal(filter_add_comm(&f, "0123456789abcdef", &why), -EINVAL);
	assert_non_null(strstr(why, "15 bytes"));
	assert_int_equal(filter_add_comm(&f, "0123456789abcde", &why), 0);
	assert_int_equal(filter_add_comm(&f, "sglang::scheduler*", &why), 0);
	assert_int_equal(filter_add_cgroup(&f, "kubepods", &why), -EINVAL);
	assert_int_equal(filter_add_cgroup(&f, "", &why), -EINVAL);
	assert_int_equal(filter_add_cgroup(&f, "/sys/fs/cgroup/a", &why), 0);
	assert_string_equal(f.cgroup[0], "/a");
	assert_true(filter_waits(&f));
	for (size_t i = 1; i < FILTER_MAX; i++)
		assert_int_equal(filter_add_pid(&f, "97", &why), 0);
	assert_int_equal(filter_add_pid(&f, "97", &why), -EINVAL);
}

static bool takes(int root, const char *comm, const char *cgroup, pid_t pid)
{
	struct filter f = {0};
	const char *why;

	if (comm)
		assert_int_equal(filter_add_comm(&f, comm, &why), 0);
	if (cgroup)
		assert_int_equal(filter_add_cgroup(&f, cgroup, &why), 0);
	return filter_takes(&f, root, pid);
}

static void names_and_groups(void **state)
{
	int root = machine();

	(void)state;
	assert_true(takes(root, "sglang::schedul", NULL, 48213));
	assert_true(takes(root, "sglang::schedul", NULL, 48301));
	assert_false(takes(root, "sglang::schedu", NULL, 48213));
	assert_false(takes(root, "SGLANG::schedul", NULL, 48213));
	assert_true(takes(root, "sglang*", NULL, 48213));
	assert_false(takes(root, "sglang*", NULL, 48300));
	/* brackets in a name are no pattern */
	assert_true(takes(root, "vllm [0]", NULL, 48300));
	assert_true(takes(root, "vllm ?0?", NULL, 48300));
	assert_true(takes(root, NULL, "/kubepods/a", 48301));
	assert_false(takes(root, NULL, "/kubepods/a/deeper", 48213));
	assert_true(takes(root, NULL, "/docker", 48300));
	/* several are a union */
	assert_true(takes(root, "bash", "/docker", 48300));
	assert_true(takes(root, "bash", "/docker", 500));
	assert_false(takes(root, "bash", "/docker", 48213));
	assert_false(takes(root, "bash", "/", 7));
	tree_remove(root);
}

static void an_unmatched_name_is_an_error(void **state)
{
	struct filter f = {0};
	struct hcw_err err = {0};
	const char *why;
	size_t n = 77;
	int root = machine();

	(void)state;
	assert_int_equal(filter_check(&f, root, &n, &err), 0);
	assert_int_equal(n, 0);
	filter_add_comm(&f, "sglang*", &why);
	filter_add_cgroup(&f, "/docker", &why);
	assert_int_equal(filter_check(&f, root, &n, &err), 0);
	assert_int_equal(n, 0);
	at_kfd(root, 48213);
	at_kfd(root, 48300);
	at_kfd(root, 97);
	assert_int_equal(filter_check(&f, root, &n, &err), 0);
	assert_int_equal(n, 2);
	/* each has to have somebody, not one of them */
	filter_add_comm(&f, "nobody*", &why);
	assert_int_equal(filter_check(&f, root, &n, &err), -ESRCH);
	assert_int_equal(err.code, HCW_EXIT_USAGE);
	assert_string_equal(err.what, "no process is named nobody*");
	f.n_comms = 1;
	filter_add_cgroup(&f, "/kubepods/b", &why);
	assert_int_equal(filter_check(&f, root, &n, &err), -ESRCH);
	assert_string_equal(err.what, "no process is in cgroup /kubepods/b");
	tree_remove(root);
}

static void text(void **state)
{
	struct filter f = {0};
	const char *why;
	char buf[80];

	(void)state;
	filter_text(&f, buf, sizeof(buf));
	assert_string_equal(buf, "");
	filter_add_cgroup(&f, "/a", &why);
	filter_add_pid(&f, "97", &why);
	filter_add_pid(&f, "98@4026532441", &why);
	filter_add_comm(&f, "sgl*", &why);
	filter_text(&f, buf, sizeof(buf));
	assert_string_equal(buf, "-p 97, -p 98@4026532441, --comm sgl*, --cgroup /a");
	filter_text(&f, buf, 8);
	assert_string_equal(buf, "-p 97, ");
}

/* self: what this /proc calls us; names: our NSpid there; 1's namespace. */
static int proc_of(const char *self, const char *pids, const char *own, const char *first)
{
	char path[64], status[128];
	int root = tree_new();

	if (!self)
		return root;
	tree_link(root, "proc/self", self);
	snprintf(path, sizeof(path), "proc/%s/status", self);
	snprintf(status, sizeof(status), "Tgid:\t%s\nNSpid:\t%s\n", self, pids);
	tree_text(root, path, status);
	snprintf(path, sizeof(path), "proc/%s/ns/pid", self);
	tree_link(root, path, own);
	if (first)
		tree_link(root, "proc/1/ns/pid", first);
	return root;
}

static void whose_pids_proc_shows(void **state)
{
	char me[16], other[16], below[40];
	struct {
		const char *self, *pids, *own, *first;
		enum filter_pids is;
	} cases[] = {
		{me, me, "pid:[4026531836]", NULL, FILTER_PIDS_HOST},
		/* a container with its own /proc */
		{me, me, "pid:[4026532441]", "pid:[4026532441]", FILTER_PIDS_INNER},
		/* one with the host's, and one with that of a container around it */
		{other, below, "pid:[4026532441]", "pid:[4026531836]", FILTER_PIDS_HOST},
		{other, below, "pid:[4026532441]", "pid:[4026532300]", FILTER_PIDS_INNER},
		{other, below, "pid:[4026532441]", NULL, FILTER_PIDS_INNER},
		/* the mount of a namespace we are not in: no self, or somebody else's */
		{NULL, NULL, NULL, NULL, FILTER_PIDS_FOREIGN},
		{other, other, "pid:[4026531836]", NULL, FILTER_PIDS_FOREIGN},
	};

	(void)state;
	snprintf(me, sizeof(me), "%d", (int)getpid());
	snprintf(other, sizeof(other), "%d", (int)getpid() + 1);
	snprintf(below, sizeof(below), "%s\t%s", other, me);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int root = proc_of(cases[i].self, cases[i].pids, cases[i].own, cases[i].first);

		assert_int_equal(filter_pids(root), cases[i].is);
		tree_remove(root);
	}
	/* process 1 is not ours to look at: kernel threads are only shown by the host's */
	for (int kernel = 0; kernel < 2; kernel++) {
		int root = proc_of(other, below, "pid:[4026532441]", NULL);

		process(root, 2, "2", 4026531836u, "kthreadd", "0::/\n");
		tree_text(root, "proc/2/stat",
			  "2 (kthreadd) S 0 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n");
		tree_text(root, "proc/2/cmdline", kernel ? "" : "kthreadd");
		assert_int_equal(filter_pids(root), kernel ? FILTER_PIDS_HOST : FILTER_PIDS_INNER);
		tree_remove(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_pid_comes_first),
		cmocka_unit_test(an_inner_pid_is_translated),
		cmocka_unit_test(two_of_one_number_are_listed),
		cmocka_unit_test(nobody_is_an_error),
		cmocka_unit_test(options),
		cmocka_unit_test(names_and_groups),
		cmocka_unit_test(an_unmatched_name_is_an_error),
		cmocka_unit_test(text),
		cmocka_unit_test(whose_pids_proc_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
