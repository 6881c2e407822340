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
build() {
  [ -f "$scratch/$1/build.ninja" ] || CC=$1 meson setup "$scratch/$1" "$root" -Dcuda=disabled -Dwerror=true -Dwarning_level=3 \
    -Db_lundef=false >/dev/null
  ninja -C "$scratch/$1" --quiet
}
sources() { (cd "$root" && git ls-files 'core/*.c' 'kernels/cpu/*.c' 'probes/*.c' 'app/*.c'); }
for check in "$@"; do
  echo "== $check"
  case $check in
    gcc | clang) build "$check" ;;
    tidy) build clang; (cd "$root" && sources | xargs -n 8 clang-tidy -p "$scratch/clang" --quiet) 2>/dev/null ;;
    cppcheck) (cd "$root" && sources | xargs cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr \
      --library=gtk --suppressions-list=tests/cppcheck.supp --error-exitcode=1 -I. -D_GNU_SOURCE) ;;
    *) echo "no such check: $check" >&2; exit 2 ;;
  esac
done
