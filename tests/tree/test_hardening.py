#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs as the linker left them: position-independent, relocations read-only from the start, no stack that can be run,
guards on stacks, checked string calls where the build is optimised. TAP."""
import os
import re
import subprocess
import sys

READER = os.path.join(os.environ["MHAR_BUILD"], "app/reader/mhar-h5-reader")
PROGRAMS = [os.environ["MHAR_PROBE"], READER, *sys.argv[1:]]


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True, check=True).stdout


def checks(path):
    headers, segments, dynamic, symbols = (readelf(o, path) for o in ("-h", "-l", "-d", "--dyn-syms"))
    stack = re.search(r"GNU_STACK.*", segments)
    yield "position-independent", "DYN" in re.search(r"Type:.*", headers)[0]
    yield "relocations read-only", "GNU_RELRO" in segments and ("BIND_NOW" in dynamic or " NOW" in dynamic)
    yield "no stack that can be run", stack is not None and "E" not in stack[0].split()[-2]
    yield "no library search path but the build's own", "(RPATH)" not in dynamic
    yield "stack guards", "__stack_chk_fail" in symbols
    # The reader calls nothing that could be checked.
    if "__asan_init" not in symbols and os.environ.get("MHAR_FORTIFIED") == "1" and path != READER:
        yield "checked string calls", re.search(r"__\w+_chk@", symbols.replace("__stack_chk", "")) is not None


def main():
    results = [(f"{os.path.basename(p)}: {name}", good) for p in PROGRAMS if os.path.exists(p) for name, good in checks(p)]
    print(f"1..{len(results)}")
    for i, (name, good) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {i} - {name}")
    return not all(good for _, good in results)


sys.exit(main())
