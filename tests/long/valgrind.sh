#!/bin/sh
# SPDX-License-Identifier: MIT
# Memcheck over short runs of the command line: valgrind.sh BUILD. No error, and nothing definitely lost, in any process.
# valgrind.supp lists what libraries are forgiven.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
[ $# -eq 1 ] || { echo "usage: valgrind.sh BUILD" >&2; exit 2; }
probe=$(cd "$1" && pwd)/app/cli/mhar-probe
command -v valgrind >/dev/null || { echo "there is no valgrind"; exit 77; }
! ldd "$probe" | grep -q -e libasan -e libtsan || { echo "valgrind does not run a program built with sanitizers"; exit 77; }

# Kernels of OpenBLAS that valgrind knows; one thread, since waiting ones spin.
export OPENBLAS_CORETYPE=Haswell OMP_NUM_THREADS=1 G_SLICE=always-malloc G_DEBUG=gc-friendly MHAR_DATA_DIR="$root/data"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# What valgrind says of a system call that it does not know: seccomp, without which the reader goes on.
unknown='unhandled amd64-linux syscall: 317|You may be able to write your own handler|Read the file README_MISSING|Nevertheless we consider|it at http'
# The program and the readers it starts, in files of their own: a reader's standard error goes nowhere.
check() {
  name=$1
  shift
  rm -f "$scratch"/log.*
  if valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
      --num-callers=40 --trace-children=yes --suppressions="$here/valgrind.supp" --log-file="$scratch/log.%p" \
      "$probe" "$@" >"$scratch/out" 2>"$scratch/err" && ! cat "$scratch"/log.* | grep -vE "^--[0-9]+-- .*($unknown)" | grep -q .; then
    echo "ok - $name"
  else
    echo "not ok - $name"
    head -c 2000 "$scratch/err"
    head -n 400 "$scratch"/log.*
    failed=1
  fi
}

text="--tokens $root/tests/fixtures/public-domain.u16 --max-tokens 48 --context 32 --device cpu"
run="$text --null-draws 2"
mini=$root/tests/fixtures/mini-full_mh
check info "$root/data/demo/single" --info
check sites "$mini" --sites
check 'run, text' "$root/data/demo/single" --prompt 'The quick brown fox' --null-draws 1 --device cpu
check 'run, file and figure' "$mini" $run --kl -o "$scratch/run.h5" --figure "$scratch/run.svg"
check 'run, JSON' "$root/tests/fixtures/mini-full" $run --json
check 'run, weights and reads' "$mini" $run --all --reads --save-weights -o "$scratch/weights.h5" --figure "$scratch/weights.pdf"
check 'intervention' "$mini" $run --ablate L1.mlp:embed
check 'saved run' --from "$scratch/run.h5" --json
check 'saved run, figure' --from "$scratch/weights.h5" --figure "$scratch/again.png"
check 'queries alone' "$mini" --weights-only
check 'reference' "$mini" $text --save-reference "$scratch/reference.safetensors"
check 'verify' "$mini" --verify "$scratch/reference.safetensors" --device cpu
exit $failed
