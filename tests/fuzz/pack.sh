#!/bin/sh
# SPDX-License-Identifier: MIT
# Packs the fuzz targets for another machine, which needs neither clang nor our libraries, only a C library as new as
# this one's: pack.sh BUILD DIR. BUILD is as run.sh makes it (made where it is not there); what was found there so far
# goes along. There: DIR/run-many.sh DIR JOBS SECONDS OUT. `tar -cJf fuzz.tar.xz DIR` takes some 10 MB.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || { echo "usage: pack.sh BUILD DIR" >&2; exit 2; }
build=$1
to=$2
[ ! -e "$to" ] || { echo "pack.sh: $to is there already; name a new folder" >&2; exit 2; }
"$here/setup.sh" "$build"
build=$(cd "$build" && pwd)
targets=$(cd "$here" && ls fuzz-*.c | sed 's/^fuzz-//; s/\.c$//')
mkdir -p "$to/lib" "$to/bin" "$to/corpus" "$to/tests" "$to/data/demo/single"
to=$(cd "$to" && pwd)
/usr/bin/python3 "$here/make-seeds.py" "$to/corpus"
for target in $targets; do
  ninja -C "$build" --quiet "tests/fuzz/fuzz-$target" >/dev/null
  strip -g -o "$to/bin/fuzz-$target" "$build/tests/fuzz/fuzz-$target"
  for known in "$here/corpus/$target" "$build/fuzz/$target"; do
    [ ! -d "$known" ] || find "$known" -type f -exec cp -n -t "$to/corpus/$target" {} +
  done
  # The C library is the other machine's own.
  ldd "$build/tests/fuzz/fuzz-$target" | awk '$2 == "=>" && $1 !~ /^(libc|libm|libdl|librt|libpthread|libresolv)\.so/ { print $3 }'
done | sort -u | while read -r library; do
  cp -L "$library" "$to/lib/"
done
chmod u+w "$to"/lib/*
strip -g "$to"/lib/*
cp "$here/run-many.sh" "$here/whose-crashes.awk" "$to/"
cp "$here/../lsan.supp" "$to/tests/"
cp "$here/../../data/demo/single/tokenizer.json" "$to/data/demo/single/" # fuzz-text opens it
du -sh "$to"
