/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "escape.h"

#define PIECE_MAX 17 /* four bytes as \xNN, and the NUL */

/* Turns the character (n bytes at s; not UTF-8 when !valid, then n is 1) into text. */
typedef void (*piece_fn)(char piece[PIECE_MAX], const unsigned char *s, size_t n, bool valid,
			 uint32_t c);

/* Length of the UTF-8 character at s of at most `len` bytes and its code point; 0 when it is none
 * (RFC 3629). */
static size_t decode(const unsigned char *s, size_t len, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n;

	if (s[0] < 0x80) {
		*c = s[0];
		return 1;
	}
	if (s[0] < 0xc0 || s[0] > 0xf7)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n > len)
		return 0;
	*c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return n;
}

/* Characters that move the cursor, change the reading direction or cannot be seen. */
static bool unprintable(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} range[] = {
		{0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c},	{0x180e, 0x180e},
		{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},	{0xfeff, 0xfeff},
		{0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f},
	};

	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
		if (c >= range[i].first && c <= range[i].last)
			return true;
	}
	return false;
}

static void copy_piece(char piece[PIECE_MAX], const unsigned char *s, size_t n)
{
	memcpy(piece, s, n);
	piece[n] = '\0';
}

static void terminal_piece(char piece[PIECE_MAX], const unsigned char *s, size_t n, bool valid,
			   uint32_t c)
{
	if (valid && !unprintable(c)) {
		copy_piece(piece, s, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		snprintf(piece + 4 * i, 5, "\\x%02x", s[i]);
}

static void utf8_piece(char piece[PIECE_MAX], const unsigned char *s, size_t n, bool valid,
		       uint32_t c)
{
	(void)c;
	if (valid)
		copy_piece(piece, s, n);
	else
		strcpy(piece, "\xef\xbf\xbd");
}

static const char *convert(char *out, size_t size, const char *in, size_t len, piece_fn to_piece)
{
	const unsigned char *s = (const unsigned char *)in;
	size_t used = 0, cut = 0; /* cut: longest prefix that leaves room for "..." */

	if (!size)
		return "";
	len = strnlen(in, len);
	while (len) {
		char piece[PIECE_MAX];
		uint32_t c = 0;
		size_t n = decode(s, len, &c);
		size_t step = n ? n : 1;

		to_piece(piece, s, step, n != 0, c);
		n = strlen(piece);
		if (used + n >= size) {
			snprintf(out + cut, size - cut, "...");
			return out;
		}
		memcpy(out + used, piece, n);
		used += n;
		if (used + 3 < size)
			cut = used;
		s += step;
		len -= step;
	}
	out[used] = '\0';
	return out;
}

const char *hcw_escape(char *out, size_t size, const char *in, size_t len)
{
	return convert(out, size, in, len, terminal_piece);
}

const char *hcw_utf8(char *out, size_t size, const char *in, size_t len)
{
	return convert(out, size, in, len, utf8_piece);
}
