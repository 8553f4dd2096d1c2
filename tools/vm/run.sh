#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Boots a Debian kernel on this machine's own userland, loads amdgpu, runs one command, hands back its output and
# its exit code.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly GUEST_DONE=85 GUEST_FAILED=87 # guest-run.sh's 42 and 43, through QEMU's debug exit
readonly EXIT_DEAD=70 EXIT_TIMEOUT=124

kernel=6.1 timeout_s=300 mem_mib=1024 strip_btf=0 out='' out_is_ours=0 qemu_pid=''
modules=() visible=() env=() command=()

usage() {
	cat <<-EOT
		Usage: run.sh [OPTION]... -- COMMAND [ARG]...
		Runs COMMAND as root in a virtual machine: Debian kernel, two NUMA nodes, amdgpu loaded. The guest's root is
		this machine's, read-only; the checkout is the working directory.

		  --kernel KERNEL     $(known_kernels) (default $kernel); fetched into a cache when needed
		  --timeout SEC       give up after this time (default $timeout_s)
		  --mem MIB           memory of each of the two nodes (default $mem_mib)
		  --out DIR           writable in the guest, at the same path and named by HCW_VM_OUT. Keeps stdout, stderr
		                      and console.log. Default: a temporary folder
		  --module KO[:ARGS]  load this module too, after amdgpu; repeatable
		  --visible PATH      a folder below /tmp or /run the command needs, which the guest's own would hide;
		                      repeatable
		  --strip-btf         amdgpu and every --module without their BTF, as a driver built outside the kernel has it;
		                      the command finds HCW_VM_STRIPPED=1 in its environment
		  --env NAME=VALUE    environment of the command; nothing else is passed on; repeatable

		Exit: COMMAND's own; 2 usage; 3 something is missing here; $EXIT_TIMEOUT timeout; $EXIT_DEAD the guest died
		twice or could not be set up.
		A guest that dies is started again once; then stdout has the output of both, DIR/stdout only the second's.
	EOT
}

bad_usage() {
	usage >&2
	exit 2
}

# number OPTION VALUE
number() {
	[[ $2 =~ ^[1-9][0-9]*$ ]] || die 2 "option $1 needs a positive number, not '$2'"
}

# existing OPTION PATH: the real path of what must exist
existing() {
	realpath -e -- "$2" 2>/dev/null || die 2 "option $1: $2 does not exist"
}

