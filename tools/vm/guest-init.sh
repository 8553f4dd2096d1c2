#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Process 1 of the guest, run by busybox: puts the host's root together as the guest's, then hands over to
# guest-run.sh in it.
set -eu

# 43: the guest cannot be set up; see guest-run.sh
give_up() {
	echo "hcwatch-vm: guest-init.sh failed"
	printf '\053' | dd of=/dev/port bs=1 seek=244 count=1 2>/dev/null
	poweroff -f
}

# Folders below /tmp and /run of the host are hidden by the guest's own; these lines bring one back.
reveal() {
	case $1/ in
	/tmp/* | /run/*)
		mkdir -p "/newroot$1"
		mount --bind "/host$1" "/newroot$1"
		;;
	esac
}

mount_own() {
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devtmpfs /dev
	mkdir -p /dev/pts /dev/shm
	ln -s /proc/self/fd /dev/fd
	for std in 0:stdin 1:stdout 2:stderr; do
		ln -s "/proc/self/fd/${std%:*}" "/dev/${std#*:}"
	done
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t bpf bpf /sys/fs/bpf
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
}

# cache=mmap writes through, so nothing is lost when the machine is switched off, and files can be mapped.
mount_shares() {
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro host /host
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=mmap out /out
}

make_root() {
	mount --bind /host /newroot
	for dir in proc sys dev; do
		mount --rbind /$dir /newroot/$dir
	done
	mount -t tmpfs tmpfs /newroot/tmp
	mount -t tmpfs tmpfs /newroot/run
	while read -r dir; do
		reveal "$dir"
	done </out/.job/visible
	out=$(cat /out/.job/out)
	mkdir -p "/newroot$out" # only needed, and only possible, below /tmp and /run
	mount --bind /out "/newroot$out"
}

/bin/busybox --install -s /bin
trap give_up EXIT
mount_own
while read -r module; do
	insmod "/modules/$module"
done </modules/order
mount_shares
make_root
ifconfig lo up
hostname hcwatch-guest
echo "hcwatch-vm: root in place ($(cut -d' ' -f1 /proc/uptime) s)"
exec chroot /newroot /bin/bash "$(cat /out/.job/checkout)/tools/vm/guest-run.sh" "$(cat /out/.job/out)"
