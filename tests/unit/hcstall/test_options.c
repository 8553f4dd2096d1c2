/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "../../../tools/hcstall/options.h"
#include "../../../tools/hcstall/triggers.h"
#include "capture.h"

#define MAX_ARGS 12

struct args {
	const char *arg[MAX_ARGS]; /* NULL terminated, without the program's name */
};

static void parse(const struct args *args, struct stall_options *opts)
{
	char *argv[MAX_ARGS + 2] = {(char[]){"hcstall"}};
	int argc = 1;

	while (args->arg[argc - 1]) {
		argv[argc] = strdup(args->arg[argc - 1]);
		argc++;
	}
	stall_options_parse(argc, argv, opts);
	while (--argc)
		free(argv[argc]);
}

static int parse_in_child(const void *arg)
{
	struct stall_options opts;

	parse(arg, &opts);
	return 0;
}

static void test_defaults(void **state)
{
	struct args args = {{"--allocator", "registered"}};
	struct stall_options o;

	(void)state;
	parse(&args, &o);
	assert_int_equal(o.backing, HCPOOL_REGISTERED);
	assert_int_equal(o.pool_bytes, 180000000000);
	assert_int_equal(o.trials, 3);
	assert_int_equal(o.iterations, 1000);
	assert_int_equal(o.gemm_n, 4096);
	assert_int_equal(o.copy_bytes, 16 << 20);
	assert_int_equal(o.window_bytes, 2 << 20);
	assert_int_equal(o.ranks, 1);
	assert_int_equal(o.kfd_pid, 0);
	assert_int_equal(o.pool_flags, 0);
	assert_string_equal(o.trigger->name, "move_pages");
	assert_false(o.json);
	assert_null(o.hip);
	assert_null(o.rocblas);
}

static void test_all_options(void **state)
{
	struct args args = {{"-aregistered", "--window-mib=3", "--gemm-n=64", "--copy-mib=1",
			     "--ranks=4", "--kfd-pid=123", "--trigger=mbind", "--huge"}};
	struct stall_options o;

	(void)state;
	parse(&args, &o);
	assert_int_equal(o.window_bytes, 3 << 20);
	assert_int_equal(o.gemm_n, 64);
	assert_int_equal(o.copy_bytes, 1 << 20);
	assert_int_equal(o.ranks, 4);
	assert_int_equal(o.kfd_pid, 123);
	assert_string_equal(o.trigger->name, "mbind");
	assert_int_equal(o.pool_flags, HCPOOL_HUGE_2M);
	args = (struct args){{"-auserptr", "--trigger", "fork"}};
	parse(&args, &o);
	assert_int_equal(o.backing, HCPOOL_USERPTR);
	args = (struct args){{"-aregistered", "--thp"}};
	parse(&args, &o);
	assert_int_equal(o.pool_flags, HCPOOL_THP);
}

