/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "num.h"

#define NANO	   1000000000ull
#define MAX_DIGITS 9 /* of a fraction */

struct unit {
	const char *name;
	uint64_t scale;
};

/* whole + nano / 10^9; too_big: whole does not fit. */
struct number {
	uint64_t whole, nano;
	bool too_big;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns the first character after the digits, NULL when there is none. */
static const char *parse_whole(const char *p, struct number *n)
{
	const char *start = p;

	*n = (struct number){0};
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(n->whole, 10, &n->whole) ||
		    __builtin_add_overflow(n->whole, (uint64_t)(*p - '0'), &n->whole))
			n->too_big = true;
	}
	return p == start ? NULL : p;
}

/* The same with an optional fraction of up to MAX_DIGITS digits. */
static const char *parse_number(const char *p, struct number *n)
{
	int digits;

	p = parse_whole(p, n);
	if (!p || *p != '.')
		return p;
	p++;
	for (digits = 0; is_digit(*p) && digits < MAX_DIGITS; digits++)
		n->nano = n->nano * 10 + (uint64_t)(*p++ - '0');
	if (!digits || is_digit(*p))
		return NULL;
	for (; digits < MAX_DIGITS; digits++)
		n->nano *= 10;
	return p;
}

/* n * scale, rounded down and checked. Split at 10^9 so that no intermediate product overflows. */
static int scale_number(const struct number *n, uint64_t scale, uint64_t min, uint64_t max,
			uint64_t *value)
{
	uint64_t part = n->nano * (scale / NANO) + n->nano * (scale % NANO) / NANO;
	uint64_t v;

	if (n->too_big || __builtin_mul_overflow(n->whole, scale, &v) ||
	    __builtin_add_overflow(v, part, &v) || v < min || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(units[i].name, name))
			return &units[i];
	}
	return NULL;
}

int hcs_num_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	struct number n;
	const char *end = parse_whole(text, &n);

	if (!end || *end)
		return -EINVAL;
	return scale_number(&n, 1, min, max, value);
}

int hcs_num_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	static const struct unit units[] = {
		{"", 1},
		{"K", 1ull << 10},
		{"M", 1ull << 20},
		{"G", 1ull << 30},
		{"T", 1ull << 40},
		{"KiB", 1ull << 10},
		{"MiB", 1ull << 20},
		{"GiB", 1ull << 30},
		{"TiB", 1ull << 40},
		{"KB", 1000ull},
		{"MB", 1000000ull},
		{"GB", 1000000000ull},
		{"TB", 1000000000000ull},
	};
	const struct unit *unit;
	struct number n;
	const char *end = parse_whole(text, &n);

	unit = end ? find_unit(units, sizeof(units) / sizeof(units[0]), end) : NULL;
	if (!unit)
		return -EINVAL;
	return scale_number(&n, unit->scale, min, max, value);
}

int hcs_num_ns(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	static const struct unit units[] = {
		{"", NANO},  {"ns", 1},	       {"us", 1000},	   {"ms", 1000000},
		{"s", NANO}, {"m", 60 * NANO}, {"h", 3600 * NANO},
	};
	const struct unit *unit;
	struct number n;
	const char *end = parse_number(text, &n);

	unit = end ? find_unit(units, sizeof(units) / sizeof(units[0]), end) : NULL;
	if (!unit)
		return -EINVAL;
	return scale_number(&n, unit->scale, min, max, value);
}

int hcs_num_decimal(const char *text, uint64_t scale, uint64_t min, uint64_t max, uint64_t *value)
{
	struct number n;
	const char *end = parse_number(text, &n);

	if (!end || *end)
		return -EINVAL;
	return scale_number(&n, scale, min, max, value);
}
