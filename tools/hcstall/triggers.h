/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be done to the window in a trial. Each is done to memory of this process only, once, and
 * undone where it changed more than a page's place. */
#ifndef HCSTALL_TRIGGERS_H
#define HCSTALL_TRIGGERS_H

#include <stdbool.h>
#include <stdio.h>
#include "helper.h"
#include "window.h"

/* Where a trial's page counts come from. */
enum stall_counted {
	STALL_BY_STATUS, /* the call answers for each page; checked by a query afterwards */
	STALL_BY_QUERY,	 /* queries before and after it */
	STALL_NOT,	 /* it moves no page */
};

/* One firing. */
struct stall_shot {
	struct stall_window *window;
	struct stall_helper *helper; /* NULL unless the trigger needs it */
	int from, target;	     /* nodes: where it is, where it shall go */
};

struct stall_trigger {
	const char *name;
	const char *what; /* for --trigger list */
	bool other;	  /* needs a second process */
	enum stall_counted counted;
	int refusal; /* errno by which the kernel refuses driver memory as a whole; 0 = per page, or
			not at all */
	/* What the call returned, with errno. Statuses of STALL_BY_STATUS are in window->status. */
	long (*fire)(const struct stall_shot *shot);
};

/* NULL when there is none of the name. */
const struct stall_trigger *stall_trigger_find(const char *name);

/* The default, a move_pages() of this process. */
const struct stall_trigger *stall_trigger_default(void);

/* One line each. 0, or -1 when the stream does not take it. */
int stall_trigger_list(FILE *out);

#endif
