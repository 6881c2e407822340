#!/usr/bin/env python3
"""Every number of --json against the oracle's words in tests/golden, key by key.

Prints for each checkpoint the largest error as a share of its allowance. TAP."""
import json
import os
import subprocess
import sys

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ["MHAR_PROBE"]
EXTRA = sys.argv[1:]  # e.g. --device cuda --precision fp32

DEMO = ["--max-tokens", "600", "--context", "256", "--null-draws", "8", "--match-sources", "6"]
MINI = ["--max-tokens", "150", "--context", "64", "--null-draws", "4"]
CASES = {
    "demo-single": (os.path.join("..", "data", "demo", "single"), DEMO),
    "demo-mhar": (os.path.join("..", "data", "demo", "mhar"), DEMO),
    "demo-single-interleaved": (os.path.join("..", "data", "demo", "single"),
                                ["--max-tokens", "256", "--context", "256", "--null-draws", "8", "--slicing",
                                 "interleaved", "--null-norm", "slice", "--seed", "12345678901"]),
    "demo-mhar-skip": (os.path.join("..", "data", "demo", "mhar"),
                       ["--max-tokens", "300", "--context", "128", "--skip-first", "8", "--null-draws", "4"]),
    **{name: (os.path.join("fixtures", name), MINI)
       for name in sorted(os.listdir(os.path.join(TESTS, "fixtures"))) if name.startswith("mini-")
       and os.path.exists(os.path.join(TESTS, "golden", name + ".json"))},
}

# Relative error of a scalar; weights and contributions absolutely, as shares of one.
RELATIVE, ABSOLUTE = 1e-4, 1e-5
# Differences of nearly equal numbers: relative to what they are differences of.
AGAINST = {"excess": "trained", "null_sd": "null"}


def scale_of(key, want, parent):
    """What an error is a share of. The ends of an interval: of the number it is about, and of the farther end."""
    name = key.split("[")[0]
    if name.endswith("_interval") and isinstance(parent, dict):
        number = name[:-len("_interval")]
        about = parent.get(AGAINST.get(number, number), 0.0)
        return max(abs(about), *(abs(x) for x in parent[name]))
    return abs(parent[AGAINST[key]]) if key in AGAINST else abs(want)


def walk(want, got, path, parent, errors):
    """Appends (share of the allowance, path) for each number of `want`; a missing key is an infinite share."""
    if isinstance(want, dict):
        for key, value in want.items():
            if key not in got:
                errors.append((float("inf"), f"{path}/{key} is missing"))
            else:
                walk(value, got[key], f"{path}/{key}", want, errors)
    elif isinstance(want, list):
        if len(want) != len(got):
            errors.append((float("inf"), f"{path} has {len(got)} entries, not {len(want)}"))
            return
        for i, (a, b) in enumerate(zip(want, got)):
            walk(a, b, f"{path}[{i}]", parent, errors)
    elif isinstance(want, float):
        if not isinstance(got, (int, float)):
            errors.append((float("inf"), f"{path} is {got!r}"))
            return
        key = path.rsplit("/", 1)[-1]
        if "weight" in path or "contribution" in path:
            allowance = ABSOLUTE * max(1.0, abs(want))
        else:
            allowance = RELATIVE * max(scale_of(key, want, parent), 1e-6)
        errors.append((abs(want - got) / allowance, f"{path}: {got} for {want}"))
    elif want != got:
        errors.append((float("inf"), f"{path} is {got!r}, not {want!r}"))


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (name, (folder, options)) in enumerate(CASES.items(), 1):
        command = [PROGRAM, "--json", "--quiet", "--tokens", os.path.join(TESTS, "fixtures", "public-domain.u16"),
                   os.path.join(TESTS, folder), *options, *EXTRA]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        errors = []
        if run.returncode != 0:
            errors.append((float("inf"), run.stderr.strip()))
        else:
            with open(os.path.join(TESTS, "golden", name + ".json"), encoding="utf-8") as f:
                walk(json.load(f), json.loads(run.stdout)["checkpoints"][0], "", {}, errors)
        worst, where = max(errors)
        good = worst <= 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}: {len(errors)} numbers, largest error {100 * worst:.2f} % "
              f"of the allowance ({where})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
