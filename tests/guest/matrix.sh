#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# On the host, on demand: the guest tests on every kernel, with and without the driver's BTF, with each tier forced.
# tests/run.sh runs a selection of these cells; all of them take hours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly KERNELS=(6.1 6.12 7.3) DRIVERS=(plain stripped) TIERS=(chosen fentry kprobe)
# lab's tests and those that record, each with figures that the module or the kernel counted too
readonly SCRIPTS=(truth.sh request.sh watch.sh live.sh detach.sh prolong.sh triggers.sh container.sh)

# The points by what they hang on. fentry on a module's function would hold the module, so only lab may be forced to it.
readonly IN_KERNEL=(move_pages notifier restore_fault numa_scan request)
readonly IN_AMDGPU=(kfd_open quiesce resume evict restore)
readonly IN_ANY_DRIVER=(hsa_callback restore_pass) # the test GPU's own, too
readonly TRACEPOINTS=(migrate task_fork task_exit)

build=$PWD/build out='' kernels=() drivers=() tiers=() scripts=() failed=0

usage() {
	cat <<-EOT
		Usage: tests/guest/matrix.sh [OPTION]... [SCRIPT]...
		Runs SCRIPTs (default: ${SCRIPTS[*]})
		in a guest for each cell of kernels x drivers x tiers, and prints a line a cell.

		  --kernel KERNEL  ${KERNELS[*]}; repeatable; default: all
		  --driver DRIVER  ${DRIVERS[*]}: amdgpu and the test GPU with BTF or without; repeatable; default: both
		  --tier TIER      ${TIERS[*]}: what record, live and lab are forced to by --probe, chosen = nothing;
		                   repeatable; default: all
		  --build DIR      a finished build (default build)
		  --out DIR        logs, a folder a cell (default DIR of --build, /matrix)

		Exit: 0 all passed, 1 not, 2 usage.
	EOT
}

bad_usage() {
	usage >&2
	exit 2
}

# one_of OPTION VALUE KNOWN...
one_of() {
	[[ " ${*:3} " == *" $2 "* ]] || {
		printf 'matrix.sh: option %s takes one of: %s, not %s\n' "$1" "${*:3}" "$2" >&2
		exit 2
	}
}

parse() {
	while (($#)); do
		case $1 in
		-h | --help) usage; exit 0 ;;
		--*) (($# > 1)) || bad_usage ;;
		*) [[ -x tests/guest/$1 ]] || { printf 'matrix.sh: no tests/guest/%s\n' "$1" >&2; exit 2; }
			scripts+=("$1"); shift; continue ;;
		esac
		case $1 in
		--kernel) one_of "$1" "$2" "${KERNELS[@]}"; kernels+=("$2") ;;
		--driver) one_of "$1" "$2" "${DRIVERS[@]}"; drivers+=("$2") ;;
		--tier) one_of "$1" "$2" "${TIERS[@]}"; tiers+=("$2") ;;
		--build) build=$(realpath -e "$2") || exit 2 ;;
		--out) out=$2 ;;
		*) bad_usage ;;
		esac
		shift 2
	done
	((${#kernels[@]})) || kernels=("${KERNELS[@]}")
	((${#drivers[@]})) || drivers=("${DRIVERS[@]}")
	((${#tiers[@]})) || tiers=("${TIERS[@]}")
	((${#scripts[@]})) || scripts=("${SCRIPTS[@]}")
	mkdir -p "${out:=$build/matrix}"
	out=$(realpath "$out")
}

# force TIER POINT...: words for HCW_TEST_PROBES
force() {
	local point
	for point in "${@:2}"; do
		printf '%s=%s ' "$point" "$1"
	done
}

# environment TIER DRIVER: lines for run.sh --env. Without BTF there is no fentry in the driver.
environment() {
	case $1 in
	fentry)
		printf 'HCW_TEST_PROBES=%s\n' "$(force fentry "${IN_KERNEL[@]}"; force tp_btf "${TRACEPOINTS[@]}")"
		[[ $2 == stripped ]] || printf 'HCW_TEST_PROBES_LAB=%s\n' "$(force fentry "${IN_AMDGPU[@]}")"
		;;
	kprobe)
		printf 'HCW_TEST_PROBES=%s\n' "$(force kprobe "${IN_KERNEL[@]}" "${IN_AMDGPU[@]}" "${IN_ANY_DRIVER[@]}"
			force raw_tp "${TRACEPOINTS[@]}")"
		;;
	esac
}

# cell KERNEL DRIVER TIER: one guest; its log is OUT/CELL/log
cell() {
	local name=$1-$2-$3 options=() line module
	mkdir -p "$out/$name"
	module=$(tools/gpusim/build-module.sh --kernel "$1" --out "$build/gpusim/$1" 2>"$out/$name/log") || return
	[[ $2 == plain ]] || options+=(--strip-btf)
	while read -r line; do
		options+=(--env "$line")
	done < <(environment "$3" "$2")
	tools/vm/run.sh --kernel "$1" --timeout 3600 --mem 1536 --out "$out/$name" --visible "$build" --module "$module" \
		--env LD_LIBRARY_PATH="$build/lib/gpusim" ${options[@]+"${options[@]}"} -- \
		tests/guest/all.sh "$build" "${scripts[@]}" >"$out/$name/log" 2>&1
}

# tell KERNEL DRIVER TIER RC SECONDS: its line, and below it what failed
tell() {
	local log=$out/$1-$2-$3/log passed=0 bad=0
	[[ ! -e $log ]] || passed=$(grep -c '^PASS' "$log" || true)
	[[ ! -e $log ]] || bad=$(grep -c '^FAIL' "$log" || true)
	printf '%-6s  %-8s  %-6s  %-6s  %6d  %6d  %5d\n' "$1" "$2" "$3" "$( (($4 == 0)) && echo ok || echo "exit $4")" \
		"$passed" "$bad" "$5"
	(($4 == 0)) || failed=1
	[[ ! -e $log ]] || awk '/^## .*\.sh$/ {script = $2} /^FAIL/ {print "        " script ": " substr($0, 6)}' "$log"
}

main() {
	local kernel driver tier rc
	parse "$@"
	[[ -x $build/bin/hcwatch ]] || { printf 'matrix.sh: no hcwatch in %s: build first, or use --build\n' "$build" >&2; exit 2; }
	printf '%-6s  %-8s  %-6s  %-6s  %6s  %6s  %5s\n' kernel driver tier result passed failed s
	for kernel in "${kernels[@]}"; do
		for driver in "${drivers[@]}"; do
			for tier in "${tiers[@]}"; do
				rc=0
				SECONDS=0
				cell "$kernel" "$driver" "$tier" || rc=$?
				tell "$kernel" "$driver" "$tier" "$rc" "$SECONDS"
			done
		done
	done
	printf 'logs: %s\n' "$out"
	exit "$failed"
}

main "$@"
