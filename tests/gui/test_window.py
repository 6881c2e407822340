#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The window as a person uses it: opened, run, looked at, changed, exported, broken, closed; by AT-SPI and by keys."""
import json
import subprocess
import time
from pathlib import Path

from desk import DEMO, PROBE, TESTS, Missing, case, main, wait_for

# What the desk's settings ask for, as the command line says it.
SAME_RUN = ["--quiet", "--device", "cpu", "--context", "256", "--null-draws", "8"]


def probe(*args):
    return subprocess.run([PROBE, *map(str, args)], capture_output=True, text=True, check=True).stdout


@case
def demo_from_the_start_page(start, folder):
    v = start()
    v.press("push button", "Four heads")
    wait_for(lambda: v.title().startswith("mhar"))
    v.notice("13 sites of 1–13 sources")
    v.run()
    said = v.says(r"reads [\d.]+ % of .*random query")
    run = json.loads(probe("--json", "--max-tokens", 1024, *SAME_RUN, DEMO / "mhar"))["checkpoints"][0]
    largest = max((w, s["label"], h, n) for s in run["per_site"] if s["sources"] > 1
                  for h, row in enumerate(s["weight"]) for n, w in enumerate(row))
    assert said.startswith(f"{largest[1]}, head {largest[2]} reads {100 * largest[0]:.1f} % of"), said
    verdict = "inside what" if run["depth_map"]["max_deviation"] <= run["depth_map"]["null_max_deviation"] else ""
    assert verdict in said, said
    v.close()


@case
def pages_and_selection(start, folder):
    v = start(DEMO / "mhar")
    v.run()
    v.key("alt+2")
    v.says("its heads disagree by")
    v.key("Next")
    v.says("^L1.attn: its heads disagree")
    v.key("alt+5")
    v.says("as if they were")
    v.key("alt+3")
    v.says("cosine")
    v.key("alt+1", "2")
    v.says("^L1.attn, head 1 reads")
    v.key("0")
    v.says("^L1.attn, mean of 4 heads")
    v.key("alt+6")
    v.says("Choose a second checkpoint")
    v.key("alt+4", "ctrl+t")
    v.find("label", "^head_0$")
    v.close()


if __name__ == "__main__":
    main()
