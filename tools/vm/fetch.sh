#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches a Debian kernel with its headers and unpacks it in a cache; nothing is installed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly NEEDED_MIB=900 # packages 90, unpacked 500, package lists 150, and some room

usage() {
	cat <<-EOT
		Usage: fetch.sh KERNEL
		Fetches Debian's KERNEL (${!HCW_KERNEL_IMAGE[*]}) through this machine's apt configuration, unpacks it in
		$(kernel_dir KERNEL) and prints its version.
		Works as an ordinary user. HCWATCH_CACHE moves the cache.
	EOT
}

# The version file is written last: without it, or when the cache was moved, the fetch was not finished.
is_complete() {
	[[ -s $1/version && -e $1/location && $(<"$1/location") == "$1" ]]
}

# apt with lists, cache and status of its own, and the machine's sources and keys
write_apt_conf() {
	local apt=$1
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	cat >"$apt/apt.conf" <<-EOT
		Dir::State::Lists "$apt/lists";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear Acquire::IndexTargets::deb::DEP-11;
		#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
		#clear Acquire::IndexTargets::deb::DEP-11-icons;
		#clear Acquire::IndexTargets::deb::DEP-11-icons-large;
		#clear Acquire::IndexTargets::deb::Contents-deb;
	EOT
}

# newest_version APT_CONF PATTERN: of all images that match, the newest, without the prefix
newest_version() {
	apt-cache -c "$1" search --names-only "^$2\$" | awk '{print $1}' |
		sed 's/^linux-image-//' | sort -V | tail -n 1
}

find_version() {
	local kernel=$1 apt=$2 log=$2/update.log kv
	say "reading the package lists of this machine's apt sources"
	# One broken third-party source must not stop us: what counts is whether the kernel is found.
	apt-get -c "$apt/apt.conf" -q update >"$log" 2>&1 || true
	kv=$(newest_version "$apt/apt.conf" "${HCW_KERNEL_IMAGE[$kernel]}")
	if [[ -z $kv ]]; then
		tail -n 5 "$log" >&2
		die 3 "no package ${HCW_KERNEL_IMAGE[$kernel]} in this machine's apt sources; it is in Debian 12's main"
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

unpack() {
	local debs=$1 tree=$2 deb
	mkdir -p "$tree"
	for deb in "$debs"/*.deb; do
		say "unpacking ${deb##*/}"
		dpkg-deb -x "$deb" "$tree" || die 3 "could not unpack ${deb##*/} in $tree (disk full?)"
	done
}

# The headers' Makefile includes its common twin by the absolute path it would have when installed.
relocate() {
	local tree=$1 final=$2 kv=$3
	sed -i "s,/usr/src/,$final/tree/usr/src/,g" "$tree/usr/src/linux-headers-$kv/Makefile"
	depmod -b "$tree" "$kv"
}

check_space() {
	local free
	free=$(df --output=avail -m "$1" | tail -n 1 | tr -d " ")
	((free >= NEEDED_MIB)) ||
		die 3 "$1 has $free MiB free, a kernel needs $NEEDED_MIB: make room or set HCWATCH_CACHE"
}

fetch() {
	local kernel=$1 final=$2 part=$2.part kv
	rm -rf "$part"
	mkdir -p "$part"
	check_space "$part"
	write_apt_conf "$part/apt"
	kv=$(find_version "$kernel" "$part/apt")
	download "$kernel" "$part/apt" "$kv" "$part/debs"
	unpack "$part/debs" "$part/tree"
	relocate "$part/tree" "$final" "$kv"
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
		need apt-get=apt dpkg-deb=dpkg depmod=kmod flock=util-linux
		mkdir -p "${final%/*}" || die 3 "cannot create ${final%/*}: set HCWATCH_CACHE to a writable folder"
		exec {lock}>"$final.lock"
		flock "$lock"
		is_complete "$final" || fetch "$1" "$final"
	fi
	cat "$final/version"
}

main "$@"
