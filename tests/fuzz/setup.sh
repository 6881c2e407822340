#!/bin/sh
# SPDX-License-Identifier: MIT
# The build folder of the fuzz targets, where it is not there: setup.sh BUILD.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$1/build.ninja" ] || CC=${CC:-clang} meson setup "$1" "$here/../.." -Dfuzz=true -Db_lundef=false \
  -Dcuda=disabled -Dgui=disabled -Doptimization=1 >/dev/null
