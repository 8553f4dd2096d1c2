#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# From a fresh checkout to the lab's table: installs what is missing, builds, boots the guest, runs the lab in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BUILD=$PWD/build
readonly OUT=$BUILD/demo
lock=''

step() {
	printf '\n== %s\n' "$*" >&2
}

build() {
	cmake --preset release -DCMAKE_MESSAGE_LOG_LEVEL=WARNING >/dev/null
	cmake --build --preset release --target hcwatch hcstall gpusim_rocblas
}

run_lab() {
	rm -rf "$OUT"
	mkdir -p "$OUT"
	tools/vm/run.sh --kernel 6.1 --timeout 600 --mem 1536 --out "$OUT" --module "$1" \
		--env LD_LIBRARY_PATH="$BUILD/lib/gpusim" -- \
		tools/demo-guest.sh "$BUILD/bin/hcwatch" "$OUT"
}

# Kernel modules do not build where the path has a blank, and two demos would take each other's files away.
check_place() {
	if [[ $PWD == *[[:space:],:]* ]]; then
		printf 'demo.sh: no blank, comma or colon may be in the path of the checkout: %s\n' "$PWD" >&2
		exit 3
	fi
	mkdir -p "$BUILD"
	exec {lock}>"$BUILD/demo.lock"
	flock -n "$lock" || { echo 'demo.sh: another demo is using build/demo' >&2; exit 3; }
}

main() {
	local module rc=0
	if [[ ${1:-} == -h || ${1:-} == --help ]]; then
		echo 'Usage: tools/demo.sh   (no options; see README.md)'
		exit 0
	fi
	(($# == 0)) || { echo 'Usage: tools/demo.sh   (no options)' >&2; exit 2; }
	cat >&2 <<-'EOT'
		This demo installs the Debian packages it needs (as root; else it names them),
		builds hcwatch under build/, unpacks a Debian kernel in a cache outside the
		tree (nothing of it is installed), boots it in QEMU with a test GPU, and
		measures two allocators there. About 2 minutes; the first time longer.
	EOT
	check_place
	step 'packages'
	tools/deps.sh build guest
	step 'build'
	build
	step 'kernel and test GPU'
	tools/vm/fetch.sh 6.1 >/dev/null
	module=$(tools/gpusim/build-module.sh --kernel 6.1 --out "$BUILD/gpusim")
	step 'lab, in the guest'
	run_lab "$module" || rc=$?
	if [[ -s $OUT/lab.json ]]; then
		step "left in build/demo: lab.json registered.hcw gtt.hcw; next: build/bin/hcwatch report build/demo/registered.hcw"
	fi
	exit "$rc"
}

main "$@"
