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

# emitted == received for every record, or it exits 1
probe_check() {
	printf '## probe_check\n'
	if "$BUILD/tests/probe_check" "$BUILD/tests/gpusim_client" stall 64 >/dev/null; then
		printf '1 passed, 0 failed\n'
	else
		printf '0 passed, 1 failed\n'
		failed=1
	fi
}

run truth.sh "$BUILD/bin/hcwatch"
run watch.sh "$BUILD/bin/hcwatch" "$BUILD/bin/hcstall"
run detach.sh "$BUILD/bin/hcwatch" "$BUILD/bin/hcstall"
probe_check
HCW_BUILD=$(realpath "$BUILD") run smoke.sh
exit "$failed"
