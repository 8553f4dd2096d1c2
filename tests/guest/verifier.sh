#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# verifier.sh [HCWATCH HCSTALL]: what the verifier does for each BPF program, against the committed budget. A program
# that needs more than a tenth more fails, and so does one that is not in the budget, or only there.
# verifier.sh --accept CSV...: takes measured rows (of the kernels in them, all at once) into the budget.
# Needs no test GPU: on the build's own machine it is a test of CTest, for that kernel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=lib.sh
source lib.sh

readonly BUDGET=${HCW_VERIFIER_BUDGET:-verifier-budget.csv} PERCENT=10
readonly COLUMNS_WANTED='program,kernel,tier,verified_insns,insns,limit'

# accept CSV...: the budget with every row of their kernels replaced
accept() {
	local new
	new=$(mktemp)
	{
		printf '%s\n' "$COLUMNS_WANTED"
		awk -F, 'FNR == 1 {file++} FNR > 1 && file < ARGC - 1 {measured[$2] = 1}
			FNR > 1 && (file < ARGC - 1 || !($2 in measured))' "$@" "$BUDGET" |
			sort -t, -k2,2V -k1,1 -u
	} >"$new"
	cat "$new" >"$BUDGET"
	rm -f "$new"
	printf '%s: %d rows\n' "$BUDGET" "$(($(wc -l <"$BUDGET") - 1))"
}

# compare MEASURED: "PASS|FAIL NAME: ..." for each program of this kernel
compare() {
	awk -F, -v percent="$PERCENT" -v kernel="$2" '
		FNR == 1 {file++; next}
		$2 != kernel {next}
		file == 1 {budget[$1] = $4; next}
		!($1 in budget) {print "FAIL " $1 ": not in the budget: add it with --accept"; next}
		{
			seen[$1] = 1
			bad = $4 * 100 > budget[$1] * (100 + percent) || $4 > $6
			print (bad ? "FAIL " : "PASS ") $1 ": " $4 " instructions verified, budget " budget[$1]
		}
		END {for (p in budget) if (!(p in seen)) print "FAIL " p ": in the budget, but not loaded here"}
	' "$BUDGET" "$1"
}

main() {
	local rc=0 work kernel
	if [[ ${1:-} == --accept && $# -gt 1 ]]; then
		accept "${@:2}"
		return
	fi
	work=$(mktemp -d)
	# shellcheck disable=SC2064 # now: it is local
	trap "rm -rf '$work'" EXIT
	"${HCW_BUILD:-../../build}/tests/verifier_count" >"$work/measured" || rc=$?
	((rc != 77 || 0${HCW_VM_OUT:+1})) || return 77
	check 'every program that has a target loads' "$rc" 0
	[[ -z ${HCW_VM_OUT:-} ]] || cp "$work/measured" "$HCW_VM_OUT/verifier.csv"
	cat "$work/measured"
	kernel=$(uname -r | grep -oE '^[0-9]+\.[0-9]+')
	if ! grep -q "^[^,]*,$kernel," "$BUDGET"; then
		printf 'SKIP verifier budget: %s has no rows of kernel %s; add them with --accept\n' "$BUDGET" "$kernel"
		summary
		# a code that only CTest knows
		[[ -n ${HCW_VM_OUT:-} ]] || return 77
		return 0
	fi
	compare "$work/measured" "$kernel" >"$work/compared"
	cat "$work/compared"
	passed=$((passed + $(grep -c '^PASS' "$work/compared" || true)))
	failed=$((failed + $(grep -c '^FAIL' "$work/compared" || true)))
	summary
}

main "$@"
