#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every command and option that a remedy or a message of ours names exists. Usage: named.sh HCWATCH HCSTALL SOURCES
# SOURCES is the top of the tree: messages are the string literals of user/, tools/hcstall/ and allocator/.
set -euo pipefail

readonly HCWATCH=$1 HCSTALL=$2 SOURCES=$3

# Options of programs that are not ours: SGLang, docker.
readonly FOREIGN='--hicache-size --cpuset-mems'
# Words that follow the name in a sentence.
readonly PROSE='reads that trace knows on'
# Settings and variables that remedies name: each must be one that a reader can look up.
readonly SETTINGS='kernel.numa_balancing vm.compaction_proactiveness vm.compact_unevictable_allowed vm.nr_hugepages kernel.perf_event_paranoid kernel.kptr_restrict'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
	printf 'FAIL %s\n' "$*"
	failed=1
}

commands() {
	"$HCWATCH" --help | awk '/^  [a-z]/ && $1 != "hcwatch" {print $1}'
}

# All options of all programs, one a line.
options() {
	local command
	for command in $(commands); do
		"$HCWATCH" "$command" --help
	done | cat - <("$HCSTALL" --help) <("$HCWATCH" --help) | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

# The string literals of a C file, neighbours joined as the compiler does, #include lines left out.
literals() {
	grep -v '^ *#' "$1" | tr '\n' ' ' | sed -E 's/"[[:space:]]+"//g; s/\\"/\x27/g' | grep -oE '"[^"]*"' || true
}

commands >"$work/commands"
options >"$work/options"
[[ -s $work/commands && -s $work/options ]] || fail 'no commands or options found'

"$HCWATCH" explain --json >"$work/said"
find "$SOURCES/user" "$SOURCES/tools/hcstall" "$SOURCES/allocator" -name '*.c' -print | while IFS= read -r file; do
	literals "$file"
done >>"$work/said"

while IFS= read -r option; do
	grep -qxF -- "$option" "$work/options" || [[ " $FOREIGN " == *" $option "* ]] ||
		fail "option $option is named and does not exist"
done < <(grep -oE -- '(^|[^a-z-])--[a-z][a-z-]+[a-z]' "$work/said" | grep -oE -- '--[a-z-]+' | sort -u)

while IFS= read -r command; do
	grep -qxF -- "$command" "$work/commands" || [[ " $PROSE " == *" $command "* ]] ||
		fail "command hcwatch $command is named and does not exist"
done < <(grep -oE 'hcwatch [a-z]+' "$work/said" | awk '{print $2}' | sort -u)

while IFS= read -r setting; do
	[[ " $SETTINGS " == *" $setting "* ]] || fail "setting $setting is named: is it spelt right?"
done < <(grep -oE 'sysctl [a-z]+[.][a-z_]+' "$work/said" | awk '{print $2}' | sort -u)

# the check itself can fail
grep -qxF -- '--frobnicate' "$work/options" && fail 'an option that does not exist was found'
grep -qxF -- '--json' "$work/options" || fail '--json was not found'
grep -qE 'sysctl kernel.numa_balancing' "$work/said" || fail 'the remedies were not read'
exit "$failed"
