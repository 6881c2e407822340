#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes with libFuzzer: run.sh BUILD [target …] [seconds]. Needs clang with its sanitizer libraries (Debian: clang,
# libclang-rt-14-dev). BUILD is made where it is not there. What is found goes on growing in BUILD/fuzz/TARGET, so that a
# later run continues an earlier one; crashes land in BUILD/fuzz/crash-TARGET-…. What each
# run spent is added to BUILD/fuzz/cpu-seconds. One target at a time; default: all, 60 s.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh BUILD [target ...] [seconds]" >&2; exit 2; }
build=$1
shift
targets= seconds=60
for word in "$@"; do
  case $word in
    *[!0-9]*) targets="$targets $word" ;;
    *) seconds=$word ;;
  esac
done
[ -n "$targets" ] || targets=$(cd "$here" && ls fuzz-*.c | sed 's/^fuzz-//; s/\.c$//')
"$here/setup.sh" "$build"
build=$(cd "$build" && pwd)
mkdir -p "$build/fuzz/seeds"
/usr/bin/python3 "$here/make-seeds.py" "$build/fuzz/seeds"
asan=detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=1024:handle_abort=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=print_suppressions=0:suppressions="$here/../lsan.supp"
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
status=0
for target in $targets; do
  ninja -C "$build" --quiet "tests/fuzz/fuzz-$target" >/dev/null
  mkdir -p "$build/fuzz/$target"
  known=
  [ -d "$here/corpus/$target" ] && known="$here/corpus/$target"
  words=
  [ -f "$here/$target.dict" ] && words="-dict=$here/$target.dict"
  # HDF5 crashes within seconds: each run is a process of its own, and it goes on.
  length=16384 apart=
  export ASAN_OPTIONS="$asan"
  if [ "$target" = h5 ]; then
    length=32768 apart="-fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1"
    rm -f "$build"/fuzz/said-h5.*
    ASAN_OPTIONS="$asan:log_path=$build/fuzz/said-h5"
  fi
  echo "== $target, $seconds s"
  # shellcheck disable=SC2086
  nice -n "${NICE:-19}" /usr/bin/python3 "$here/cpu-time.py" "$build/fuzz/cpu-seconds" "$target" "$build/tests/fuzz/fuzz-$target" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 \
    -malloc_limit_mb=1100 -max_len="$length" -print_final_stats=1 -artifact_prefix="$build/fuzz/crash-$target-" $apart $words \
    "$build/fuzz/$target" "$build/fuzz/seeds/$target" $known >"$build/fuzz/$target.log" 2>&1 || status=1
  grep -E '^(stat::|SUMMARY|==.*ERROR)' "$build/fuzz/$target.log" || tail -3 "$build/fuzz/$target.log"
  [ "$target" != h5 ] || awk -f "$here/whose-crashes.awk" "$build"/fuzz/said-h5.* /dev/null || status=1
done
exit $status
