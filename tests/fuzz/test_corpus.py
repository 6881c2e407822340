#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The corpus through every fuzz target, without libFuzzer: test_corpus.py BUILD/tests/fuzz [target …]. Seeds made from the
fixtures and what fuzzing once found, each as it is and after some random edits. Half a minute at most under sanitizers."""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Random edits of each input: fewer where one input is slow.
EDITS = {"checkpoint": 20, "h5": 20, "text": 100, "pattern": 100}


def main():
    programs = Path(sys.argv[1])
    targets = sys.argv[2:] or sorted(p.stem[len("fuzz-"):] for p in HERE.glob("fuzz-*.c"))
    failed = 0
    print(f"1..{len(targets)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mhar-seeds-") as scratch:
        subprocess.run([sys.executable, HERE / "make-seeds.py", scratch], check=True)
        subprocess.run([programs / "check-h5-checksums", *(Path(scratch) / "h5").iterdir()], check=True, stdout=subprocess.DEVNULL)
        for i, target in enumerate(targets, 1):
            folders = [p for p in (Path(scratch) / target, HERE / "corpus" / target) if p.is_dir()]
            began = time.monotonic()
            run = subprocess.run([programs / f"replay-{target}", "-m", str(EDITS.get(target, 200)), *folders],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            good = run.returncode == 0
            failed += not good
            print(f"{'ok' if good else 'not ok'} {i} - {target}", flush=True)
            said = run.stdout.splitlines()[-40:] if not good else [f"{run.stdout.strip()}, {time.monotonic() - began:.1f} s"]
            print("\n".join("# " + line for line in said), flush=True)
    return failed > 0


sys.exit(main())
