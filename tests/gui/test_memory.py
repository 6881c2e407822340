#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hundred runs leave the window as large as twenty did; fifty, but for `make test-long`."""
import os
from pathlib import Path

from desk import DEMO, Missing, case, main, wait_for

RUNS = 100 if os.environ.get("MHAR_TEST_LONG") == "1" else 50


def resident(pid):
    """MiB in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def run_some(v, times):
    for _ in range(times):
        v.press("push button", "^Run$")  # returns when the program has begun
        wait_for(lambda: v.all("push button", "^Run$"))


@case
def many_runs(start, folder):
    if "MHAR_KEEP_LIBRARIES" in os.environ:
        raise Missing("a sanitizer keeps what is freed, and looks for leaks itself")
    v = start(DEMO / "mhar", tokens=128)
    wait_for(lambda: v.title() == "mhar")
    run_some(v, 20)
    before = resident(v.process.pid)
    run_some(v, RUNS - 20)
    after = resident(v.process.pid)
    print(f"# {before:.0f} MiB after 20 runs, {after:.0f} MiB after {RUNS}", flush=True)
    assert after < before * 1.1, (before, after)
    v.close()


if __name__ == "__main__":
    main()
