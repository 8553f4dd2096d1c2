# SPDX-License-Identifier: BSD-2-Clause
# Shared by the scripts of tools/vm and tools/gpusim: where things are, which kernels there are, how to fail.
# shellcheck shell=bash disable=SC2034

HCW_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
HCW_CACHE=${HCWATCH_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp/hcwatch-$EUID}/.cache}/hcwatch}
[[ $HCW_CACHE == /* ]] || HCW_CACHE=$PWD/$HCW_CACHE
# An ordinary user's PATH has no depmod and no modprobe on Debian.
PATH=$PATH:/usr/sbin:/sbin

# One row a kernel line: pattern of the package that tells its newest version, suites it comes from (none: the
# machine's own sources), then the packages to unpack. In the packages @KV@ is that version (6.1.0-57-amd64) and
# @ABI@ the same without the architecture.
declare -A HCW_KERNEL_IMAGE=(
	[6.1]='linux-image-6\.1\.[0-9]+-[0-9]+-amd64'
	[6.12]='linux-headers-6\.12\.[0-9.]+\+deb12[0-9.]*-amd64'
	[7.3]='linux-headers-7\.3\.[0-9.]+\+deb13[0-9.]*-amd64'
)
declare -A HCW_KERNEL_SUITES=(
	[6.1]=''
	[6.12]='bookworm-backports'
	[7.3]='trixie trixie-backports'
)
declare -A HCW_KERNEL_PACKAGES=(
	[6.1]='linux-image-@KV@ linux-headers-@KV@ linux-headers-@ABI@-common linux-kbuild-6.1 linux-compiler-gcc-12-x86'
	[6.12]='linux-image-@KV@ linux-headers-@KV@ linux-headers-@ABI@-common linux-kbuild-@ABI@'
	[7.3]='linux-binary-@KV@ linux-modules-@KV@ linux-base-@KV@ linux-headers-@KV@ linux-headers-@ABI@-common linux-kbuild-@ABI@'
)
# The release whose compiler and libc build modules for a kernel; without a row, this machine's do.
declare -A HCW_KERNEL_BUILD_ROOT=([7.3]=trixie)
# What the guest's initramfs loads, and the driver under test. fetch.sh decompresses these and what they need.
HCW_BOOT_MODULES=(virtio_pci 9pnet_virtio 9p)
HCW_GPU_MODULES=(amdgpu)

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

known_kernels() {
	printf '%s\n' "${!HCW_KERNEL_IMAGE[@]}" | sort -V | xargs
}

known_kernel() {
	[[ -n ${HCW_KERNEL_IMAGE[$1]:-} ]] ||
		die 2 "unknown kernel '$1'; known: $(known_kernels)"
}

kernel_dir() {
	printf '%s/kernels/%s\n' "$HCW_CACHE" "$1"
}

# kernel_image TREE KERNEL_VERSION: where the packages of its release put it
kernel_image() {
	local image
	for image in "$1/boot/vmlinuz-$2" "$1/usr/lib/modules/$2/vmlinuz"; do
		[[ ! -e $image ]] || { printf '%s\n' "$image"; return; }
	done
	die 70 "no kernel image of $2 in $1: remove it, and it is fetched anew"
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
