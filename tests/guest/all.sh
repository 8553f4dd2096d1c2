#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# all.sh BUILD SCRIPT...: guest tests, one after the other in one guest; runs inside it. gpusim is loaded.
set -uo pipefail

readonly BUILD=$1
hcwatch=$BUILD/bin/hcwatch
failed=0
[[ -z ${HCW_TEST_PROBES:-} ]] || hcwatch=$PWD/tests/guest/with_probes.sh

for script in "${@:2}"; do
	printf '## %s\n' "$script"
	SECONDS=0
	HCW_BUILD=$(realpath "$BUILD") "tests/guest/$script" "$hcwatch" "$BUILD/bin/hcstall" || failed=1
	printf '## %s took %d s\n' "$script" "$SECONDS"
done
exit "$failed"
