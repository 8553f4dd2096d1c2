/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "choice.h"
#include "points.h"

/* Appends to a text that is cut where it does not fit. */
static __attribute__((format(printf, 3, 4))) void add(char *out, size_t size, const char *fmt, ...)
{
	size_t len = strlen(out);
	va_list args;

	va_start(args, fmt);
	vsnprintf(out + len, size - len, fmt, args);
	va_end(args);
}

static int find_point(const char *name, size_t len)
{
	int p;

	for (p = 0; p < HCW_POINT_COUNT; p++)
		if (strlen(hcw_point_name(p)) == len && !strncmp(hcw_point_name(p), name, len))
			return p;
	return -1;
}

static int find_tier(const char *name)
{
	int t;

	for (t = HCW_TIER_OFF; t <= HCW_TIER_USDT; t++)
		if (!strcmp(hcw_tier_name(t), name))
			return t;
	return -1;
}

static bool has_tier(enum hcw_point p, enum hcw_tier tier)
{
	const struct hcw_point_info *info = hcw_point_info(p);
	size_t i;

	for (i = 0; i < info->count; i++)
		if (info->candidate[i].tier == tier)
			return true;
	return false;
}

static int bad_point(const char *name, size_t len, char *why, size_t size)
{
	int p;

	snprintf(why, size, "no such probe point: %.*s; there are", (int)len, name);
	for (p = 0; p < HCW_POINT_COUNT; p++)
		add(why, size, "%s %s", p ? "," : "", hcw_point_name(p));
	return -EINVAL;
}

static int bad_tier(enum hcw_point p, const char *what, const char *name, char *why, size_t size)
{
	int t;

	snprintf(why, size, "%s %s; there are off", what, name);
	for (t = HCW_TIER_OFF + 1; t <= HCW_TIER_USDT; t++)
		if (has_tier(p, t))
			add(why, size, ", %s", hcw_tier_name(t));
	add(why, size, " for %s", hcw_point_name(p));
	return -EINVAL;
}

int hcw_probe_choose(struct hcw_probe_choices *c, const char *text, char *why, size_t size)
{
	const char *equals = strchr(text, '=');
	int p, t;

	if (!equals) {
		snprintf(why, size, "--probe takes POINT=off or POINT=TIER, not %s", text);
		return -EINVAL;
	}
	p = find_point(text, (size_t)(equals - text));
	if (p < 0)
		return bad_point(text, (size_t)(equals - text), why, size);
	t = find_tier(equals + 1);
	if (t < 0)
		return bad_tier(p, "no such probe tier:", equals + 1, why, size);
	if (t != HCW_TIER_OFF && !has_tier(p, t))
		return bad_tier(p, "this probe point has no tier", equals + 1, why, size);
	c->point[p] = (struct hcw_probe_choice){.forced = true, .tier = t};
	return 0;
}
