#!/bin/sh
# run.sh BUILD [STAGE…]: every GPU test and benchmark of a build on this machine, and a short table at the end. Needs the build (or what
# pack.sh made of it), its libraries, CUDA and cuBLAS. Exit 77 where there is no GPU, 1 where a test fails.
#
# Stages: ops model golden interventions sanitizer route forward two (all but `two` when none is named; `two` needs two GPUs).
# Logs go to $LOGS (BUILD/gpu-logs). The model tests read the fixtures beside this script.
set -uf
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- ops model golden interventions sanitizer route forward
tests=$(cd "$here/.." && pwd)
logs=${LOGS:-$build/gpu-logs}
mkdir -p "$logs"
export MHAR_BACKEND_DIR="$build/kernels/cuda" MHAR_TEST_BACKEND="$build/kernels/cuda/mhar-cuda.so" MHAR_TEST_DATA="$tests"
export MHAR_DATA_DIR="$tests/../data" MHAR_PROBE="$build/app/cli/mhar-probe"
[ -d "$build/lib" ] && export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

"$MHAR_PROBE" --devices | tee "$logs/devices.txt"
if ! grep -q '^cuda:0' "$logs/devices.txt"; then
  echo "skipped: no usable GPU"
  exit 77
fi

status=0
table=""
note() { table="$table$1
"; }

# tap NAME COMMAND…: runs a TAP program, keeps its log, notes how many passed, and shows what failed.
tap() {
  name=$1
  shift
  "$@" >"$logs/$name.log" 2>&1
  code=$?
  passed=$(grep -c '^ok ' "$logs/$name.log")
  failed=$(grep -c '^not ok ' "$logs/$name.log")
  grep -E '^not ok |^Bail out' "$logs/$name.log" | head -n "${SHOW:-12}"
  if [ $code -ne 0 ] || [ "$failed" -ne 0 ] || [ "$passed" -eq 0 ]; then
    status=1
    [ "$failed" -ne 0 ] || tail -n 5 "$logs/$name.log"
  fi
  note "$(printf '%-10s %4d passed, %d failed, exit %d' "$name" "$passed" "$failed" "$code")"
}

for stage in "$@"; do
  case $stage in
  ops) tap ops "$build/tests/gpu/test-ops" ;;
  model) tap model "$build/tests/gpu/test-model" cuda "$tests" ;;
  golden)
    if command -v python3 >/dev/null; then
      tap golden python3 "$tests/numeric/test_golden.py" --device cuda --precision fp32
      if python3 -c 'import numpy' 2>/dev/null; then
        for one in uncertainty reads compare; do
          tap $one python3 "$tests/numeric/test_$one.py" --device cuda --precision fp32
        done
      else
        note "uncertainty, reads, compare skipped: no numpy"
      fi
    else
      note "golden     skipped: no python3"
    fi
    ;;
  interventions)
    if command -v python3 >/dev/null && python3 -c 'import numpy' 2>/dev/null; then
      tap interventions python3 "$tests/numeric/test_interventions.py" "$build/tests/unit/edited-logits" --device cuda --precision fp32
    else
      note "interventions skipped: no python3 with numpy"
    fi
    ;;
  two) tap two "$build/tests/gpu/test-model" cuda:all "$tests" ;;
  sanitizer)
    for tool in memcheck racecheck; do
      for fixture in mini-full mini-full_mh; do
        edits="--ablate=*:embedding --top-k=2 --null-query"
        [ $fixture = mini-full ] || edits="$edits --consensus --swap-heads=0-1"
        for precision in fp32 bf16; do
          log="$logs/$tool-$fixture-$precision.log"
          compute-sanitizer --tool $tool --error-exitcode 9 "$MHAR_PROBE" --device cuda --precision $precision --context 48 \
            --max-tokens 131 --null-draws 5 --match-sources 3 --all $edits --tokens "$tests/fixtures/public-domain.u16" "$tests/fixtures/$fixture" >"$log" 2>&1
          code=$?
          [ $code -eq 0 ] || { status=1; grep -E '=====' "$log" | head -n 8; }
          note "$(printf '%-10s %s %s exit %d' $tool $fixture $precision $code)"
        done
      done
    done
    ;;
  route) "$build/tests/bench/bench-route" | tee "$logs/route.txt" || status=1 ;;
  forward)
    scratch=$(mktemp -d)
    "$build/tests/bench/bench-forward" cuda "$scratch" ${SHAPES:-100M 350M 1B} | tee "$logs/forward.txt" || status=1
    rm -rf "$scratch"
    ;;
  *) echo "run.sh: no stage “$stage”"; exit 2 ;;
  esac
done
printf '\n%s' "$table"
exit $status
