#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# all.sh BUILD SCRIPT...: guest tests, one after the other in one guest; runs inside it. gpusim is loaded.
set -uo pipefail

readonly BUILD=$1
failed=0

for script in "${@:2}"; do
	printf '## %s\n' "$script"
	HCW_BUILD=$(realpath "$BUILD") "tests/guest/$script" "$BUILD/bin/hcwatch" "$BUILD/bin/hcstall" || failed=1
done
exit "$failed"
