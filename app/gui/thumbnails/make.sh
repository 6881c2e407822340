#!/bin/sh
# make.sh BUILD: the pictures of the start page, cut out of figures of the demo checkpoints.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
saved=$(mktemp -d)
trap 'rm -rf "$saved"' EXIT
demo=../../../data/demo
probe() { "$build/app/cli/mhar-probe" --quiet --device cpu "$@" >/dev/null; }
for model in mhar single; do
  probe --max-tokens 4096 -o "$saved/$model.h5" "$demo/$model"
  for theme in light dark; do
    kind=deviation cut=556x266+716+56
    [ "$model" = mhar ] || { kind=kl; cut=1372x520+120+106; }
    probe --from "$saved/$model.h5" --figure-kind $kind --first-sites 0 --theme $theme --figure "$saved/$model.png"
    suffix=
    [ $theme = light ] || suffix=-dark
    convert "$saved/$model.png" -crop $cut +repage -resize 564x300 -strip "$model$suffix.png"
  done
done
