#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches a Debian kernel with its headers and unpacks it in a cache; nothing is installed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source-path=SCRIPTDIR source=apt.sh
source "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

readonly NEEDED_MIB=900 # packages 150, unpacked 500, package lists 150, and some room

usage() {
	cat <<-EOT
		Usage: fetch.sh KERNEL
		Fetches Debian's KERNEL ($(known_kernels)) through this machine's apt configuration, unpacks it in
		$(kernel_dir KERNEL) and prints its version.
		Works as an ordinary user. HCWATCH_CACHE moves the cache.
	EOT
}

# The version file is written last: without it, or when the cache was moved, the fetch was not finished.
is_complete() {
	[[ -s $1/version && -e $1/location && $(<"$1/location") == "$1" ]]
}

# newest_version APT_CONF PATTERN: of all packages that match, the newest, without the prefix
newest_version() {
	apt-cache -c "$1" search --names-only "^$2\$" | awk '{print $1}' |
		sed -E 's/^linux-[a-z]+-//' | sort -V | tail -n 1
}

find_version() {
	local kernel=$1 apt=$2 kv place
	place=${HCW_KERNEL_SUITES[$1]:-"this machine's apt sources"}
	say "reading the package lists of $place"
	apt_update "$apt"
	kv=$(newest_version "$apt/apt.conf" "${HCW_KERNEL_IMAGE[$kernel]}")
	if [[ -z $kv ]]; then
		tail -n 5 "$apt/update.log" >&2
		die 3 "no package ${HCW_KERNEL_IMAGE[$kernel]} in $place (6.1 is in Debian 12's main)"
	fi
	printf '%s\n' "$kv"
}

download() {
	local kernel=$1 apt=$2 kv=$3 debs=$4 packages
	packages=${HCW_KERNEL_PACKAGES[$kernel]//@KV@/$kv}
	packages=${packages//@ABI@/${kv%-amd64}}
	mkdir -p "$debs"
	say "downloading $packages"
	# shellcheck disable=SC2086 # a list of names
	(cd "$debs" && apt-get -c "$apt/apt.conf" -qq download $packages) >&2 ||
		die 3 "the download failed; see the messages above, then run this again"
}

# The headers' Makefile includes its common twin by the absolute path it would have when installed. Packages with all in
# /usr need the link that modprobe -d goes through.
relocate() {
	local tree=$1 final=$2 kv=$3
	sed -i "s,/usr/src/,$final/tree/usr/src/,g" "$tree/usr/src/linux-headers-$kv/Makefile"
	[[ -e $tree/lib ]] || ln -s usr/lib "$tree/lib"
	depmod -b "$tree" "$kv"
}

# The guest loads before it has a program for xz, and a compressed module is nothing to strip or to look into.
decompress_modules() {
	local tree=$1 kv=$2 file
	local -a files
	mapfile -t files < <(module_files "$tree" "$kv" "${HCW_BOOT_MODULES[@]}" "${HCW_GPU_MODULES[@]}" | grep '\.xz$')
	((${#files[@]})) || return 0
	need xz=xz-utils
	for file in "${files[@]}"; do
		xz -d "$file" || die 3 "could not decompress ${file##*/} (disk full?)"
	done
	depmod -b "$tree" "$kv"
}

fetch() {
	local kernel=$1 final=$2 part=$2.part kv
	rm -rf "$part"
	mkdir -p "$part"
	check_space "$part" "$NEEDED_MIB"
	# shellcheck disable=SC2086 # a list of names
	apt_conf "$part/apt" ${HCW_KERNEL_SUITES[$kernel]:-}
	kv=$(find_version "$kernel" "$part/apt")
	download "$kernel" "$part/apt" "$kv" "$part/debs"
	say "unpacking"
	apt_unpack "$part/debs" "$part/tree"
	relocate "$part/tree" "$final" "$kv"
	decompress_modules "$part/tree" "$kv"
	rm -rf "$part/debs" "$part/apt" "$final"
	printf '%s\n' "$final" >"$part/location"
	printf '%s\n' "$kv" >"$part/version"
	mv "$part" "$final"
	say "$kv is in $final"
}

main() {
	[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; return 0; }
	(($# == 1)) || { usage >&2; return 2; }
	known_kernel "$1"
	local final lock
	final=$(kernel_dir "$1")
	if ! is_complete "$final"; then
		need apt-get=apt dpkg-deb=dpkg depmod=kmod modprobe=kmod flock=util-linux
		mkdir -p "${final%/*}" || die 3 "cannot create ${final%/*}: set HCWATCH_CACHE to a writable folder"
		exec {lock}>"$final.lock"
		flock "$lock"
		is_complete "$final" || fetch "$1" "$final"
	fi
	cat "$final/version"
}

main "$@"
