#!/usr/bin/env python3
"""Intervals, p-values, controls and spreads of --json against the oracle's report, of every fixture: the same resamples, the same
draws, so every number. TAP."""
import json
import os
import subprocess
import sys

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ["MHAR_PROBE"]
EXTRA = sys.argv[1:]  # e.g. --device cuda --precision fp32
sys.path.insert(0, os.path.join(TESTS, "numeric"))
from test_golden import CASES, walk  # noqa: E402

TEXT = os.path.join(TESTS, "fixtures", "public-domain.u16")
LONG = os.environ.get("MHAR_TEST_LONG") == "1"  # make test-long: every mode under every control
MINI = ["--max-tokens", "330", "--context", "32", "--null-draws", "5", "--seed", "12345678901"]


def cases():
    """(name, folder, options)"""
    for name, (folder, options) in CASES.items():
        yield name, folder, options
    mini = [name for name in CASES if name.startswith("mini-")]
    for name in mini if LONG else mini[1::2]:
        yield f"{name}, eleven windows", CASES[name][0], MINI
    routed = [name for name in mini if name not in ("mini-baseline", "mini-hyper", "mini-llama")]
    for name in routed if LONG else routed[::3]:
        yield f"{name}, controls", CASES[name][0], [*MINI, "--slices", "4,2,8", "--slicing", "interleaved,contiguous",
                                                   "--null-kind", "shuffled,random"]
        yield f"{name}, swapped", CASES[name][0], [*MINI, "--null-kind", "swapped", "--null-norm", "slice"]
    for name in ("mini-full_mh", "mini-full")[:2 if LONG else 1]:
        yield f"{name}, shuffled by slices", CASES[name][0], [*MINI, "--null-kind", "shuffled,swapped", "--null-norm", "slice",
                                                              "--slicing", "interleaved"]
        yield f"{name}, both norms", CASES[name][0], [*MINI, "--null-kind", "shuffled,random", "--null-norm", "query,slice", "--slices",
                                                      "2,4"]
        yield f"{name}, both norms, slices first", CASES[name][0], [*MINI, "--null-norm", "slice,query", "--slicing", "interleaved"]
        # more windows than entries: 700 of 4 ids
        yield f"{name}, 700 windows", CASES[name][0], ["--max-tokens", "2800", "--context", "4", "--null-draws", "2"]
        yield f"{name}, no draws", CASES[name][0], ["--max-tokens", "150", "--context", "64", "--null-draws", "0", "--slices", "2,4"]
        yield f"{name}, one window", CASES[name][0], ["--max-tokens", "60", "--null-draws", "3"]


def keys(value, where=""):
    """Every place of a report but the labels, and the warnings."""
    if isinstance(value, dict):
        return {k for key in value for k in keys(value[key], f"{where}/{key}")}
    if isinstance(value, list):
        return {k for i, item in enumerate(value) for k in keys(item, f"{where}[{i}]")} | {where}
    return {where}


def outside(value, where=""):
    """Every number that its own interval does not hold."""
    if isinstance(value, list):
        return [x for i, item in enumerate(value) for x in outside(item, f"{where}[{i}]")]
    if not isinstance(value, dict):
        return []
    found = [f"{where}/{key}" for key, ends in value.items() if key.endswith("_interval") and ends
             and value.get(key[:-len("_interval")]) is not None and not ends[0] <= value[key[:-len("_interval")]] <= ends[1]]
    return found + [x for key, item in value.items() for x in outside(item, f"{where}/{key}")]


OURS = ("_interval", "p_value", "bootstrap", "controls", "_sd")


def run(folder, options):
    folder = os.path.join(TESTS, folder)
    oracle = subprocess.run([sys.executable, os.path.join(TESTS, "oracle", "mhar_oracle.py"), "probe", folder, "--tokens-file", TEXT,
                             *options], capture_output=True, text=True, check=True)
    answer = subprocess.run([PROGRAM, "--json", "--quiet", "--tokens", TEXT, folder, *options, *EXTRA], capture_output=True,
                            text=True, check=False)
    if answer.returncode != 0:
        return [(float("inf"), answer.stderr.strip())]
    want, got = json.loads(oracle.stdout), json.loads(answer.stdout)["checkpoints"][0]
    errors = []
    walk(want, got, "", {}, errors)
    # nothing that the oracle knows of is invented either: an interval of one window, say
    more = {k for k in keys(got) - keys(want) if any(word in k for word in OURS)}
    errors += [(float("inf"), f"{k} is not in the oracle's report") for k in more]
    errors += [(float("inf"), f"{k} is outside of its interval") for k in outside(got)]
    return errors


def main():
    every = list(cases())
    failed = 0
    print(f"1..{len(every)}")
    for number, (name, folder, options) in enumerate(every, 1):
        errors = run(folder, options)
        worst, where = max(errors)
        failed += worst > 1
        print(f"{'ok' if worst <= 1 else 'not ok'} {number} - {name}: {len(errors)} numbers, largest error {100 * worst:.2f} % "
              f"of the allowance ({where})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
