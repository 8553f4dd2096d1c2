#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# check_deadline.sh [FOLDER]: every public reader of user/sys, that is every function that takes a root directory, takes
# a deadline too: nobody waits for ever for a process in trouble. Shows first, on made headers, that it can fail.
set -euo pipefail

# Reads no file: one stat of sysfs, which has no lock that a process could hold
readonly EXEMPT=hcs_module_id

# without_deadline FILE...: the names of readers that have none
without_deadline() {
	# comments out, line breaks out, one declaration a line
	cat "$@" | tr '\n' ' ' | sed -E 's#/\*([^*]|\*+[^*/])*\*+/##g' | tr ';{}' '\n' |
		grep -E '\(int root\b' | grep -v 'uint64_t deadline)' |
		grep -oE '[a-z_0-9]+\(int root\b' | sed 's/(.*//' | grep -vxF "$EXEMPT" || true
}

self_test() {
	local folder
	folder=$(mktemp -d)
	printf 'int hcs_good(int root, int pid,\n\t     uint64_t deadline);\nint hcs_pure(int a);\n' >"$folder/good.h"
	printf '/*\n * f(int root);\n * a * b **/\nint hcs_bad(int root, int pid); /* uint64_t deadline) */\n' >"$folder/bad.h"
	[[ -z $(without_deadline "$folder/good.h") && $(without_deadline "$folder"/*.h) == hcs_bad ]] ||
		{ echo 'check_deadline: the self test failed'; exit 1; }
	rm -r "$folder"
}

self_test
readonly FOLDER=${1:-$(dirname "${BASH_SOURCE[0]}")/../../../user/sys}
readers=$(cat "$FOLDER"/*.h | grep -cE '\(int root\b' || true)
((readers > 10)) || { echo "check_deadline: only $readers readers in $FOLDER"; exit 1; }
missing=$(without_deadline "$FOLDER"/*.h)
[[ -z $missing ]] || { printf 'no deadline: %s\n' "$missing"; exit 1; }
printf '%s readers, each with a deadline\n' "$readers"
