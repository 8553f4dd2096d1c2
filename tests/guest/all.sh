#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The guest tests, one after the other in one guest; runs inside it. gpusim is loaded.
set -uo pipefail

readonly BUILD=${1:-build}
failed=0

run() {
	printf '## %s\n' "$1"
	"tests/guest/$@" || failed=1
}

run truth.sh "$BUILD/bin/hcwatch"
run detach.sh "$BUILD/bin/hcwatch" "$BUILD/bin/hcstall"
run smoke.sh "$BUILD"
exit "$failed"
