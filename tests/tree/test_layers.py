#!/usr/bin/env python3
"""The tree keeps its promises: includes go only downward, names are unique, kernels know no GLib, every header stands alone. TAP."""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
RANK = {"kernels": 0, "core": 1, "probes": 2, "app/figure": 3, "app/cli": 4, "app/gui": 4, "app/reader": 4}


def layer(path):
    for name in sorted(RANK, key=len, reverse=True):
        if path.startswith(name + "/"):
            return name
    return None


def sources(*endings):
    for top in ("app", "core", "kernels", "probes"):
        for folder, _, files in os.walk(os.path.join(ROOT, top)):
            for name in files:
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def includes(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.findall(r'^#include [<"]([^>"]+)[>"]', f.read(), re.M)


def wrong_includes():
    for path in sources(".c", ".h", ".cu", ".cuh"):
        own = layer(path)
        for target in includes(path):
            other = layer(target)
            if other and (RANK[other] > RANK[own] or (RANK[other] == RANK[own] and other != own)):
                yield f"{path} includes {target}"
            if own == "kernels" and re.match(r"g(lib|io|module|object)", target):
                yield f"{path} includes {target}: kernels know no GLib"


def repeated_names():
    seen = {}
    for path in sources(".c", ".h"):
        name = os.path.basename(path)
        if path.startswith("kernels/"):
            continue  # CPU and CUDA are file for file the same
        if name in seen:
            yield f"{path} and {seen[name]}"
        seen[name] = path


def headers_alone():
    flags = subprocess.run(["pkg-config", "--cflags", "glib-2.0", "gio-unix-2.0", "cairo", "pangocairo", "hdf5", "jansson",
                            "openblas"], capture_output=True, text=True, check=True).stdout.split()
    for path in sources(".h"):
        if path.startswith("app/gui/"):
            continue
        for language, standard in (("c", "gnu17"), ("c++", "c++17")):
            if language == "c++" and path != "kernels/ops.h":
                continue
            run = subprocess.run(["gcc", "-x", language, f"-std={standard}", "-D_GNU_SOURCE", "-fsyntax-only", "-fopenmp-simd", "-Wall", "-Werror",
                                  "-I", ROOT, *flags, "-include", os.path.join(ROOT, path), "-"], input="", text=True,
                                 capture_output=True, check=False)
            if run.returncode != 0:
                yield f"{path} ({language}): {run.stderr.splitlines()[0]}"


def fast_math():
    for folder, _, files in os.walk(ROOT):
        if ".git" in folder or "/build" in folder:
            continue
        for name in files:
            if name == "meson.build" or name == "Makefile":
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    text = f.read()
                if "-ffast-math" in text or "--use_fast_math" in text:
                    yield os.path.join(folder, name)


def main():
    checks = [("includes go only downward", wrong_includes), ("file names are unique", repeated_names),
              ("every header stands alone", headers_alone), ("no fast-math", fast_math)]
    failed = 0
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        faults = list(check())
        for fault in faults:
            print(f"# {fault}")
        print(f"{'not ok' if faults else 'ok'} {number} - {name}")
        failed += bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
