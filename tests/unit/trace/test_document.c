/* SPDX-License-Identifier: BSD-2-Clause */
/* hcw(5) says what hcwatch_abi.h says: every record type has its section, every field its line with
 * offset and width. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trace_file.h"

#define PAGE   "../user/man/hcw.5.scd"
#define HEADER "../bpf/hcwatch_abi.h"

struct field {
	int type;
	size_t offset, size;
	const char *name;
};

#define FIELD(type, s, field)                                                           \
	{                                                                               \
		type, offsetof(struct s, field), sizeof(((struct s *)0)->field), #field \
	}

static const struct field fields[] = {
	FIELD(1, hcw_move_pages, start),
	FIELD(1, hcw_move_pages, lo),
	FIELD(1, hcw_move_pages, hi),
	FIELD(1, hcw_move_pages, pid),
	FIELD(1, hcw_move_pages, requested),
	FIELD(1, hcw_move_pages, read),
	FIELD(1, hcw_move_pages, moved),
	FIELD(1, hcw_move_pages, efault),
	FIELD(1, hcw_move_pages, enoent),
	FIELD(1, hcw_move_pages, ebusy),
	FIELD(1, hcw_move_pages, eacces),
	FIELD(1, hcw_move_pages, other),
	FIELD(1, hcw_move_pages, rc),
	FIELD(2, hcw_migrate, start),
	FIELD(2, hcw_migrate, attempt),
	FIELD(2, hcw_migrate, ok),
	FIELD(2, hcw_migrate, failed),
	FIELD(2, hcw_migrate, mode),
	FIELD(2, hcw_migrate, reason),
	FIELD(3, hcw_inval, start),
	FIELD(3, hcw_inval, mm),
	FIELD(3, hcw_inval, lo),
	FIELD(3, hcw_inval, hi),
	FIELD(3, hcw_inval, attempt),
	FIELD(3, hcw_inval, count),
	FIELD(3, hcw_inval, event),
	FIELD(3, hcw_inval, victim),
	FIELD(3, hcw_inval, span),
	FIELD(3, hcw_inval, reason),
	FIELD(3, hcw_inval, via),
	FIELD(4, hcw_quiesce, start),
	FIELD(4, hcw_quiesce, mm),
	FIELD(4, hcw_quiesce, attempt),
	FIELD(4, hcw_quiesce, lo),
	FIELD(4, hcw_quiesce, hi),
	FIELD(4, hcw_quiesce, trigger),
	FIELD(4, hcw_quiesce, ret),
	FIELD(4, hcw_quiesce, stack),
	FIELD(4, hcw_quiesce, victim),
	FIELD(4, hcw_quiesce, reason),
	FIELD(4, hcw_quiesce, via),
	FIELD(5, hcw_resume, start),
	FIELD(5, hcw_resume, mm),
	FIELD(5, hcw_resume, ret),
	FIELD(6, hcw_evict, start),
	FIELD(6, hcw_evict, mm),
	FIELD(6, hcw_evict, victim),
	FIELD(6, hcw_evict, trigger),
	FIELD(6, hcw_evict, ret),
	FIELD(6, hcw_evict, stack),
	FIELD(8, hcw_pass, start),
	FIELD(8, hcw_pass, mm),
	FIELD(8, hcw_pass, work),
	FIELD(8, hcw_pass, faults),
	FIELD(8, hcw_pass, resumed),
	FIELD(9, hcw_iter, id),
	FIELD(9, hcw_iter, tgid),
	FIELD(11, hcw_pool, ptr),
	FIELD(11, hcw_pool, bytes),
	FIELD(11, hcw_pool, backing),
	FIELD(11, hcw_pool, tgid),
	FIELD(13, hcw_task, start_time),
	FIELD(13, hcw_task, mm),
	FIELD(13, hcw_task, tid),
	FIELD(13, hcw_task, tgid),
	FIELD(13, hcw_task, comm),
	FIELD(14, hcw_task_exit, mm),
	FIELD(14, hcw_task_exit, tid),
	FIELD(14, hcw_task_exit, tgid),
	FIELD(14, hcw_task_exit, last),
	FIELD(14, hcw_task_exit, pad),
	FIELD(15, hcw_request, mm),
	FIELD(15, hcw_request, kind),
	FIELD(15, hcw_request, tgid),
	FIELD(129, hcw_clock, monotonic),
	FIELD(129, hcw_clock, realtime),
	FIELD(130, hcw_hole, from),
	FIELD(130, hcw_hole, to),
	FIELD(130, hcw_hole, count),
	FIELD(130, hcw_hole, source),
	FIELD(130, hcw_hole, cause),
	FIELD(131, hcw_stack, id),
	FIELD(131, hcw_stack, depth),
	FIELD(132, hcw_mapping, lo),
	FIELD(132, hcw_mapping, hi),
	FIELD(132, hcw_mapping, pool),
	FIELD(132, hcw_mapping, tgid),
	FIELD(132, hcw_mapping, vmflags),
	FIELD(133, hcw_sample, evicted_ms),
	FIELD(133, hcw_sample, pid),
	FIELD(133, hcw_sample, gpuid),
	FIELD(134, hcw_task_info, tgid),
	FIELD(134, hcw_task_info, parent),
	FIELD(135, hcw_totals, source),
	FIELD(135, hcw_totals, emitted),
	FIELD(135, hcw_totals, lost),
	FIELD(135, hcw_totals, ring_full),
	FIELD(135, hcw_totals, map_full),
	FIELD(135, hcw_totals, skipped),
	FIELD(135, hcw_totals, unbegun),
	FIELD(137, hcw_limits, count),
	FIELD(136, hcw_end, records),
	FIELD(136, hcw_end, reason),
};

static char *read_text(const char *path)
{
	size_t size;
	char *text = (char *)read_file(path, &size);

	text[size] = '\0';
	return text;
}

/* The section of a type, up to the next one; its headline is "## 6 EVICT, 7 RESTORE". */
static const char *section(const char *page, int type, const char *name, const char **end)
{
	const char *p = page;
	char want[64];

	snprintf(want, sizeof(want), " %d %s", type, name);
	while ((p = strstr(p, "\n## "))) {
		const char *line_end = strchr(p + 1, '\n');
		const char *hit = strstr(p, want);

		if (hit && hit < line_end) {
			*end = strstr(line_end, "\n#");
			return line_end;
		}
		p = line_end;
	}
	return NULL;
}

