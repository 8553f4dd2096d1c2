#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Holds the tree to its style with zero findings: clang-format, cppcheck, shellcheck, and what no tool checks (SPDX line,
# length of files and of main, trailing blanks). Usage: check_style.sh   (no options)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly MAX_FILE=600 MAX_MAIN=60
failed=0

# All files of the tree: what git knows or would add; in an unpacked tree, everything but builds.
list_files() {
  if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
  else
    find . -name .git -prune -o -path './build*' -prune -o -name __pycache__ -prune -o -type f -print0
  fi | while IFS= read -r -d '' file; do
    if [ -f "$file" ] && [ ! -L "$file" ]; then
      printf '%s\n' "${file#./}"
    fi
  done | sort
}

# Reads names from stdin, prints those that are shell scripts by name or by their first line.
only_shell() {
  local file first
  while IFS= read -r file; do
    first=
    IFS= read -r first < "$file" 2> /dev/null || true
    if [[ $file == *.sh || $first =~ ^#!.*[/\ ](ba|da)?sh([[:space:]]|$) ]]; then
      printf '%s\n' "$file"
    fi
  done
}

# need TOOL...: prints the first one that exists.
need() {
  local tool
  for tool; do
    if command -v "$tool" > /dev/null; then
      printf '%s\n' "$tool"
      return
    fi
  done
  echo "check_style: $1 is not installed (Debian package ${1%-[0-9]*})" >&2
  return 1
}

# step NAME COMMAND...: a failure is counted, the rest still runs.
step() {
  local name=$1
  shift
  if "$@"; then
    echo "ok     $name"
  else
    echo "FAILED $name"
    failed=1
  fi
}

check_format() {
  "$CLANG_FORMAT" --dry-run -Werror "${c_files[@]}"
}

# Left out: the kernel module (its macros are those of the kernel's headers, which are not in the tree; the build of
# the module with -Wall is its check). The headers of libbpf are not read: its macros get a stand-in each.
check_cppcheck() {
  local sources
  mapfile -t sources < <(printf '%s\n' "${c_files[@]}" | grep '\.c$' | grep -v '^tools/gpusim/module/')
  "$CPPCHECK" --quiet --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --std=c11 --platform=unix64 -j "$(nproc)" -D__x86_64__ -D__linux__ -D__BYTE_ORDER__=1234 \
    -D__ORDER_LITTLE_ENDIAN__=1234 -D__ORDER_BIG_ENDIAN__=4321 -D'HCW_VERSION="0"' -D'SEC(x)=' \
    -D'LIBBPF_OPTS(type, name, ...)=struct type name' \
    -D'bpf_object__for_each_program(p, o)=while ((p = bpf_object__next_program(o, p)))' \
    -D'bpf_object__for_each_map(p, o)=while ((p = bpf_object__next_map(o, p)))' \
    -Ibpf -Iallocator/include "${sources[@]}"
}

check_shellcheck() {
  "$SHELLCHECK" -x -P SCRIPTDIR "${shell_files[@]}"
}

# First line of a C file, in either comment form (the kernel's own style wants // in .c); first or second of a script.
check_spdx() {
  awk 'FNR == 1 { found = /^(\/\* SPDX-License-Identifier: [A-Za-z0-9. -]+ \*\/|\/\/ SPDX-License-Identifier: [A-Za-z0-9. -]+)$/
                  if (!found) { print FILENAME ":1: the first line must be the SPDX comment alone"; bad = 1 } }
       END { exit bad }' "${c_files[@]}" &&
    awk 'FNR <= 2 && /^# SPDX-License-Identifier: / { good[FILENAME] = 1 }
         END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in good)) {
                 print ARGV[i] ":2: no SPDX line"; bad = 1 } exit bad }' "${shell_files[@]}"
}

check_length() {
  awk -v max="$MAX_FILE" '
    FNR > max && !(FILENAME in seen) { seen[FILENAME] = 1
      print FILENAME ":" FNR ": more than " max " lines"; bad = 1 }
    END { exit bad }' "${c_files[@]}" "${shell_files[@]}"
}

check_main() {
  awk -v max="$MAX_MAIN" '
    /^(int[ \t]+)?main[ \t]*\(/ { start = FNR }
    /^}/ && start { if (FNR - start + 1 > max) {
        print FILENAME ":" start ": main has " FNR - start + 1 " lines, at most " max; bad = 1 }
      start = 0 }
    END { exit bad }' "${c_files[@]}"
}

check_blanks() {
  local text
  mapfile -t text < <(list_files | grep -E '(\.(c|h|sh|py|scd|md|json|cmake|txt|yml|map)|/run|^\.[a-z-]+)$' |
    grep -v '^tests/fixtures/')
  ! grep -nE '[[:blank:]]+$' "${text[@]}"
}

main() {
  CLANG_FORMAT=$(need clang-format-14 clang-format)
  CPPCHECK=$(need cppcheck)
  SHELLCHECK=$(need shellcheck)
  mapfile -t c_files < <(list_files | grep '\.[ch]$')
  mapfile -t shell_files < <(list_files | grep -v '^tests/fixtures/' | only_shell)

  step clang-format check_format
  step cppcheck check_cppcheck
  step shellcheck check_shellcheck
  step 'SPDX lines' check_spdx
  step 'file length' check_length
  step 'main length' check_main
  step 'trailing blanks' check_blanks
  return "$failed"
}

main
