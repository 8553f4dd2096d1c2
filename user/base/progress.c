/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "escape.h"
#include "progress.h"

#define REDRAW_NS	100000000ull
#define DEFAULT_COLUMNS 80
#define MAX_COLUMNS	256
#define ERASE_LINE	"\r\033[K"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* One less than the width: a character in the last column can make the terminal wrap. */
static size_t columns(FILE *f)
{
	struct winsize w;
	size_t n = DEFAULT_COLUMNS;

	if (!ioctl(fileno(f), TIOCGWINSZ, &w) && w.ws_col > 1)
		n = w.ws_col;
	return (n < MAX_COLUMNS ? n : MAX_COLUMNS) - 1;
}

void hcw_progress_start(struct hcw_progress *p, FILE *f)
{
	const char *term = getenv("TERM");
	bool able = term && *term && strcmp(term, "dumb") && isatty(fileno(f));

	p->f = able ? f : NULL;
	p->drawn_ns = 0;
}

void hcw_progress_show(struct hcw_progress *p, const char *fmt, ...)
{
	char text[512], line[MAX_COLUMNS];
	va_list args;
	uint64_t now;

	if (!p->f)
		return;
	now = now_ns();
	if (p->drawn_ns && now - p->drawn_ns < REDRAW_NS)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(p->f, ERASE_LINE "%s", hcw_escape(line, columns(p->f) + 1, text, SIZE_MAX));
	fflush(p->f);
	p->drawn_ns = now;
}

void hcw_progress_end(struct hcw_progress *p)
{
	if (!p->f || !p->drawn_ns)
		return;
	fputs(ERASE_LINE, p->f);
	fflush(p->f);
	p->drawn_ns = 0;
}
