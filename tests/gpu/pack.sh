#!/bin/sh
# pack.sh BUILD OUT: copies the programs of a build, the plug-in, and the shared libraries that they need and a plain CUDA machine
# lacks into OUT, to be run elsewhere by tests/gpu/run.sh. OpenBLAS, CUDA and the C library are expected there.
set -eu
build=$1 out=$2
rm -rf "$out"
for file in app/cli/mhar-probe app/reader/mhar-h5-reader kernels/cuda/mhar-cuda.so tests/gpu/test-ops tests/gpu/test-model tests/unit/edited-logits \
            tests/bench/bench-forward tests/bench/bench-route; do
  [ -e "$build/$file" ] || continue
  mkdir -p "$out/$(dirname "$file")"
  cp "$build/$file" "$out/$file"
  case $file in *.so) ;; *) strip "$out/$file" ;; esac
done
mkdir -p "$out/lib"
for program in $(find "$out" -type f ! -name '*.so'); do ldd "$program"; done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libresolv|libdl|libpthread|librt|libgcc_s|libstdc\+\+|libgfortran|libquadmath|libopenblas|libcu[a-zA-Z]*|ld-linux[^/]*)[.-]' |
  while read -r library; do cp -L "$library" "$out/lib/"; done
du -sh "$out" | cut -f1