/* Asks for nothing else: no allocator is needed. */
static void test_list(void **state)
{
	struct args args = {{"--trigger", "list"}};
	struct captured c = capture(parse_in_child, &args);
	char *line;

	(void)state;
	assert_int_equal(c.code, 0);
	assert_string_equal(c.err, "");
	assert_non_null(strstr(c.out, "move_pages-other"));
	assert_non_null(strstr(c.out, "(second process)"));
	for (line = strtok(c.out, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
}

static void test_sizes(void **state)
{
	static const struct {
		struct args args;
		uint64_t bytes;
	} good[] = {
		{{{"--allocator=gtt", "--pool-gb=180"}}, 180000000000},
		{{{"--allocator=gtt", "--pool-gb=0.5"}}, 500000000},
		{{{"--allocator=gtt", "--pool-mib", "64"}}, 67108864},
		{{{"--allocator=gtt", "--pool-mib", "2"}}, 2097152},
		{{{"--allocator=gtt", "--pool-mib", "16777216"}}, 1ull << 44},
	};
	struct stall_options o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		parse(&good[i].args, &o);
		assert_int_equal(o.backing, HCPOOL_GTT);
		assert_int_equal(o.pool_bytes, good[i].bytes);
	}
}

static void test_wrong(void **state)
{
	static const struct {
		struct args args;
		const char *text;
	} bad[] = {
		{{{NULL}}, "--allocator is required: registered, gtt or userptr"},
		{{{"--allocator="}}, "--allocator is registered, gtt or userptr, not \"\""},
		{{{"--allocator=GTT"}}, "--allocator is registered, gtt or userptr, not \"GTT\""},
		{{{"--allocator=unknown"}}, "not \"unknown\""},
		{{{"--allocator=gtt", "--window-mib=0"}},
		 "--window-mib takes a number from 1 to 1024"},
		{{{"--allocator=gtt", "--window-mib=1025"}}, "not \"1025\""},
		{{{"--allocator=gtt", "--window-mib=5", "--pool-mib=4"}}, "larger than the pool"},
		{{{"--allocator=gtt", "--gemm-n=0"}}, "--gemm-n takes a number from 1"},
		{{{"--allocator=gtt", "--gemm-n=4k"}}, "not \"4k\""},
		{{{"--allocator=gtt", "--copy-mib=0"}}, "--copy-mib takes a number from 1"},
		{{{"--allocator=gtt", "--ranks=0"}}, "--ranks takes a number from 1 to 64"},
		{{{"--allocator=gtt", "--ranks=65"}}, "not \"65\""},
		{{{"--allocator=gtt", "--kfd-pid=0"}}, "--kfd-pid takes a number from 1"},
		{{{"--allocator=gtt", "--kfd-pid=-1"}}, "not \"-1\""},
		{{{"--allocator=gtt", "--trigger=mov"}}, "there is no \"mov\"; --trigger list"},
		{{{"--allocator=gtt", "--trigger="}}, "there is no \"\""},
		{{{"--allocator=gtt", "--huge"}}, "are for --allocator registered"},
		{{{"--allocator=userptr", "--thp"}}, "are for --allocator registered"},
		{{{"--allocator=registered", "--thp", "--huge"}}, "give one of them"},
		{{{"--allocator=gtt", "--pool-mib=1"}}, "from 2 to 16777216, not \"1\""},
		{{{"--allocator=gtt", "--pool-mib=16777217"}}, "not \"16777217\""},
		{{{"--allocator=gtt", "--pool-mib=64M"}}, "not \"64M\""},
		{{{"--allocator=gtt", "--pool-mib=-64"}}, "not \"-64\""},
		{{{"--allocator=gtt", "--pool-gb="}}, "--pool-gb takes decimal GB"},
		{{{"--allocator=gtt", "--pool-gb=0.001"}}, "not \"0.001\""},
		{{{"--allocator=gtt", "--pool-gb=1e2"}}, "not \"1e2\""},
		{{{"--allocator=gtt", "--pool-gb=nan"}}, "not \"nan\""},
		{{{"--allocator=gtt", "--pool-gb=99999999999999999999"}}, "--pool-gb takes"},
		{{{"--allocator=gtt", "--pool-gb=1", "--pool-mib=64"}}, "give one of them"},
		{{{"--allocator=gtt", "--trials=0"}}, "--trials takes a number from 1"},
		{{{"--allocator=gtt", "--trials=1001"}}, "not \"1001\""},
		{{{"--allocator=gtt", "--iterations=9"}}, "--iterations takes a number"},
		{{{"--allocator=gtt", "--iterations=1e3"}}, "not \"1e3\""},
		{{{"--allocator=gtt", "extra"}}, "unexpected argument \"extra\""},
		{{{"--allocator=gtt", "--nonsense"}}, "--nonsense"},
	};
	struct captured c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		c = capture(parse_in_child, &bad[i].args);
		assert_int_equal(c.code, 2);
		assert_string_equal(c.out, "");
		if (!strstr(c.err, bad[i].text))
			fail_msg("\"%s\" is not in: %s", bad[i].text, c.err);
	}
}

static void test_help(void **state)
{
	struct args args = {{"--help"}};
	struct captured c = capture(parse_in_child, &args);

	(void)state;
	assert_int_equal(c.code, 0);
	assert_non_null(strstr(c.out, "Exit status: 0 measured"));
	assert_string_equal(c.err, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_all_options),
		cmocka_unit_test(test_list),	 cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_wrong),	 cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
