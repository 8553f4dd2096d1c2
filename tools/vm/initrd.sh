#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes the guest's initramfs beside the unpacked kernel and prints its path: busybox, 9p, guest-init.sh.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly INIT=$HCW_ROOT/tools/vm/guest-init.sh

find_busybox() {
	local busybox
	busybox=$(command -v busybox) || die 3 "not found: busybox. Install with: apt-get install busybox-static"
	! ldd "$busybox" >/dev/null 2>&1 ||
		die 3 "$busybox is not static, the guest needs that. Install with: apt-get install busybox-static"
	printf '%s\n' "$busybox"
}

fill() {
	local root=$1 tree=$2 kv=$3 busybox=$4 file
	mkdir -p "$root"/{bin,dev,proc,sys,modules,host,out,newroot}
	cp "$busybox" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	cp "$INIT" "$root/init"
	chmod 755 "$root/init"
	while read -r file; do
		cp "$file" "$root/modules/"
		printf '%s\n' "${file##*/}"
	done < <(module_files "$tree" "$kv" "${HCW_BOOT_MODULES[@]}") >"$root/modules/order"
}

main() {
	(($# == 1)) || die 2 "usage: initrd.sh KERNEL"
	known_kernel "$1"
	need cpio=cpio modprobe=kmod
	local dir busybox image work
	dir=$(kernel_dir "$1")
	busybox=$(find_busybox)
	image=$dir/initrd-$(cat "$INIT" "$busybox" "$HCW_ROOT"/tools/vm/{initrd,common}.sh "$dir/version" |
		sha256sum | cut -c1-16).cpio
	if [[ ! -e $image ]]; then
		work=$(mktemp -d "$dir/initrd.XXXXXX")
		# shellcheck disable=SC2064 # the folder of now
		trap "rm -rf '$work'" EXIT
		fill "$work/root" "$dir/tree" "$(<"$dir/version")" "$busybox"
		(cd "$work/root" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/image"
		# Not all the others: another checkout may be about to boot from one.
		find "$dir" -maxdepth 1 -name 'initrd-*.cpio' -mtime +7 -delete
		mv "$work/image" "$image"
	fi
	printf '%s\n' "$image"
}

main "$@"
