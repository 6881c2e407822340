#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a system does to a run: files cut short under it, killed at any moment, two at once, things that are no files where
files should be, text that comes slowly."""
import json
import os
import random
import re
import signal
import subprocess
import time

import h5py

from harness import *

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
# Some seconds of work, in small batches: its progress line says that the model runs.
WORK = ["--tokens", IDS, "--max-tokens", "25000", "--context", "128", "--batch", "4", "--null-draws", "64", "--device", "cpu",
        "--progress", "always"]


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def whole(path, old):
    """The file is the old one, or a new one that can be read to its end."""
    if path.read_bytes() == old:
        return False
    with h5py.File(path) as f:
        f.visititems(lambda name, item: item[()] if isinstance(item, h5py.Dataset) else None)
        assert "provenance" in f and len(f["checkpoint_0"]) > 2, list(f)
    return True


# Mapped files that are cut short

def cut(scratch, name, size):
    """While the model runs: one sentence that names the file, the old output, no unfinished one."""
    model = copy_checkpoint(MH, scratch / "m")
    place = scratch / "out"
    place.mkdir()
    (place / "run.h5").write_bytes(b"old")
    process = start(model, *WORK, "-o", place / "run.h5", **PIPES)
    seen = b""
    while b" %" not in seen:
        part = os.read(process.stderr.fileno(), 4096)
        assert part, (process.wait(), seen)
        seen += part
    os.truncate(model / name, size)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3 and out == b"", (process.returncode, out, err)
    last = err.replace(b"\r", b"\n").decode().splitlines()[-1]
    assert f"{name}: was shortened" in last, err
    assert listing(place) == ["run.h5"] and (place / "run.h5").read_bytes() == b"old"


SIZE = (MH / "model.safetensors").stat().st_size
for size in (0, 4096, SIZE // 2, SIZE - 8192, SIZE - 1):
    add(f"tensors cut to {size} bytes while the model runs", cut, "model.safetensors", size)


@case
def a_file_replaced_by_another_is_as_it_was(scratch):
    model = copy_checkpoint(MH, scratch / "m")
    process = start(model, *SHORT, *WORK[2:4], "-o", scratch / "run.h5", **PIPES)
    time.sleep(0.1)
    (scratch / "new").write_bytes(b"x")
    os.replace(scratch / "new", model / "model.safetensors")
    out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 3) and b"shortened" not in err, (process.returncode, err)


# Killed

@case
def killed_at_random_moments(scratch):
    draw = random.Random(11)
    kinds = [[MH, "--weights-only"], [MH, *SHORT, "--collinearity", "--figure", scratch / "f.svg"]]
    outs = []
    for args in kinds:
        since = time.monotonic()
        succeed(*args, "-o", scratch / "run.h5")
        # A run of the same second may be equal to the byte; what follows the end of an HDF5 file is not looked at.
        outs.append((args, time.monotonic() - since, (scratch / "run.h5").read_bytes() + b"old"))
    new, times = 0, 200 if LONG else 20
    for i in range(times):
        args, took, old = outs[i % 2]
        (scratch / "run.h5").write_bytes(old)
        (scratch / "f.svg").write_bytes(b"old")
        process = start(*args, "-o", scratch / "run.h5", **PIPES)
        if i < 2:  # the first of each kind ends by itself, the second hardly begins: both outcomes are seen
            assert process.wait(timeout=120) == 0
        elif i >= 4:
            time.sleep(draw.uniform(0, 1.2 * took))
        process.kill()
        process.communicate()
        is_new = whole(scratch / "run.h5", old)
        assert i >= 4 or is_new == (i < 2), i
        new += is_new
        figure = (scratch / "f.svg").read_bytes()
        assert figure == b"old" or figure.rstrip().endswith(b"</svg>")
        left = [name for name in listing(scratch) if name not in ("run.h5", "f.svg")]
        of = [re.fullmatch(r"\.(run\.h5|f\.svg)\.mhar-\w{6}", name)[1] for name in left]
        assert len(of) == len(set(of)), left  # each run has removed what the one before it left
    print(f"# new in {new} of {times}")


def unfinished(folder):
    return [p for p in folder.iterdir() if ".mhar-" in p.name]


def write_slowly(scratch):
    """A run whose unfinished file is there and grows for some seconds."""
    process = start(MH, *WORK, "--save-weights", "-o", scratch / "run.h5", **PIPES)
    while not any(p.stat().st_size for p in unfinished(scratch)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


@case
def what_a_killed_run_leaves_the_next_removes(scratch):
    process = write_slowly(scratch)
    process.kill()
    process.communicate()
    assert len(unfinished(scratch)) == 1 and listing(scratch) == [unfinished(scratch)[0].name]
    others = [".f.svg.AbC123", ".f.svg.mhar-AbC12", ".f.svg.mhar-AbC1234", ".f.svg.mhar-AbC.12", ".g.svg.mhar-AbC123", "f.svg.mhar-AbC123"]
    for name in [*others, ".f.svg.mhar-AbC123"]:
        (scratch / name).write_bytes(b"x")
    (scratch / ".f.svg.mhar-folder").mkdir()
    (scratch / ".f.svg.mhar-linked").symlink_to(others[0])
    succeed(MH, *SHORT, "--collinearity", "-o", scratch / "run.h5", "--figure", scratch / "f.svg")
    assert listing(scratch) == sorted([*others, ".f.svg.mhar-folder", ".f.svg.mhar-linked", "f.svg", "run.h5"]), listing(scratch)


@case
def what_a_live_run_writes_stays(scratch):
    slow = write_slowly(scratch)
    mine = unfinished(scratch)
    succeed(FULL, *SHORT, "-o", scratch / "run.h5")
    assert slow.poll() is None and unfinished(scratch) == mine, listing(scratch)
    _, err = slow.communicate(timeout=120)
    assert slow.returncode == 0 and listing(scratch) == ["run.h5"], (slow.returncode, err, listing(scratch))
    with h5py.File(scratch / "run.h5") as f:
        assert f["checkpoint_0"].attrs["path"] == str(MH)


@case
def two_write_the_same_name(scratch):
    """Whoever is last wins whole."""
    winners = set()
    for i in range(10):
        first, second = (start(c, *SHORT, "--collinearity", "-o", scratch / "run.h5", "--figure", scratch / "f.svg", **PIPES) for c in (MH, FULL))
        for process in (first, second):
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0 and err == b"", err
        with h5py.File(scratch / "run.h5") as f:
            winners.add(str(f["checkpoint_0"].attrs["path"]))
        succeed("--from", scratch / "run.h5")
        assert (scratch / "f.svg").read_text().rstrip().endswith("</svg>")
        assert listing(scratch) == ["f.svg", "run.h5"], listing(scratch)
    assert winners <= {str(MH), str(FULL)}, winners


@case
def head_takes_the_first_lines(scratch):
    for args in ([MH, *SHORT], [MH, *SHORT, "--json"], ["--help"]):
        if "-o" not in args and args[0] == MH:
            args = [*args, "-o", scratch / "run.h5"]
        process = start(*args, **PIPES)
        process.stdout.read(1)
        process.stdout.close()
        err = process.stderr.read()
        # a text that is only printed may die of the pipe: there is nothing to tidy up
        ends = (0, 1, -signal.SIGPIPE) if args == ["--help"] else (0, 1)
        assert process.wait(timeout=60) in ends, (process.returncode, err)
        assert listing(scratch) in ([], ["run.h5"]), listing(scratch)


# Something else in the place of each input

def inputs(scratch):
    """{what is read: (its path, the arguments that read it)}, all in one folder."""
    model = copy_checkpoint(MH, scratch / "m")
    shutil.copy(DEMO / "single" / "tokenizer.json", model)
    shutil.copy(IDS, scratch / "ids.u16")
    shutil.copy(DEMO / "text.txt", scratch / "text.txt")
    shutil.copy(FIXTURES / "authors" / "mini-full_mh.safetensors", scratch / "reference.safetensors")
    shutil.copy(model / "config.json", scratch / "other.json")
    (scratch / "map.json").write_text(json.dumps({"attn": {"query": "a{i}"}, "mlp": {"query": "b{i}"}}))
    sharded = copy_checkpoint(MH, scratch / "s")
    shard = sharded / "model-00001-of-00001.safetensors"
    (sharded / "model.safetensors").rename(shard)
    index = sharded / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {k: shard.name for k in read_tensors(shard)}}))
    succeed(model, *SHORT, "-o", scratch / "saved.h5")
    text = ["--max-tokens", "64", "--null-draws", "0", "--device", "cpu"]
    return {"config": (model / "config.json", [model, *SHORT]), "tensors": (model / "model.safetensors", [model, *SHORT]),
            "tokenizer": (model / "tokenizer.json", [model, "--text", scratch / "text.txt", *text]),
            "text": (scratch / "text.txt", [model, "--text", scratch / "text.txt", *text]),
            "ids": (scratch / "ids.u16", [model, "--tokens", scratch / "ids.u16", *text]),
            "other config": (scratch / "other.json", [model, "--config", scratch / "other.json", *SHORT]),
            "map": (scratch / "map.json", [model, "--map", scratch / "map.json", *SHORT]),
            "index": (index, [sharded, *SHORT]), "shard": (shard, [sharded, *SHORT]),
            "reference": (scratch / "reference.safetensors", [model, "--verify", scratch / "reference.safetensors", "--device", "cpu"]),
            "saved run": (scratch / "saved.h5", ["--from", scratch / "saved.h5"])}


def put_fifo(path):
    os.mkfifo(path)


def put_folder(path):
    path.mkdir()


def put_loop(path):
    path.symlink_to(path.name)


def put_nowhere(path):
    path.symlink_to("nowhere")


def put_device(path):
    path.symlink_to("/dev/zero")


@case
def fifos_folders_and_links_in_place_of_inputs(scratch):
    for what, (path, args) in inputs(scratch).items():
        kept = path.with_name(path.name + ".kept")
        path.rename(kept)
        for put in (put_fifo, put_folder, put_loop, put_nowhere, put_device):
            put(path)
            result = probe(*args, timeout=20)
            try:
                check_refusal(result, 3)
            except AssertionError:
                print(f"# {what}, {put.__name__}")
                raise
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        if what != "map":
            path.symlink_to(kept.name)
            assert probe(*args).code in (0, 1), what  # through a link to the file itself all is well
            path.unlink()
        kept.rename(path)


@case
def text_that_comes_slowly(scratch):
    text = (DEMO / "text.txt").read_bytes()[:3000]
    args = [DEMO / "single", "--text", "-", "--max-tokens", "64", "--null-draws", "0", "--device", "cpu", "-q"]
    at_once = succeed(*args, text=text)
    process = start(*args, stdin=subprocess.PIPE, **PIPES)
    for at in range(0, len(text), 100):
        process.stdin.write(text[at : at + 100])
        process.stdin.flush()
        time.sleep(0.01)
    process.stdin.close()
    assert process.stdout.read().decode() == at_once.out and process.wait() == 0


main()