parse() {
	while (($#)); do
		case $1 in
		--) shift; break ;;
		-h | --help) usage; exit 0 ;;
		--strip-btf) strip_btf=1; shift; continue ;;
		--kernel | --timeout | --mem | --out | --module | --visible | --env) next_arg "$1" $# ;;
		*) bad_usage ;;
		esac
		case $1 in
		--kernel) kernel=$2 ;;
		--timeout) number "$1" "$2"; timeout_s=$2 ;;
		--mem) number "$1" "$2"; mem_mib=$2 ;;
		--out) out=$2 ;;
		--module) modules+=("$2") ;;
		--visible) visible+=("$(existing "$1" "$2")") ;;
		--env) [[ $2 == [A-Za-z_]*=* ]] || die 2 "option --env needs NAME=VALUE, not '$2'"; env+=("$2") ;;
		esac
		shift 2
	done
	(($#)) || bad_usage
	command=("$@")
	known_kernel "$kernel"
}

make_out() {
	if [[ -z $out ]]; then
		out=$(mktemp -d "${TMPDIR:-/tmp}/hcwatch-vm.XXXXXX")
		out_is_ours=1
	fi
	mkdir -p "$out" || die 2 "cannot create $out"
	out=$(realpath -e "$out")
	local lock
	exec {lock}<"$out"
	flock -n "$lock" || die 2 "another run.sh is using $out"
	rm -rf "$out/.job"
	mkdir "$out/.job" || die 2 "cannot write in $out"
}

# The command as a script of its own: quoting is bash's business, on both sides.
write_command() {
	printf 'export HOME=/tmp LANG=C.UTF-8 HCW_VM_OUT=%q\n' "$out"
	((!strip_btf)) || printf 'export HCW_VM_STRIPPED=1\n'
	((${#env[@]} == 0)) || printf 'export %q\n' "${env[@]}"
	printf 'cd %q || exit 125\n' "$HCW_ROOT"
	printf 'exec'
	printf ' %q' "${command[@]}"
	printf '\n'
}

# without_btf FILE FOLDER: the module without BTF, whether its own or what it is told against, as a copy in FOLDER
without_btf() {
	local copy=$2/${1##*/}
	mkdir -p "$2"
	if [[ ! $copy -nt $1 ]]; then
		objcopy --remove-section .BTF --remove-section .BTF.base "$1" "$copy.$$" || die 70 "could not strip $1"
		mv "$copy.$$" "$copy"
	fi
	printf '%s\n' "$copy"
}

# driver_files TREE KERNEL_VERSION: the GPU driver and all it needs, in the order to load them. Only the driver itself is
# stripped: the modules below it come with the kernel, also where the driver does not.
driver_files() {
	local file
	module_files "$1" "$2" "${HCW_GPU_MODULES[@]}" | while read -r file; do
		if ((strip_btf)) && [[ " ${HCW_GPU_MODULES[*]/%/.ko} " == *" ${file##*/} "* ]]; then
			without_btf "$file" "${1%/*}/without-btf"
		else
			printf '%s\n' "$file"
		fi
	done
}

write_job() {
	local job=$out/.job tree=$1 kv=$2 module file args
	driver_files "$tree" "$kv" >"$job/modules"
	for module in ${modules[@]+"${modules[@]}"}; do
		file=$(existing --module "${module%%.ko:*}$([[ $module != *.ko:* ]] || echo .ko)")
		args=''
		[[ $module != *.ko:* ]] || args=${module#*.ko:}
		((!strip_btf)) || file=$(without_btf "$file" "$job")
		printf '%s %s\n' "$file" "$args" >>"$job/modules"
		((strip_btf)) || visible+=("${file%/*}")
	done
	printf '%s\n' "$HCW_ROOT" "${tree%/*}" ${visible[@]+"${visible[@]}"} >"$job/visible"
	printf '%s\n' "$HCW_ROOT" >"$job/checkout"
	printf '%s\n' "$out" >"$job/out"
	write_command >"$job/command"
}

# share TAG PATH OPTIONS: commas in a path are doubled for QEMU
share() {
	printf '%s\n' -fsdev "local,id=$1,path=${2//,/,,},security_model=none,$3" \
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1"
}

# thread=single: with one thread a CPU, patching kernel text under the other CPU's feet crashes some boots.
qemu_args() {
	local image=$1 initrd=$2
	printf '%s\n' -accel tcg,thread=single -cpu max -smp 2 -m "$((2 * mem_mib))M" \
		-object "memory-backend-ram,id=m0,size=${mem_mib}M" -numa node,memdev=m0,cpus=0 \
		-object "memory-backend-ram,id=m1,size=${mem_mib}M" -numa node,memdev=m1,cpus=1 \
		-kernel "$image" -initrd "$initrd" \
		-append 'console=ttyS0 quiet panic=-1 oops=panic mitigations=off' \
		-device isa-debug-exit,iobase=0xf4,iosize=0x04 \
		-display none -monitor none -nic none -no-reboot -serial "file:${out//,/,,}/console.log"
	share host / readonly=on,multidevs=remap
	share out "$out" multidevs=remap
}

# Boots once. Status as QEMU's, or timeout's.
boot() {
	local status=0 tails=()
	rm -f "$out/.job/rc"
	: >"$out/stdout"
	: >"$out/stderr"
	# whatever ends this script ends the guest: --foreground keeps it in our process group, and each of the two is
	# told when the one above it dies
	setpriv --pdeathsig TERM timeout --foreground -k 5 "$timeout_s" \
		setpriv --pdeathsig KILL qemu-system-x86_64 "$@" </dev/null >"$out/qemu.log" 2>&1 &
	qemu_pid=$!
	tail -n +1 -s 0.1 -f --pid="$qemu_pid" "$out/stdout" &
	tails+=($!)
	tail -n +1 -s 0.1 -f --pid="$qemu_pid" "$out/stderr" >&2 &
	tails+=($!)
	wait "$qemu_pid" || status=$?
	qemu_pid=''
	wait "${tails[@]}" || true
	return "$status"
}

# The line that names the reason stands above a long trace.
show_end() {
	say "from $out/console.log:"
	tr -d '\r' <"$out/console.log" 2>/dev/null | grep -E 'hcwatch-vm:|panic|BUG:|Oops' | tail -n 5 >&2 || true
	say "its end:"
	tail -n 12 "$out/console.log" 2>/dev/null | tr -d '\r' >&2 || true
	cat "$out/qemu.log" >&2
}

clean_up() {
	[[ -z $qemu_pid ]] || kill "$qemu_pid" 2>/dev/null || true
	[[ -z $out ]] || rm -rf "$out/.job"
}

run_guest() {
	local status try
	for try in 1 2; do
		status=0
		boot "$@" || status=$?
		if ((status == GUEST_DONE)) && [[ -s $out/.job/rc ]]; then
			return "$(<"$out/.job/rc")"
		elif ((status == 124 || status == 137)); then
			say "no end after $timeout_s s (--timeout); the guest was stopped"
			show_end
			return "$EXIT_TIMEOUT"
		elif ((status == GUEST_FAILED)); then
			say "the guest could not be set up"
			break
		fi
		say "the guest died without an exit code (QEMU ended with $status)"
		((try == 2)) || say "starting it once more"
	done
	show_end
	return "$EXIT_DEAD"
}

main() {
	parse "$@"
	need qemu-system-x86_64=qemu-system-x86 busybox=busybox-static cpio=cpio modprobe=kmod flock=util-linux setpriv=util-linux
	((!strip_btf)) || need objcopy=binutils
	local dir kv initrd image args status=0
	trap clean_up EXIT
	trap 'exit 130' INT TERM
	kv=$("$HCW_ROOT/tools/vm/fetch.sh" "$kernel")
	initrd=$("$HCW_ROOT/tools/vm/initrd.sh" "$kernel")
	dir=$(kernel_dir "$kernel")
	make_out
	write_job "$dir/tree" "$kv"
	image=$(kernel_image "$dir/tree" "$kv")
	mapfile -t args < <(qemu_args "$image" "$initrd")
	run_guest "${args[@]}" || status=$?
	((!out_is_ours || status == EXIT_DEAD || status == EXIT_TIMEOUT)) || rm -rf "$out"
	return "$status"
}

main "$@"
