#!/usr/bin/env python3
"""`make bench`: what the CPU path costs beyond its matrix products, and how long the everyday jobs take. Ratios in one run."""
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.abspath(sys.argv[1])
PROGRAM = os.path.join(BUILD, "app", "cli", "mhar-probe")
# Threads that wait do not spin: on a busy machine spinning would be most of what is measured.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def make(folder, options):
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "oracle", "make_checkpoint.py"), folder, *options.split()], check=True)


def seconds(*args):
    """Fastest of five runs."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([PROGRAM, *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    with tempfile.TemporaryDirectory() as scratch:
        big = os.path.join(scratch, "d512")
        make(big, "--mode full_mh --heads-routing 4 --width 512 --layers 12 --heads 8 --kv-heads 4 --ffn 1536 --vocab 4096 --context 2048")
        print("d512 L12 H4, T 1024, vocabulary 4,096, bf16 weights:", flush=True)
        subprocess.run([os.path.join(BUILD, "tests", "bench", "bench-cpu"), big, "1024"], check=True)
        print(f"--info on it ({os.path.getsize(os.path.join(big, 'model.safetensors')) / 1e6:.0f} MB): {1e3 * seconds('--info', big):.0f} ms")
    demo = os.path.join(ROOT, "data", "demo", "single")
    print(f"--kl on the demo, 2,048 tokens, 32 draws: {seconds('--kl', '--max-tokens', '2048', '--device', 'cpu', demo):.2f} s")
    print(f"--all on the demo, 2,048 tokens, 32 draws: {seconds('--max-tokens', '2048', '--device', 'cpu', demo):.2f} s")
    mhar = os.path.join(ROOT, "data", "demo", "mhar")
    print("the ablation map of the demo, 2,048 tokens:", flush=True)
    subprocess.run([os.path.join(BUILD, "tests", "bench", "bench-interventions"), mhar, "1024", "2"], check=True)


if __name__ == "__main__":
    main()
