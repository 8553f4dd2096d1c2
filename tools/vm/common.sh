# SPDX-License-Identifier: BSD-2-Clause
# Shared by the scripts of tools/vm and tools/gpusim: where things are, which kernels there are, how to fail.
# shellcheck shell=bash disable=SC2034

HCW_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
HCW_CACHE=${HCWATCH_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp/hcwatch-$EUID}/.cache}/hcwatch}
[[ $HCW_CACHE == /* ]] || HCW_CACHE=$PWD/$HCW_CACHE
# An ordinary user's PATH has no depmod and no modprobe on Debian.
PATH=$PATH:/usr/sbin:/sbin

# One row a kernel line: pattern of its image packages, then the packages to unpack. In the packages @KV@ is the
# version of the newest image (6.1.0-57-amd64) and @ABI@ the same without the architecture.
declare -A HCW_KERNEL_IMAGE=(
	[6.1]='linux-image-6\.1\.[0-9]+-[0-9]+-amd64'
)
declare -A HCW_KERNEL_PACKAGES=(
	[6.1]='linux-image-@KV@ linux-headers-@KV@ linux-headers-@ABI@-common linux-kbuild-6.1 linux-compiler-gcc-12-x86'
)

say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# die CODE MESSAGE...
die() {
	local code=$1
	shift
	say "$@"
	exit "$code"
}

# need PROGRAM=PACKAGE...: exit 3 and name every missing program with the one command that brings it
need() {
	local pair programs=() packages=()
	for pair; do
		command -v "${pair%%=*}" >/dev/null && continue
		programs+=("${pair%%=*}")
		packages+=("${pair#*=}")
	done
	((${#programs[@]} == 0)) ||
		die 3 "not found: ${programs[*]}. Install with: apt-get install --no-install-recommends ${packages[*]}"
}

# next_arg OPTION COUNT: refuses an option that came without its value
next_arg() {
	(($2 >= 2)) || die 2 "option $1 needs a value"
}

known_kernel() {
	[[ -n ${HCW_KERNEL_IMAGE[$1]:-} ]] ||
		die 2 "unknown kernel '$1'; known: ${!HCW_KERNEL_IMAGE[*]}"
}

kernel_dir() {
	printf '%s/kernels/%s\n' "$HCW_CACHE" "$1"
}

# module_files TREE KERNEL_VERSION MODULE...: files in the order to load them, each once. The machine's own
# modprobe.d has no say in it.
module_files() {
	local tree=$1 kv=$2 module
	shift 2
	for module; do
		modprobe -C /dev/null -d "$tree" -S "$kv" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}
