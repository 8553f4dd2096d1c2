#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# From a fresh checkout to the lab's table: installs what is missing, builds, boots the guest, runs the lab in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BUILD=$PWD/build
readonly OUT=$BUILD/demo

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

main() {
	local module rc=0
	(($# == 0)) || { echo 'Usage: tools/demo.sh   (no options)' >&2; exit 2; }
	cat >&2 <<-'EOT'
		This demo installs the Debian packages it needs (as root; else it names them), builds hcwatch under build/,
		unpacks a Debian kernel in a cache outside the tree (nothing of it is installed), boots it in QEMU with a
		test GPU, and measures two allocators there. First time about 5 minutes, later about 2.
	EOT
	step 'packages'
	tools/deps.sh build guest
	step 'build'
	build
	step 'kernel and test GPU'
	tools/vm/fetch.sh 6.1 >/dev/null
	module=$(tools/gpusim/build-module.sh --kernel 6.1 --out "$BUILD/gpusim")
	step 'lab, in the guest'
	run_lab "$module" || rc=$?
	step "left in build/demo: $(cd "$OUT" && echo ./*.json ./*.hcw)"
	exit "$rc"
}

main "$@"
