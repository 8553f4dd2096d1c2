/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "fmt.h"

const char *fmt_ms(char *buf, __u64 ns)
{
	snprintf(buf, FMT_LEN, "%.1f", (double)ns / 1e6);
	return buf;
}

const char *fmt_duration(char *buf, __u64 ns)
{
	double s = (double)ns / 1e9;

	if (s < 1)
		snprintf(buf, FMT_LEN, "%.1f ms", s * 1e3);
	else if (s < 120)
		snprintf(buf, FMT_LEN, "%.2f s", s);
	else
		snprintf(buf, FMT_LEN, "%llu min %llu s", (unsigned long long)(s / 60),
			 (unsigned long long)s % 60);
	return buf;
}

const char *fmt_bytes(char *buf, __u64 bytes)
{
	static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)bytes;
	size_t i = 0;

	while (v >= 1000 && i + 1 < sizeof(unit) / sizeof(unit[0])) {
		v /= 1000;
		i++;
	}
	snprintf(buf, FMT_LEN, i ? "%.1f %s" : "%.0f %s", v, unit[i]);
	return buf;
}

const char *fmt_clock(char *buf, __u64 ts, __s64 realtime_offset)
{
	/* a hostile trace may overflow it: wrap, do not trap */
	__s64 ns = (__s64)(ts + (__u64)realtime_offset);
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;

	localtime_r(&s, &tm);
	snprintf(buf, FMT_LEN, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (int)(((ns / 1000000) % 1000 + 1000) % 1000));
	return buf;
}

void fmt_wrap_at(FILE *f, size_t indent, const char *text)
{
	size_t col = indent, word;

	while (*text) {
		word = strcspn(text, " ");
		if (col > indent && col + 1 + word > 80) {
			fprintf(f, "\n%*s", (int)indent, "");
			col = indent;
		}
		col += (size_t)fprintf(f, "%s%.*s", col > indent ? " " : "", (int)word, text);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

void fmt_wrap(FILE *f, const char *head, const char *text)
{
	fputs(head, f);
	fmt_wrap_at(f, strlen(head), text);
}
