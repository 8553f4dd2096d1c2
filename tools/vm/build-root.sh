#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Unpacks another Debian release's compiler and libc in the cache: the build programs that come with a newer kernel's
# headers do not run on this machine's own. Nothing is installed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source-path=SCRIPTDIR source=apt.sh
source "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

readonly NEEDED_MIB=900 # packages 80, unpacked 330, package lists 150, and some room

# What a kernel's Makefile, its scripts and its compiled programs (modpost, objtool, resolve_btfids) call or link.
declare -A ROOT_PACKAGES=(
	[trixie]='gcc-14 make pahole libelf1t64 libssl3t64 zlib1g libc6-dev
		bash dash coreutils sed gawk grep findutils perl-base xz-utils'
)

usage() {
	cat <<-EOT
		Usage: build-root.sh RELEASE
		       build-root.sh RELEASE --run FOLDER... -- COMMAND [ARG]...
		Unpacks what builds kernel modules on Debian's RELEASE (${!ROOT_PACKAGES[*]}) in the cache, through this
		machine's apt configuration, and prints where it is. With --run it runs COMMAND with that as its root; each
		FOLDER is there at the same path and writable.
		Needs root for --run, or a kernel that lets ordinary users make user namespaces.
	EOT
}

# Packages of trixie have everything in /usr; the links are base-files' own, and that is not a dependency.
make_links() {
	local dir
	mkdir -p "$1/usr"
	for dir in bin sbin lib lib64; do
		mkdir -p "$1/usr/$dir"
		ln -s "usr/$dir" "$1/$dir"
	done
}

fetch_root() {
	local release=$1 final=$2 part=$2.part
	rm -rf "$part"
	mkdir -p "$part/root"/{proc,dev,tmp} "$part/debs/partial"
	check_space "$part" "$NEEDED_MIB"
	apt_conf "$part/apt" "$release"
	say "reading the package lists of $release"
	apt_update "$part/apt"
	say "downloading a compiler of $release"
	# shellcheck disable=SC2086 # a list of names
	apt-get -c "$part/apt/apt.conf" -o Dir::Cache::archives="$part/debs" -o Debug::NoLocking=1 -qq -y \
		--no-install-recommends --download-only install ${ROOT_PACKAGES[$release]} >"$part/apt/download.log" 2>&1 || {
		tail -n 5 "$part/apt/update.log" "$part/apt/download.log" >&2
		die 3 "the download failed; see the messages above, then run this again"
	}
	say "unpacking"
	make_links "$part/root"
	apt_unpack "$part/debs" "$part/root"
	[[ -e $part/root/usr/bin/awk ]] || ln -s gawk "$part/root/usr/bin/awk" # as the package's script would
	rm -rf "$part/debs" "$part/apt" "$final"
	printf '%s\n' "${ROOT_PACKAGES[$release]}" >"$part/packages"
	mv "$part" "$final"
	say "a compiler of $release is in $final"
}

is_complete() {
	[[ -s $1/packages && $(<"$1/packages") == "$2" ]]
}

# Runs in a mount namespace of its own. The build programs look into /proc.
enter() {
	local root=$1 dir
	shift
	for dir in /proc /dev; do
		mount --rbind "$dir" "$root$dir"
	done
	while [[ $1 != -- ]]; do
		mkdir -p "$root$1"
		mount --rbind "$1" "$root$1"
		shift
	done
	shift
	exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/usr/sbin LC_ALL=C "$@"
}

run_in() {
	local root=$1 namespace=(--mount --propagation private)
	((EUID == 0)) || namespace+=(--map-root-user)
	unshare "${namespace[@]}" true 2>/dev/null ||
		die 3 "another release's programs need a mount namespace: run this as root, or allow ordinary users to make" \
			"user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
	exec unshare "${namespace[@]}" /bin/bash "${BASH_SOURCE[0]}" --enter "$@"
}

main() {
	local release=${1:-} final lock
	case $release in
	-h | --help) usage; return 0 ;;
	--enter) shift; enter "$@" ;;
	esac
	(($# == 1)) || [[ ${2:-} == --run && " $* " == *' -- '* ]] || { usage >&2; return 2; }
	[[ -n ${ROOT_PACKAGES[$release]:-} ]] || die 2 "unknown release '$release'; known: ${!ROOT_PACKAGES[*]}"
	final=$HCW_CACHE/roots/$release
	if ! is_complete "$final" "${ROOT_PACKAGES[$release]}"; then
		need apt-get=apt dpkg-deb=dpkg tar=tar flock=util-linux
		mkdir -p "${final%/*}" || die 3 "cannot create ${final%/*}: set HCWATCH_CACHE to a writable folder"
		exec {lock}>"$final.lock"
		flock "$lock"
		is_complete "$final" "${ROOT_PACKAGES[$release]}" || fetch_root "$release" "$final"
		exec {lock}>&-
	fi
	(($# > 1)) || { printf '%s\n' "$final/root"; return 0; }
	need unshare=util-linux
	run_in "$final/root" "${@:3}"
}

main "$@"
