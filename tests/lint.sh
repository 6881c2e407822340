#!/bin/sh
# SPDX-License-Identifier: MIT
# What compilers and checkers see: lint.sh SCRATCH [gcc|clang|tidy|cppcheck …]; default: all. Builds in SCRATCH.
# Warnings of level 3 are errors with gcc and with clang; .clang-tidy and the lines below say what the checkers look for.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { echo "usage: lint.sh SCRATCH [gcc|clang|tidy|cppcheck ...]" >&2; exit 2; }
scratch=$1
shift
[ $# -gt 0 ] || set -- gcc clang tidy cppcheck
mkdir -p "$scratch"
# Debian's packages of one version install names with that version alone.
clang=$(command -v clang || command -v clang-14 || echo clang)
tidy=$(command -v clang-tidy || command -v clang-tidy-14 || echo clang-tidy)
build() {
  [ -f "$scratch/$1/build.ninja" ] || CC=$2 meson setup "$scratch/$1" "$root" -Dcuda=disabled -Dwerror=true -Dwarning_level=3 \
    -Db_lundef=false >/dev/null || return 1
  ninja -C "$scratch/$1" --quiet
}
sources() { git ls-files 'core/*.c' 'kernels/cpu/*.c' 'probes/*.c' 'app/*.c'; }
run_tidy() { # on standard error it counts what it does not show
  build clang "$clang" && sources | xargs -n 8 "$tidy" -p "$scratch/clang" --quiet 2>"$scratch/tidy.log" && return 0
  grep -v 'warnings\? generated' "$scratch/tidy.log"
  return 1
}
run_cppcheck() {
  sources | xargs cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --library=gtk \
    --suppressions-list=tests/cppcheck.supp --error-exitcode=1 -I. -D_GNU_SOURCE
}
scratch=$(cd "$scratch" && pwd)
cd "$root"
failed=0
for check in "$@"; do
  echo "== $check"
  case $check in
    gcc) build gcc gcc ;;
    clang) build clang "$clang" ;;
    tidy) run_tidy ;;
    cppcheck) run_cppcheck ;;
    *) echo "no such check: $check" >&2; exit 2 ;;
  esac || { echo "not ok - $check"; failed=1; }
done
exit $failed
