#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every record that was emitted is received, in each mode; probe_check exits 1 otherwise.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly TESTS=$HCW_BUILD/tests

for mode in '' -a -l '-a -l'; do
	rc=0
	# shellcheck disable=SC2086 # options are words
	"$TESTS/probe_check" $mode "$TESTS/gpusim_client" stall 16 >/dev/null || rc=$?
	check "probe_check${mode:+ $mode}: emitted == received" "$rc" 0
done
summary
