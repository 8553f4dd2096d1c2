#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The guest tests, one after the other in one guest; runs inside it. gpusim is loaded.
set -uo pipefail

readonly BUILD=${1:-build}
failed=0

# run SCRIPT [ARGUMENT]...
run() {
	printf '## %s\n' "$1"
	local script=$1
	shift
	"tests/guest/$script" "$@" || failed=1
}

run truth.sh "$BUILD/bin/hcwatch"
run watch.sh "$BUILD/bin/hcwatch" "$BUILD/bin/hcstall"
run detach.sh "$BUILD/bin/hcwatch" "$BUILD/bin/hcstall"
HCW_BUILD=$(realpath "$BUILD") run smoke.sh
exit "$failed"
