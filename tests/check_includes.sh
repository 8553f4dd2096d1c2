#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Holds every #include of the tree to the include table below, after showing on made trees that it can fail.
# Usage: check_includes.sh [--self-test | ROOT]
set -euo pipefail

# who -> what it may include, as paths from the root; a trailing / means the whole folder. A part may always
# include itself. Tests may include everything. First match of the left side wins.
TABLE='
bpf/            user/sys/hist.h
user/sys/       -
user/base/      user/sys/ bpf/hcwatch_abi.h
user/probe/     user/sys/ user/base/ bpf/hcwatch_abi.h skeletons
user/trace/     user/base/ bpf/hcwatch_abi.h
user/chain/     user/sys/hist.h bpf/hcwatch_abi.h
user/out/       user/chain/ user/base/ bpf/hcwatch_abi.h
user/           user/ bpf/hcwatch_abi.h
allocator/      user/sys/
tools/          allocator/ user/sys/ bpf/hcwatch_abi.h
tests/          bpf/ user/ allocator/ tools/ skeletons
'

# Every C file and header, from the root, without build trees.
list_files() {
  find . -name .git -prune -o -path './build*' -prune -o -type f -name '*.[ch]' -print | sed 's|^\./||' | sort
}

check_tree() {
  local root=$1
  cd "$root"
  mapfile -t files < <(list_files)
  if [ "${#files[@]}" -eq 0 ]; then
    echo "check_includes: no C files below $root" >&2
    return 2
  fi
  TABLE=$TABLE awk -f "$AWK_PROGRAM" "${files[@]}"
}

# shellcheck disable=SC2016 # awk's own variables
write_awk() {
  cat <<'AWK'
BEGIN {
  n = split(ENVIRON["TABLE"], lines, "\n")
  for (i = 1; i <= n; i++) {
    if (split(lines[i], word, " ") < 2)
      continue
    who[++parts] = word[1]
    allowed[word[1]] = substr(lines[i], length(word[1]) + 1) " "
  }
  for (i = 1; i < ARGC; i++)
    ours[ARGV[i]] = 1
}

function part_of(file,   p) {
  for (p = 1; p <= parts; p++)
    if (index(file, who[p]) == 1)
      return who[p]
  return ""
}

# a/b/../c -> a/c
function normal(path,   word, n, i, out, depth) {
  n = split(path, word, "/")
  depth = 0
  for (i = 1; i <= n; i++) {
    if (word[i] == "." || word[i] == "")
      continue
    if (word[i] == ".." && depth)
      depth--
    else
      out[++depth] = word[i]
  }
  path = out[1]
  for (i = 2; i <= depth; i++)
    path = path "/" out[i]
  return path
}

# The file of ours that a name means, "" when it is none. The folders are those the build adds with -I.
function resolve(name, folder,   i, n, try) {
  n = split(folder " . allocator/include bpf user tests", try, " ")
  for (i = 1; i <= n; i++)
    if (normal(try[i] "/" name) in ours)
      return normal(try[i] "/" name)
  return ""
}

# The same for a folder that only the build knows: a file of that name anywhere, one that `part` may not include first.
function anywhere(name, part,   file, found) {
  for (file in ours)
    if (substr(file, length(file) - length(name)) == "/" name) {
      found = file
      if (!may(part, file))
        return file
    }
  return found
}

function may(part, target,   i, n, word) {
  if (part != "user/" && index(target, part) == 1)
    return 1
  n = split(allowed[part], word, " ")
  for (i = 1; i <= n; i++)
    if (word[i] == target || (word[i] ~ /\/$/ && index(target, word[i]) == 1))
      return 1
  return 0
}

function fail(text) {
  print FILENAME ":" FNR ": " text
  bad++
}

FNR == 1 {
  folder = FILENAME
  if (!sub(/\/[^\/]*$/, "", folder))
    folder = "."
  part = part_of(FILENAME)
  if (part == "")
    fail("is in no part of the include table")
}

/^[ \t]*#[ \t]*include/ {
  checked++
  quoted = match($0, /"[^"]+"/)
  if (!quoted && !match($0, /<[^>]+>/)) {
    fail("include of a macro: cannot be checked")
    next
  }
  name = substr($0, RSTART + 1, RLENGTH - 2)
  if (name ~ /\.skel\.h$/) {
    if (index(allowed[part] " ", " skeletons ") == 0)
      fail(part " includes the generated skeleton " name ": only user/probe may")
    next
  }
  # <bpf/...> and the like are of the system unless the file is ours.
  target = resolve(name, quoted ? folder : ".")
  if (target == "" && quoted)
    target = anywhere(name, part)
  if (target != "" && !may(part, target))
    fail(part " may not include " target)
  else if (target == "" && quoted)
    fail("\"" name "\" is not in the tree: use <> for the system's headers")
}

