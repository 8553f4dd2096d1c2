# SPDX-License-Identifier: BSD-2-Clause
# Helpers of the guest tests: checks, the test GPU's counters and parameters, the kernel log.
# shellcheck shell=bash

readonly GPUSIM_COUNTERS=/sys/bus/platform/drivers/gpusim/counters
readonly GPUSIM_PARAMETERS=/sys/module/gpusim/parameters

passed=0
failed=0

# check NAME GOT WANT
check() {
	if [[ $2 == "$3" ]]; then
		printf 'PASS %s (%s)\n' "$1" "$2"
		passed=$((passed + 1))
	else
		printf "FAIL %s: got '%s', want '%s'\n" "$1" "$2" "$3"
		failed=$((failed + 1))
	fi
}

# check_that NAME ARITHMETIC: passes when the expression is true, and shows it
check_that() {
	if (($2)); then
		printf 'PASS %s (%s)\n' "$1" "$2"
		passed=$((passed + 1))
	else
		printf 'FAIL %s: not true: %s\n' "$1" "$2"
		failed=$((failed + 1))
	fi
}

# summary: last line of a test, and its exit code
summary() {
	printf '%d passed, %d failed\n' "$passed" "$failed"
	((failed == 0))
}

# field FILE NAME: the value of a "name value" line; empty when there is none
field() {
	awk -v name="$2" '$1 == name { print $2 }' "$1"
}

counter() {
	field "$GPUSIM_COUNTERS" "$1"
}

# set_gpusim PARAMETER VALUE
set_gpusim() {
	printf '%s\n' "$2" >"$GPUSIM_PARAMETERS/$1"
}

# wait_until SECONDS COMMAND...: until the command succeeds; fails when it did not in time
wait_until() {
	local tries=$(($1 * 20))
	shift
	until "$@"; do
		((tries-- > 0)) || return 1
		sleep 0.05
	done
}

# Warnings of the kernel. Two nodes in one socket make topology_sane() complain at boot, whatever we do.
kernel_warnings() {
	dmesg | grep -E 'BUG:|Oops|WARNING:|INFO: task .* blocked|refcount_t:|general protection' |
		grep -v topology_sane || true
}
