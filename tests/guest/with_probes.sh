#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# hcwatch for the guest tests with tiers forced: record, live and lab get a --probe for each word of HCW_TEST_PROBES
# (POINT=TIER ...), and lab also those of HCW_TEST_PROBES_LAB. all.sh puts it in hcwatch's place.
set -euo pipefail

options=()

# take POINT=TIER...
take() {
	local force
	for force; do
		options+=(--probe "$force")
	done
}

# shellcheck disable=SC2086 # lists of words
case ${1:-} in
record | live | lab)
	command=$1
	shift
	take ${HCW_TEST_PROBES:-}
	[[ $command != lab ]] || take ${HCW_TEST_PROBES_LAB:-}
	exec "$HCW_BUILD/bin/hcwatch" "$command" ${options[@]+"${options[@]}"} "$@"
	;;
*)
	exec "$HCW_BUILD/bin/hcwatch" "$@"
	;;
esac
