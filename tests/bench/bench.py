#!/usr/bin/env python3
"""`make bench`: what the CPU path costs beyond its matrix products, and how long the everyday jobs take. Ratios in one run."""
import os
import shutil
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


def on_display(program, *args, **env):
    """A program of the window's on a display of its own; says so where it was not built or there is none."""
    if not os.path.exists(os.path.join(BUILD, "tests", "bench", program)):
        print(f"{program}: built without GTK")
        return
    command = [sys.executable, os.path.join(ROOT, "tests", "gui", "on_display.py"), os.path.join(BUILD, "tests", "bench", program)]
    subprocess.run([*command, *args], env=dict(os.environ, MHAR_DATA_DIR=os.path.join(ROOT, "data"), **env), check=False)


def bench_window(scratch):
    """Drawing 193 sites, and how long the window does not answer in a run over them."""
    print("\nA depth map of 96 layers, scale 1 and 2:", flush=True)
    on_display("bench-map")
    on_display("bench-map", GDK_SCALE="2")
    deep = os.path.join(scratch, "deep")
    make(deep, "--mode full_mh --heads-routing 4 --width 64 --layers 96 --vocab 4096 --ffn 64")
    shutil.copy(os.path.join(ROOT, "data", "demo", "mhar", "tokenizer.json"), deep)
    print("\nThe main loop in a run over 193 sites, pages turned every half second:", flush=True)
    on_display("bench-window", deep, "20")
    print("\nThe same with tables in the pictures' places:", flush=True)
    on_display("bench-window", deep, "20", "table")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        big = os.path.join(scratch, "d512")
        make(big, "--mode full_mh --heads-routing 4 --width 512 --layers 12 --heads 8 --kv-heads 4 --ffn 1536 --vocab 4096 --context 2048")
        print("d512 L12 H4, T 1024, vocabulary 4,096, bf16 weights:", flush=True)
        subprocess.run([os.path.join(BUILD, "tests", "bench", "bench-cpu"), big, "1024"], check=True)
        print(f"--info on it ({os.path.getsize(os.path.join(big, 'model.safetensors')) / 1e6:.0f} MB): {1e3 * seconds('--info', big):.0f} ms")
        bench_window(scratch)
    demo = os.path.join(ROOT, "data", "demo", "single")
    print(f"--kl on the demo, 2,048 tokens, 32 draws: {seconds('--kl', '--max-tokens', '2048', '--device', 'cpu', demo):.2f} s")
    print(f"--all on the demo, 2,048 tokens, 32 draws: {seconds('--max-tokens', '2048', '--device', 'cpu', demo):.2f} s")
    mhar = os.path.join(ROOT, "data", "demo", "mhar")
    print("the ablation map of the demo, 2,048 tokens:", flush=True)
    subprocess.run([os.path.join(BUILD, "tests", "bench", "bench-interventions"), mhar, "1024", "2"], check=True)


if __name__ == "__main__":
    main()
