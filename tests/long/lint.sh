#!/bin/sh
# SPDX-License-Identifier: MIT
# Compilers and checkers over the sources: lint.sh BUILD. They build beside it, in BUILD-lint.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: lint.sh BUILD" >&2; exit 2; }
command -v cppcheck >/dev/null && { command -v clang-tidy || command -v clang-tidy-14; } >/dev/null || { echo "there is no cppcheck or no clang-tidy"; exit 77; }
exec "$here/../lint.sh" "$1-lint"
