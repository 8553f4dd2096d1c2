#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every test: style, unit tests (release, then ASan and UBSan), the demo, and the guest tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly LOGS=$PWD/build/test-logs
readonly GUESTS=3 # side by side
passed=0 failed=0 skipped=0 lock=''

# count WHAT RC LOG: adds the figures of a log's closing lines, or one for the step itself
count() {
	local p f s
	read -r p f s < <(awk '/^[0-9]+ passed/ {p += $1; f += $3} /^SKIP|\*\*\*Skipped/ {s++}
		END {print p + 0, f + 0, s + 0}' "$3")
	if ((p + f == 0)); then
		(($2)) && f=1 || p=1
	elif (($2 && f == 0)); then
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if (($2 || f)); then
		printf 'FAILED %s (%s s); the end of %s:\n' "$1" "$SECONDS" "$3"
		grep -nE '^FAIL|\*\*\*Failed|\*\*\*Timeout' "$3" || true
		tail -n 60 "$3"
	else
		printf 'ok     %s (%s passed, %s skipped, at %s s)\n' "$1" "$p" "$s" "$SECONDS"
	fi
	grep -hE '^SKIP' "$3" || true
}

# run_step NAME COMMAND...: runs it into its own log, its exit code beside that
run_step() {
	local name=$1 rc=0
	shift
	"$@" >"$LOGS/$name.log" 2>&1 || rc=$?
	echo "$rc" >"$LOGS/$name.rc"
}

tell_step() {
	count "$1" "$(cat "$LOGS/$1.rc")" "$LOGS/$1.log"
}

step() {
	run_step "$@"
	tell_step "$1"
}

# preset NAME: configures, builds and runs the unit tests of a preset
preset() {
	cmake --preset "$1" >/dev/null && cmake --build --preset "$1" && ctest --preset "$1" --no-tests=error |
		tee "$LOGS/ctest-$1.log"
	local rc=${PIPESTATUS[0]}
	# ctest's own closing line, in the form that all logs share
	awk '/tests passed,/ {split($0, a, " "); print a[9] - a[4] " passed, " a[4] " failed"}' "$LOGS/ctest-$1.log"
	return "$rc"
}

demo() {
	tools/demo.sh && python3 tests/guest/check_lab.py build/demo
}

# The guests, one a line: a name, the kernel, options of tools/vm/run.sh (or -), the scripts of tests/guest that run in
# it. Long ones first. 6.1 has every script. On 7.3, which is preemptible, only those are sure that ask for no recording
# without any loss and for no move of every page; tests/guest/matrix.sh runs the others.
guest_list() {
	cat <<-'EOT'
		tiers-6.1     6.1   -            tiers.sh caps.sh harm.sh
		live-6.1      6.1   -            live.sh request.sh watch.sh
		triggers-6.1  6.1   -            triggers.sh probe.sh container.sh
		truth-6.1     6.1   -            truth.sh prolong.sh detach.sh
		reload-6.1    6.1   -            attach.sh reload.sh move_many.sh verifier.sh smoke.sh
		attach-7.3    7.3   -            attach.sh probe.sh smoke.sh verifier.sh
		attach-6.12   6.12  -            attach.sh verifier.sh smoke.sh
		stripped-6.1  6.1   --strip-btf  attach.sh truth.sh
	EOT
}

# guest NAME KERNEL OPTION SCRIPT...: boots a guest and runs these of tests/guest in it
guest() {
	local name=$1 kernel=$2 options=()
	[[ $3 == - ]] || options=("$3")
	shift 3
	tools/vm/run.sh --kernel "$kernel" --timeout 1500 --mem 1536 --out "build/guest-$name" ${options[@]+"${options[@]}"} \
		--module "build/gpusim/$kernel/gpusim.ko" --env LD_LIBRARY_PATH="$PWD/build/lib/gpusim" \
		--env HCW_TEST_KILLS=6 -- tests/guest/all.sh build "$@"
}

# An emulated guest keeps less than a core busy: it waits for the test GPU half of its time.
guests() {
	local name kernel option scripts
	for kernel in 6.1 6.12 7.3; do
		step "module-$kernel" tools/gpusim/build-module.sh --kernel "$kernel" --out "build/gpusim/$kernel"
	done
	run_step demo demo &
	while read -r name kernel option scripts; do
		while (($(jobs -rp | wc -l) >= GUESTS)); do
			wait -n || true
		done
		# shellcheck disable=SC2086 # a list of names
		run_step "$name" guest "$name" "$kernel" "$option" $scripts &
	done < <(guest_list)
	wait
	tell_step demo
	while read -r name _; do
		tell_step "$name"
	done < <(guest_list)
}

main() {
	if [[ ${1:-} == -h || ${1:-} == --help ]]; then
		echo 'Usage: tests/run.sh   (no options; see README.md)'
		exit 0
	fi
	(($# == 0)) || { echo 'Usage: tests/run.sh   (no options)' >&2; exit 2; }
	cat <<-'EOT'
		This installs the Debian packages that build and tests need (as root; else it
		names them), builds under build/ and build-asan/, and runs every test; the
		guest tests boot a Debian kernel in QEMU. Some minutes.
	EOT
	mkdir -p "$LOGS"
	exec {lock}>"$LOGS/lock"
	flock -n "$lock" || { echo 'run.sh: the tests are running in this checkout already' >&2; exit 3; }
	tools/deps.sh build guest tests
	step includes tests/check_includes.sh
	step style tests/check_style.sh
	step release preset release
	step asan+ubsan preset asan+ubsan
	guests
	printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
	((failed == 0))
}

main "$@"
