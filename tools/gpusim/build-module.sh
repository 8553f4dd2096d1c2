#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds gpusim.ko for a kernel of tools/vm and prints where it is.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../vm/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../vm/common.sh"

usage() {
	cat <<-EOT
		Usage: build-module.sh [--kernel KERNEL] [--out DIR]
		Builds gpusim.ko for KERNEL (default 6.1; fetched when needed) in DIR (default build/gpusim/KERNEL) and
		prints its path. Does nothing when it is up to date.
	EOT
}

# Everything the result depends on: sources, kernel, and where the headers are
fingerprint() {
	printf '%s\n' "$2"
	cd "$1" && sha256sum build-module.sh gpusim_uapi.h module/Kbuild module/*.[ch]
}

# run_make KERNEL FOLDER ARG...: make, as the kernel needs it, for sources in FOLDER. It has BTF where the headers have
# the kernel's (from 6.12 on): then pahole is needed, not left out when it is not there.
run_make() {
	local kernel=$1 folder=$2 release=${HCW_KERNEL_BUILD_ROOT[$1]:-}
	shift 2
	set -- make -s "$@" modules
	[[ -z $release ]] ||
		set -- "$HCW_ROOT/tools/vm/build-root.sh" "$release" --run "$(kernel_dir "$kernel")" "$folder" -- "$@"
	"$@"
}

build() {
	local source=$1 out=$2 headers=$3 kernel=$4 rc=0
	rm -rf "$out/src"
	mkdir -p "$out/src/module"
	cp "$source/gpusim_uapi.h" "$out/src/"
	cp "$source"/module/{Kbuild,*.[ch]} "$out/src/module/"
	run_make "$kernel" "$out/src" -C "$headers" M="$out/src/module" >"$out/build.log" 2>&1 || rc=$?
	((rc != 3)) || { cat "$out/build.log" >&2; exit 3; }
	((rc == 0)) || {
		tail -n 30 "$out/build.log" >&2
		die 70 "gpusim does not build against $headers; the whole log: $out/build.log"
	}
	# an unresolved symbol or a warning of the compiler is an error here too
	if grep -E 'warning:|WARNING:' "$out/build.log" >&2; then
		die 70 "gpusim builds with warnings; the whole log: $out/build.log"
	fi
	mv "$out/src/module/gpusim.ko" "$out/gpusim.ko"
}

main() {
	local kernel=6.1 out='' kv headers source want lock
	while (($#)); do
		case $1 in
		--kernel) next_arg "$1" $#; kernel=$2; shift 2 ;;
		--out) next_arg "$1" $#; out=$2; shift 2 ;;
		-h | --help) usage; return 0 ;;
		*) usage >&2; return 2 ;;
		esac
	done
	known_kernel "$kernel"
	kv=$("$HCW_ROOT/tools/vm/fetch.sh" "$kernel")
	headers=$(kernel_dir "$kernel")/tree/usr/src/linux-headers-$kv
	source=$HCW_ROOT/tools/gpusim
	mkdir -p "${out:=$HCW_ROOT/build/gpusim/$kernel}"
	out=$(cd "$out" && pwd -P)
	exec {lock}<"$out"
	flock "$lock" # two builds at once take turns
	want=$(fingerprint "$source" "$headers")
	if [[ ! -e $out/gpusim.ko || ! -e $out/built-from || $(<"$out/built-from") != "$want" ]]; then
		if [[ -n ${HCW_KERNEL_BUILD_ROOT[$kernel]:-} ]]; then
			"$HCW_ROOT/tools/vm/build-root.sh" "${HCW_KERNEL_BUILD_ROOT[$kernel]}" >/dev/null
		else
			need make=make gcc-12=gcc-12 pahole=pahole
		fi
		say "building gpusim.ko for $kv"
		rm -f "$out/built-from"
		build "$source" "$out" "$headers" "$kernel"
		printf '%s\n' "$want" >"$out/built-from"
	fi
	printf '%s\n' "$out/gpusim.ko"
}

main "$@"
