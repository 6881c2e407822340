#!/bin/sh
# SPDX-License-Identifier: MIT
# ThreadSanitizer over what runs in threads: threads.sh BUILD. Makes a build of its own, BUILD-tsan.
# One thread of OpenMP, whose library is not built with the sanitizer; the threads are those of the devices (a plug-in stands
# in for three GPUs), of the signals and of the window's runs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
[ $# -eq 1 ] || { echo "usage: threads.sh BUILD" >&2; exit 2; }
build=$1-tsan
[ -f "$build/build.ninja" ] || meson setup "$build" "$root" -Db_sanitize=thread -Db_lundef=false -Dcuda=disabled -Dgui=disabled \
  -Doptimization=1 >/dev/null
ninja -C "$build" --quiet app/cli/mhar-probe app/reader/mhar-h5-reader tests/unit/plugins/mhar-cuda.so tests/long/run-worker \
  tests/long/glib-order.so
build=$(cd "$build" && pwd)

# Libraries are not built with the sanitizer: it would take their memory, handed on in ways it does not see, for shared.
export TSAN_OPTIONS="exitcode=99:ignore_noninstrumented_modules=1:halt_on_error=0:second_deadlock_stack=1"
export OMP_NUM_THREADS=1 MHAR_DATA_DIR="$root/data" MHAR_BACKEND_DIR="$build/tests/unit/plugins" MHAR_TEST_BREAK=none MHAR_TEST_DEVICES=3
# With its addresses spread too far apart the sanitizer does not start.
alone="setarch $(uname -m) -R"
$alone true 2>/dev/null || alone=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0 limit=

# NAME STATUS WORD...: the program ends with that status, and the sanitizer says nothing.
check() {
  name=$1 wanted=$2
  shift 2
  status=0
  $limit $alone env LD_PRELOAD="$build/tests/long/glib-order.so" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  if [ $status -eq "$wanted" ] && ! grep -q 'WARNING: ThreadSanitizer' "$scratch/err"; then
    echo "ok - $name"
  else
    echo "not ok - $name (status $status)"
    head -n 200 "$scratch/err"
    failed=1
  fi
}

# That a race is found at all, where GLib started the threads.
worker=$build/tests/long/run-worker
if $alone env LD_PRELOAD="$build/tests/long/glib-order.so" "$worker" race 2>&1 | grep -q 'ThreadSanitizer: data race'; then
  echo "ok - a race is found"
else
  echo "not ok - a race is found"
  failed=1
fi

probe=$build/app/cli/mhar-probe
mini=$root/tests/fixtures/mini-full_mh
run="--tokens $root/tests/fixtures/public-domain.u16 --context 32 --batch 2 --device cuda:all --precision fp32"
short="$run --max-tokens 700 --null-draws 2"
check 'three devices' 0 "$probe" "$mini" $short --all --reads
check 'three devices, a file' 0 "$probe" "$mini" $short --save-weights -o "$scratch/run.h5" --figure "$scratch/run.pdf"
check 'a saved run' 0 "$probe" --from "$scratch/run.h5" --figure "$scratch/again.svg"
check 'two checkpoints' 0 "$probe" "$mini" "$root/tests/fixtures/mini-full" $short
check 'interventions' 0 "$probe" "$mini" $short --ablate L1.mlp:embed --consensus
check 'saved on the way' 0 "$probe" "$mini" $short --checkpoint-every 2 -o "$scratch/parts.h5"
limit="timeout --preserve-status -s INT 3"
check 'interrupted' 130 "$probe" "$mini" $run --max-tokens 25000 --null-draws 64
limit=
mkdir "$scratch/model"
cp "$mini/config.json" "$mini/model.safetensors" "$root/data/demo/single/tokenizer.json" "$scratch/model"
check "the window's worker" 0 "$worker" "$scratch/model" cpu
check "the window's worker, three devices" 0 "$worker" "$scratch/model" cuda:all
export MHAR_TEST_BREAK=lost:400
check 'a device is lost' 1 "$probe" "$mini" $short
export MHAR_TEST_BREAK=full:40
check 'no memory' 1 "$probe" "$mini" $short
exit $failed
