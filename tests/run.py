#!/usr/bin/env python3
"""Runs the tests of a build, then the unit, loader and CLI tests of another, with ASan and UBSan.

    run.py BUILD [--long] [--no-sanitizers]

--long tries everything where else a sample is tried, runs all tests under ASan and UBSan, the window's too, and then the
scripts of tests/long: `make test-long`.

The last line is `N passed, N failed` (`, N skipped` may follow); a test program, or a script, counts once a build."""
import glob
import json
import os
import subprocess
import sys

PLAIN = ["--no-suite", "sanitized-only"]
SANITIZED = ["--suite", "unit", "--suite", "sanitized", "--suite", "sanitized-only"]


def run_suite(build, suites):
    """Counts of (passed, failed, skipped) after `meson test`; failures' output goes to the screen."""
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    command = ["meson", "test", "-C", build, "--print-errorlogs", "--no-rebuild", "--num-processes", "2", *suites]
    if "MHAR_TEST_LONG" in os.environ:
        command += ["--timeout-multiplier", "10"]
    status = subprocess.call(command)
    counts = {"OK": 0, "SKIP": 0, "bad": 0}
    if os.path.exists(log):
        with open(log, encoding="utf-8") as f:
            for line in f:
                result = json.loads(line)["result"]
                counts[result if result in counts else "bad"] += 1
    if status != 0 and counts["bad"] == 0:
        counts["bad"] = 1  # meson itself failed: never a silent pass
    return counts["OK"], counts["bad"], counts["SKIP"]


def sanitized(build, complete):
    target = f"{build}-asan"
    if not os.path.exists(os.path.join(target, "build.ninja")):
        subprocess.check_call(["meson", "setup", target, "-Db_sanitize=address,undefined", "-Db_lundef=false",
                               "-Dcuda=disabled", "-Dgui=disabled", "-Doptimization=1"], stdout=subprocess.DEVNULL)
    subprocess.check_call(["meson", "configure", target, f"-Dgui={'auto' if complete else 'disabled'}"], stdout=subprocess.DEVNULL)
    subprocess.check_call(["ninja", "-C", target, "--quiet"])
    return run_suite(target, [] if complete else SANITIZED)


def run_script(script, build):
    """Counts as run_suite: a script says 0, 77 (skipped) or anything else (failed)."""
    print(f"==== {os.path.relpath(script)}", flush=True)
    status = subprocess.call([script, build])
    return int(status == 0), int(status not in (0, 77)), int(status == 77)


def main():
    build, complete = sys.argv[1], "--long" in sys.argv
    if complete:
        os.environ["MHAR_TEST_LONG"] = "1"
    twice = "--no-sanitizers" not in sys.argv
    results = [run_suite(build, PLAIN if twice and not complete else [])]
    if twice:
        results.append(sanitized(build, complete))
    if complete:
        scripts = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "long", "*.sh")))
        results += [run_script(script, build) for script in scripts]
    passed, failed, skipped = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
