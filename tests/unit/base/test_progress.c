/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>
#include "../../../user/base/progress.h"

struct terminal {
	int master;
	FILE *f; /* the terminal's side, as stderr would be */
};

static void terminal_open(struct terminal *t, unsigned short columns)
{
	const struct winsize size = {.ws_col = columns, .ws_row = 24};
	int slave;

	t->master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(t->master >= 0);
	assert_int_equal(grantpt(t->master) | unlockpt(t->master), 0);
	slave = open(ptsname(t->master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
	t->f = fdopen(slave, "w");
	assert_non_null(t->f);
}

/* What has arrived on the screen since the last call. */
static void terminal_read(struct terminal *t, char *buf, size_t size)
{
	struct pollfd p = {.fd = t->master, .events = POLLIN};
	ssize_t n = 0;

	if (poll(&p, 1, 100) > 0)
		n = read(t->master, buf, size - 1);
	assert_true(n >= 0);
	buf[n] = '\0';
}

static void terminal_close(struct terminal *t)
{
	fclose(t->f);
	close(t->master);
}

static void test_silent_elsewhere(void **state)
{
	struct hcw_progress p;
	char *text;
	size_t size;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	setenv("TERM", "xterm", 1);
	hcw_progress_start(&p, f);
	hcw_progress_show(&p, "trial %d", 1);
	hcw_progress_end(&p);
	assert_int_equal(ftell(f), 0);
	fclose(f);
	f = open_memstream(&text, &size); /* has no file descriptor at all */
	hcw_progress_start(&p, f);
	hcw_progress_show(&p, "trial %d", 1);
	fclose(f);
	assert_int_equal(size, 0);
	free(text);
}

static void test_draws(void **state)
{
	struct hcw_progress p;
	struct terminal t;
	char screen[256];

	(void)state;
	setenv("TERM", "xterm", 1);
	terminal_open(&t, 80);
	hcw_progress_start(&p, t.f);
	hcw_progress_show(&p, "trial %d of %d", 1, 3);
	terminal_read(&t, screen, sizeof(screen));
	assert_string_equal(screen, "\r\033[Ktrial 1 of 3");
	hcw_progress_show(&p, "too soon");
	terminal_read(&t, screen, sizeof(screen)); /* waits 100 ms: the next may draw again */
	assert_string_equal(screen, "");
	hcw_progress_show(&p, "%s", "evil\033[2J\n");
	terminal_read(&t, screen, sizeof(screen));
	assert_string_equal(screen, "\r\033[Kevil\\x1b[2J\\x0a");
	hcw_progress_end(&p);
	terminal_read(&t, screen, sizeof(screen));
	assert_string_equal(screen, "\r\033[K");
	hcw_progress_end(&p); /* nothing left to erase */
	terminal_read(&t, screen, sizeof(screen));
	assert_string_equal(screen, "");
	terminal_close(&t);
}

static void test_width(void **state)
{
	struct hcw_progress p;
	struct terminal t;
	char screen[256];

	(void)state;
	setenv("TERM", "xterm", 1);
	terminal_open(&t, 12);
	hcw_progress_start(&p, t.f);
	hcw_progress_show(&p, "abcdefghijklmnop");
	terminal_read(&t, screen, sizeof(screen));
	assert_string_equal(screen, "\r\033[Kabcdefgh..."); /* 11 of 12 columns */
	terminal_close(&t);
}

static void test_dumb(void **state)
{
	struct hcw_progress p;
	struct terminal t;
	char screen[16];

	(void)state;
	setenv("TERM", "dumb", 1);
	terminal_open(&t, 80);
	hcw_progress_start(&p, t.f);
	hcw_progress_show(&p, "x");
	terminal_read(&t, screen, sizeof(screen));
	assert_string_equal(screen, "");
	terminal_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_elsewhere),
		cmocka_unit_test(test_draws),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_dumb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
