#!/usr/bin/env python3
"""--compare against tests/oracle/compare.py, number by number: distances, matchings, nulls, p-values, intervals, differences. TAP."""
import json
import os
import subprocess
import sys
import tempfile

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM, EXTRA = os.environ["MHAR_PROBE"], sys.argv[1:]  # e.g. --device cuda --precision fp32
sys.path.insert(0, os.path.join(TESTS, "oracle"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

import compare  # noqa: E402
import make_checkpoint  # noqa: E402

TEXT = os.path.join(TESTS, "fixtures", "public-domain.u16")
DEMO = [os.path.join(TESTS, "..", "data", "demo", name) for name in ("mhar", "single")]
# A weight's error; a divergence is quadratic in differences of weights, so a weight's error moves it by that times its root,
# down to what two equal distributions give. A ratio is that of two such.
DIFFERENCE, DIVERGENCE, RATIO, LEAST = 2e-6, 4e-7, 2e-5, 1e-10

# name: (words that make A, words that make B, tokens, context, skip, seed)
SMALL = "--layers 3 --width 64 --vocab 4096"
CASES = {
    "four heads": (f"--mode full_mh {SMALL}", f"--mode full_mh {SMALL}", 330, 32, 0, 0),
    "eight heads": (f"--mode full_mh {SMALL} --heads-routing 8", f"--mode full_mh {SMALL} --heads-routing 8", 200, 16, 0, 12345678901),
    "sixteen heads": (f"--mode full_mh {SMALL} --heads-routing 16", f"--mode full_mh {SMALL} --heads-routing 16", 150, 16, 0, 3),
    "one head": (f"--mode full {SMALL}", f"--mode full {SMALL}", 330, 32, 0, 0),
    "whole rows and heads": (f"--mode full_hw {SMALL} --heads-routing 2", f"--mode full_hw {SMALL} --heads-routing 2", 330, 32, 3, 0),
    "other numbers of heads": (f"--mode full_mh {SMALL}", f"--mode full_mh {SMALL} --heads-routing 2", 330, 32, 0, 0),
    "nulls among the sources": (f"--mode delta_mh {SMALL} --blocks 3", f"--mode delta_mh {SMALL} --blocks 3", 200, 20, 0, 0),
    "blocks": (f"--mode block {SMALL}", f"--mode block {SMALL}", 200, 20, 0, 0),
    "one window": (f"--mode full_mh {SMALL}", f"--mode full_mh {SMALL}", 60, 60, 0, 0),
    "three windows": (f"--mode full_mh {SMALL}", f"--mode full_mh {SMALL}", 150, 64, 0, 0),
    "700 windows": (f"--mode full_mh {SMALL}", f"--mode full_mh {SMALL}", 2800, 4, 0, 0),
    "itself": (f"--mode full_mh {SMALL}", None, 200, 20, 0, 0),
    "the demo's": (DEMO[0], DEMO[1], 600, 64, 0, 0),
}


def make(words, folder, seed):
    if os.path.isdir(words):
        return words
    sys.argv = ["make_checkpoint.py", folder, *words.split(), "--seed", str(seed)]
    make_checkpoint.main()
    return folder


def walk(want, got, path, out):
    """Appends (share of the allowance, path) of every number; a key that one of them lacks is an infinite share."""
    if isinstance(want, dict):
        ours = set(got) - {"label", "a", "b"}
        out += [(float("inf"), f"{path}/{key} is in one only") for key in ours ^ set(want)]
        for key in ours & set(want):
            walk(want[key], got[key], f"{path}/{key}", out)
    elif isinstance(want, list):
        if len(want) != len(got):
            out.append((float("inf"), f"{path} has {len(got)} entries, not {len(want)}"))
        for i, (a, b) in enumerate(zip(want, got)):
            walk(a, b, f"{path}[{i}]", out)
    elif isinstance(want, float) and isinstance(got, float):
        if "difference" in path:
            limit = DIFFERENCE
        else:
            limit = LEAST + (RATIO * abs(want) if "ratio" in path else DIVERGENCE * abs(want) ** 0.5)
        out.append((abs(want - got) / limit, f"{path}: {got} for {want}"))
    elif want != got:
        out.append((float("inf"), f"{path} is {got!r}, not {want!r}"))


def check(a, b, tokens, context, skip, seed, scratch):
    folders = [make(a, os.path.join(scratch, "a"), 1)]
    folders.append(make(b, os.path.join(scratch, "b"), 2) if b else folders[0])
    ids = np.fromfile(TEXT, "<u2").astype(int)
    want = compare.report(folders, ids, context, tokens, seed, skip)
    run = subprocess.run([PROGRAM, "--compare", *folders, "--depth-maps", "--null-draws", "0", "--json", "--quiet", "--tokens", TEXT,
                          "--max-tokens", str(tokens), "--context", str(context), "--skip-first", str(skip), "--seed", str(seed),
                          *EXTRA], capture_output=True, text=True, check=False)
    if run.returncode:
        return [(float("inf"), run.stderr.strip())]
    out = []
    walk(want, json.loads(run.stdout)["compare"], "", out)
    return out


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (name, case) in enumerate(CASES.items(), 1):
        with tempfile.TemporaryDirectory() as scratch:
            errors = check(*case, scratch)
        worst, where = max(errors)
        failed += not worst <= 1
        print(f"{'ok' if worst <= 1 else 'not ok'} {number} - {name}: {len(errors)} numbers, largest error {worst:.2%} of the "
              f"allowance ({where})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