END {
  if (!checked) {
    print "check_includes: no #include found"
    exit 2
  }
  exit bad > 0
}
AWK
}

# One tree per line of input: the file, the include in it, and whether that is allowed.
self_test() {
  local tree=$WORK/tree file include want got failed=0
  while IFS='|' read -r file include want; do
    rm -rf "$tree"
    mkdir -p "$tree"/{bpf,user/{sys,base,probe,trace,chain,out,cmd},allocator/{src,include/hcpool},tools/x,tests/unit,build/user/sys}
    touch "$tree"/{bpf/hcwatch_abi.h,bpf/maps.bpf.h,user/sys/{sys,hist}.h,user/base/err.h,user/chain/model.h} \
      "$tree"/{user/probe/session.h,user/cmd/command.h,allocator/include/hcpool/hcpool.h,tools/x/x.h}
    printf '#include "../../nowhere.h"\n' > "$tree/build/user/sys/generated.c"
    printf '#include <stdio.h>\n#include %s\n' "$include" > "$tree/$file"
    got=ok
    (check_tree "$tree") > "$WORK/output" || got=bad
    if [ "$got" != "$want" ]; then
      echo "check_includes self test: $file with $include is $got, should be $want" >&2
      failed=1
    elif [ "$got" = bad ] && ! grep -q "^$file:2: " "$WORK/output"; then
      echo "check_includes self test: no file:line for $file" >&2
      failed=1
    fi
  done <<'CASES'
bpf/a.bpf.c|"maps.bpf.h"|ok
bpf/a.bpf.c|"../user/sys/hist.h"|ok
bpf/a.bpf.c|<bpf/bpf_helpers.h>|ok
bpf/a.bpf.c|"../user/sys/sys.h"|bad
user/sys/a.c|"sys.h"|ok
user/sys/a.c|"../../bpf/hcwatch_abi.h"|bad
user/sys/a.c|"../base/err.h"|bad
user/base/a.c|"../sys/sys.h"|ok
user/base/a.c|"../chain/model.h"|bad
user/probe/a.c|"hcwatch.skel.h"|ok
user/probe/a.c|"../../bpf/maps.bpf.h"|bad
user/trace/a.c|"../base/err.h"|ok
user/trace/a.c|"../sys/sys.h"|bad
user/chain/a.c|"../sys/hist.h"|ok
user/chain/a.c|"../sys/sys.h"|bad
user/chain/a.c|"../base/err.h"|bad
user/out/a.c|"../chain/model.h"|ok
user/out/a.c|"../probe/session.h"|bad
user/cmd/a.c|"../probe/session.h"|ok
user/cmd/a.c|"hcwatch.skel.h"|bad
user/cmd/a.c|"../../allocator/include/hcpool/hcpool.h"|bad
user/cmd/a.c|<hcpool/hcpool.h>|bad
user/main.c|"cmd/command.h"|ok
user/main.c|"../tools/x/x.h"|bad
allocator/src/a.c|<hcpool/hcpool.h>|ok
allocator/src/a.c|"../../user/sys/sys.h"|ok
allocator/src/a.c|"../../user/base/err.h"|bad
tools/x/a.c|"../../allocator/include/hcpool/hcpool.h"|ok
tools/x/a.c|"../../user/base/err.h"|bad
tools/x/a.c|"../../bpf/maps.bpf.h"|bad
tests/unit/a.c|"../../user/cmd/command.h"|ok
tests/unit/a.c|"session.h"|ok
user/chain/a.c|"session.h"|bad
user/sys/a.c|"stdlib.h"|bad
user/sys/a.c|MACRO|bad
CASES
  return "$failed"
}

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
AWK_PROGRAM=$WORK/check.awk
write_awk > "$AWK_PROGRAM"

if [ "${1-}" = --self-test ]; then
  self_test
else
  self_test
  check_tree "${1:-$(dirname "$0")/..}"
fi
