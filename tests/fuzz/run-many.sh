#!/bin/sh
# SPDX-License-Identifier: MIT
# Every fuzz target of a packed folder (pack.sh) at once: run-many.sh DIR JOBS SECONDS OUT, with JOBS processes for
# SECONDS; where JOBS are fewer than targets, one batch after another for SECONDS each. What is over goes to the
# heaviest targets. The processes of one target share what they find. Leaves in OUT
#   cpu-seconds         TARGET SECONDS, as run.sh has it
#   crashes/            inputs, and the ends of the logs (addresses only: `run.sh` or replay-TARGET at home names functions)
#   new/TARGET.tar.gz   what reaches code that nothing before did; under 4 MB each
#   said                what was printed here
# and goes on from what an earlier run left in the same OUT. Putting the inputs in order takes up to a minute more.
# Exit 1 where anything crashed outside HDF5.
set -eu
[ $# -eq 4 ] || { echo "usage: run-many.sh DIR JOBS SECONDS OUT" >&2; exit 2; }
dir=$(cd "$1" && pwd)
jobs=$2
seconds=$3
mkdir -p "$4/crashes" "$4/new"
out=$(cd "$4" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
heaviest="h5 checkpoint tokenizer torch text pattern pickle safetensors"

export LD_LIBRARY_PATH="$dir/lib" MHAR_TEST_DATA="$dir/tests" OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
options=allocator_may_return_null=1:max_allocation_size_mb=1024:handle_abort=1:symbolize=0
export ASAN_OPTIONS=detect_leaks=1:$options UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=print_suppressions=0:suppressions="$dir/tests/lsan.supp"

say() {
  echo "$@" | tee -a "$out/said"
}

# A program that does nothing, 20 times: ASan of clang 14 does not start where the system places memory too randomly, and
# finds no leaks where it may not trace itself.
starts() {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    "$@" "$dir/bin/fuzz-index" -runs=0 "$dir/corpus/index" >"$work/starts" 2>&1 || return 1
  done
}

run=
if ! starts; then
  if starts setarch -R; then
    run="setarch -R"
  else
    ASAN_OPTIONS=detect_leaks=0:$options
    if starts; then say "leaks cannot be looked for here"
    elif starts setarch -R; then
      run="setarch -R"
      say "leaks cannot be looked for here"
    else
      tail -5 "$work/starts"
      say "the programs do not always start here; they are tried again"
    fi
  fi
fi

flags() {
  length=16384
  [ "$1" = h5 ] && length=32768
  echo "-timeout=25 -rss_limit_mb=2048 -malloc_limit_mb=1100 -max_len=$length"
}

# worker TARGET NUMBER FORK: runs it again after a crash, until the time is over.
worker() {
  target=$1
  name=$1-$2
  first=$(date +%s)
  end=$((first + seconds))
  apart= short=0
  if [ "$target" = h5 ]; then
    apart="-fork=$3 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1"
    ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$work/said-h5"
  fi
  while left=$((end - $(date +%s))) && [ "$left" -gt 0 ] && [ "$short" -lt 50 ]; do
    began=$(date +%s)
    # shellcheck disable=SC2046,SC2086
    if ! $run "$dir/bin/fuzz-$target" -max_total_time="$left" $(flags "$target") $apart -print_final_stats=1 \
      -artifact_prefix="$out/crashes/$target-" "$work/$target" >"$work/$name.log" 2>&1; then
      [ "$target" = h5 ] || tail -n 80 "$work/$name.log" >"$out/crashes/$name-$began.log"
      # Not even started: no finding.
      [ $(($(date +%s) - began)) -gt 2 ] || short=$((short + 1))
    fi
  done
  times >"$work/$name.times" # not into a pipe, whose shell would tell its own
  # Some sandboxes do not tell the time of children: then the time that went by, where each process has a processor.
  awk -v target="$target" -v by="$(($(date +%s) - first))" 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); s += 60 * t[1] + t[2] }
    if (s == 0) s = by
    printf "%s %.0f\n", target, s }' "$work/$name.times" >>"$out/cpu-seconds"
}

# batch: reads lines "TARGET COUNT" and runs them all.
batch() {
  pids=
  while read -r target count; do
    if [ ! -d "$work/$target" ]; then
      cp -r "$dir/corpus/$target" "$work/$target"
      [ ! -f "$out/new/$target.tar.gz" ] || tar -xzf "$out/new/$target.tar.gz" -C "$work/$target"
    fi
    if [ "$target" = h5 ]; then
      worker h5 0 "$count" &
      pids="$pids $!"
      continue
    fi
    i=0
    while [ "$i" -lt "$count" ]; do
      worker "$target" "$i" 1 &
      pids="$pids $!"
      i=$((i + 1))
    done
  done
  # shellcheck disable=SC2086
  [ -z "$pids" ] || wait $pids
}

# keep TARGET: what is worth keeping of all that was found, less what was there before.
keep() {
  target=$1
  mkdir "$work/least-$target" "$work/new-$target"
  cp "$dir/corpus/$target"/* "$work/least-$target/"
  # shellcheck disable=SC2046
  $run "$dir/bin/fuzz-$target" -merge=1 -max_total_time=60 $(flags "$target") "$work/least-$target" "$work/$target" \
    -artifact_prefix="$work/" >"$work/merge-$target.log" 2>&1 || say "$target: what was found could not be merged in full"
  (cd "$work/least-$target" && for f in *; do [ -e "$dir/corpus/$target/$f" ] || cp "$f" "$work/new-$target/"; done)
  n=$(ls "$work/new-$target" | wc -l)
  # The shortest first, as many as fit.
  while (cd "$work/new-$target" && ls -rS | head -n "$n" | tar -czf "$out/new/$target.tar.gz" -T -) &&
    [ "$(wc -c <"$out/new/$target.tar.gz")" -gt 4000000 ]; do
    n=$((n * 3 / 4))
  done
  say "$target: $n new inputs kept"
}

targets=$(cd "$dir/bin" && ls fuzz-* | sed 's/^fuzz-//')
[ -f "$out/cpu-seconds" ] || : >"$out/cpu-seconds"
set -- $targets
slots=$(echo "$targets"; left=$((jobs - $#)); while [ "$left" -gt 0 ]; do
  for target in $heaviest; do [ "$left" -gt 0 ] && echo "$target"; left=$((left - 1)); done; done)
total=$(echo "$slots" | wc -l)
first=1
while [ "$first" -le "$total" ]; do
  echo "$slots" | tail -n +"$first" | head -n "$jobs" | sort | uniq -c | awk '{ print $2, $1 }' >"$work/batch"
  batch <"$work/batch"
  first=$((first + jobs))
done
[ "$jobs" -ge 1 ]
running=0
for target in $targets; do
  keep "$target" &
  running=$((running + 1))
  [ $((running % jobs)) -ne 0 ] || wait
done
wait
awk '{ spent[$1] += $2 } END { for (t in spent) print t, spent[t], "s of processor time" }' "$out/cpu-seconds" | sort | tee -a "$out/said"
status=0
say "h5: $(awk -f "$dir/whose-crashes.awk" /dev/null "$work"/said-h5.* 2>/dev/null | tail -1)"
cat "$work"/said-h5.* 2>/dev/null | head -c 2000000 >"$out/crashes/h5.log" || true
others=$(find "$out/crashes" -type f ! -name 'h5-*' ! -name 'h5.log' ! -name '*slow-unit*' | wc -l)
say "$others files of crashes in other targets"
[ "$others" -eq 0 ] || status=1
exit $status
