#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Benches: one JSON object a line on stdout, with the aim and, where there is one, a peer measured in the same run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly -a ALL=(probes)
build=build guest=1 only=() names=()

usage() {
	cat <<-EOT
		Usage: run.sh [OPTION]... [NAME]...
		Measures, as root, on this machine and in a guest under emulation; without a NAME everything:
		  probes   what tracing costs: records, system calls, an idle recorder, moves, notifier hits

		  --build DIR     where the programs are built (default build); a release build
		  --only FIGURE   this figure only; repeatable
		  --no-guest      leave out what needs the guest

		Prints {"bench","figure","value","unit","n","spread","peer","peer_value","aim","met"} a line: value is the
		median of n, spread the middle half of them over it. What cannot be measured has "value":null and "why".
		Ratios of the guest are guards against regressions: emulated time is not a machine's.
		Exit: 0 measured, whether aims are met or not; 2 usage; 3 something is missing here.
	EOT
}

bad_usage() {
	usage >&2
	exit 2
}

parse() {
	while (($#)); do
		case $1 in
		-h | --help) usage; exit 0 ;;
		--no-guest) guest=0; shift ;;
		--build | --only)
			(($# > 1)) || bad_usage
			[[ $1 == --only ]] && only+=("$2") || build=$2
			shift 2
			;;
		-*) bad_usage ;;
		*)
			[[ " ${ALL[*]} " == *" $1 "* ]] || bad_usage
			names+=("$1")
			shift
			;;
		esac
	done
	((${#names[@]})) || names=("${ALL[@]}")
}

main() {
	local name args=()
	parse "$@"
	command -v python3 >/dev/null || { echo 'run.sh: needs python3: tools/deps.sh tests' >&2; exit 3; }
	[[ -x $build/bin/hcwatch && -x $build/tests/bench_ring ]] ||
		{ printf 'run.sh: nothing is built in %s: see --build\n' "$build" >&2; exit 3; }
	build=$(realpath -e "$build")
	((guest)) || args+=(--no-guest)
	for name in ${only[@]+"${only[@]}"}; do
		args+=(--only "$name")
	done
	export PYTHONDONTWRITEBYTECODE=1
	for name in "${names[@]}"; do
		python3 "tests/bench/$name.py" --build "$build" ${args[@]+"${args[@]}"}
	done
}

main "$@"