static void test_every_type(void **state)
{
	char *header = read_text(HEADER), *page = read_text(PAGE);
	const char *p = header;
	int types = 0;

	(void)state;
	while ((p = strstr(p, "\tHCW_R_"))) {
		char name[32];
		const char *end;
		int type;

		p += strlen("\tHCW_R_");
		if (sscanf(p, "%31[A-Z_] = %d,", name, &type) != 2)
			continue; /* HCW_R_BPF_COUNT */
		if (!section(page, type, name, &end))
			fail_msg("hcw(5) has no section \"%d %s\"", type, name);
		types++;
	}
	assert_int_equal(types, 25);
	free(header);
	free(page);
}

static void test_every_field(void **state)
{
	char *page = read_text(PAGE);

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[i];
		const char *end, *start = section(page, f->type, "", &end);
		char line[64];
		int found = 0;

		assert_non_null(start);
		for (const char *p = start; p && p < end; p = strchr(p + 1, '\n')) {
			unsigned int offset, bits;
			char sign;

			if (sscanf(p, "\n%2u  %c%u  %63[a-z_]", &offset, &sign, &bits, line) == 4 &&
			    !strcmp(line, f->name))
				found = offset == f->offset && bits == 8 * f->size;
			else if (sscanf(p, "\n%2u  %u bytes  %63[a-z_]", &offset, &bits, line) ==
					 3 &&
				 !strcmp(line, f->name))
				found = offset == f->offset && bits == f->size;
		}
		if (!found)
			fail_msg("hcw(5), type %d: no right line for %s at %zu", f->type, f->name,
				 f->offset);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_every_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
