#!/bin/sh
# make.sh BUILD: the pictures of the README and of this folder, made by the program itself on the demo checkpoints
# (and in 255 colours, which takes half the room).
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
probe() { "$build/app/cli/mhar-probe" --quiet --device cpu "$@"; }
saved=$(mktemp -d)
trap 'rm -rf "$saved"' EXIT
demo=../data/demo
probe --max-tokens 8192 -o "$saved/mhar.h5" "$demo/mhar" >/dev/null
probe --max-tokens 8192 -o "$saved/single.h5" "$demo/single" >/dev/null
figure() {
  from=$1 kind=$2 name=$3
  shift 3
  "$build/app/cli/mhar-probe" --quiet --from "$saved/$from.h5" --figure-kind "$kind" --figure "$name.png" "$@" >/dev/null
  convert "$name.png" +dither -colors 255 -define png:compression-level=9 "PNG8:$name.png"
}
figure mhar deviation deviation
figure mhar deviation deviation-dark --theme dark
figure mhar depth-map depth-map --first-sites 0
figure mhar kl head-disagreement
figure single kl slice-disagreement
figure single collinearity collinearity
ls *.png
