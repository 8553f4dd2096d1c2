/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory that stands for "/" in a test: one of tests/fixtures, or made by the test for odd
 * files. */
#ifndef TEST_TREE_H
#define TEST_TREE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* Directory fd of fixtures/<name>; fails the test when it is missing. */
int tree_fixture(const char *name);

/* Directory fd of a new temporary folder. */
int tree_new(void);

/* Creates the file with all folders above it. */
void tree_put(int root, const char *path, const void *data, size_t size);
void tree_text(int root, const char *path, const char *text);
void tree_link(int root, const char *path, const char *target);

/* Removes a tree of tree_new() and closes it. */
void tree_remove(int root);

#endif
