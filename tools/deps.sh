#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian packages that the build, the guest, the tests and the benches need: says which are missing, and installs them when root.
set -euo pipefail

readonly -a BUILD=(build-essential gcc-12 cmake ninja-build pkg-config clang bpftool linux-libc-dev libbpf-dev
	libelf-dev zlib1g-dev libzstd-dev libjansson-dev libnuma-dev libcmocka-dev scdoc)
readonly -a GUEST=(qemu-system-x86 busybox-static cpio kmod xz-utils pahole ca-certificates bpftool)
readonly -a TESTS=(clang-format cppcheck shellcheck zstd python3 binutils procps util-linux)
readonly -a BENCH=(bpftrace python3)

usage() {
	printf 'Usage: deps.sh build|guest|tests|bench...\nInstalls what is missing of the named sets; needs root only for that.\n'
}

installed() {
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# wanted SET...: their packages; fails for an unknown set
wanted() {
	local set
	for set; do
		case $set in
		build) printf '%s\n' "${BUILD[@]}" ;;
		guest) printf '%s\n' "${GUEST[@]}" ;;
		tests) printf '%s\n' "${TESTS[@]}" ;;
		bench) printf '%s\n' "${BENCH[@]}" ;;
		*) return 2 ;;
		esac
	done
}

install_missing() {
	printf 'deps.sh: installing: %s\n' "$*" >&2
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >&2
}

main() {
	local package packages missing=()
	(($#)) || { usage >&2; exit 2; }
	command -v dpkg-query >/dev/null || { echo 'deps.sh: this is no Debian system: install the packages by hand' >&2; exit 3; }
	packages=$(wanted "$@") || { usage >&2; exit 2; }
	for package in $packages; do
		installed "$package" || missing+=("$package")
	done
	mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u | grep .)
	((${#missing[@]})) || return 0
	if ((EUID)); then
		printf 'deps.sh: not installed: %s\n  as root: apt-get install --no-install-recommends %s\n' \
			"${missing[*]}" "${missing[*]}" >&2
		exit 3
	fi
	install_missing "${missing[@]}"
}

main "$@"
