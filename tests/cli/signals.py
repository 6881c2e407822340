#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Interrupted: SIGINT, SIGTERM and SIGHUP end a run within two seconds, exit 130, and leave what was there; SIGKILL leaves
the old file or the new one whole, never a part of either."""
import os
import random
import resource
import signal
import subprocess
import time

import h5py

from harness import *

# As from a terminal, even where whoever runs the tests ignores them (nohup): programs inherit that.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)

# Some seconds of work, in batches so small that a cancel is seen soon.
LONG = ["--tokens", IDS, "--max-tokens", "25000", "--context", "128", "--batch", "4", "--null-draws", "64", "--device", "cpu"]
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def begin(scratch, *more, checkpoint=None):
    """A long run with an old file in place, well under way: its progress line has been seen to move."""
    for name in ("run.h5", "f.pdf"):
        (scratch / name).write_bytes(b"old")
    process = start(checkpoint or DEMO / "mhar", *LONG, "--progress", "always", "-o", scratch / "run.h5", "--figure", scratch / "f.pdf", *more,
                    **PIPES)
    seen = b""
    while b" %" not in seen:
        part = os.read(process.stderr.fileno(), 4096)
        assert part, (process.wait(), seen)
        seen += part
    return process


def ended(process, scratch, since, within=2.0):
    out, err = process.communicate(timeout=20)
    took = time.monotonic() - since
    assert process.returncode == 130, (process.returncode, err)
    assert out == b"" and err.endswith(b"mhar-probe: interrupted; nothing was written\n"), (out, err)
    print(f"# ended after {took:.2f} s")
    assert took < within, f"took {took:.1f} s"
    assert listing(scratch) == ["f.pdf", "run.h5"], listing(scratch)
    assert all((scratch / name).read_bytes() == b"old" for name in listing(scratch))


def interrupt(scratch, number, delay, *more):
    process = begin(scratch, *more)
    time.sleep(delay)
    since = time.monotonic()
    process.send_signal(number)
    ended(process, scratch, since)


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    add(f"{number.name} half-way", interrupt, number, 0.2)
add("SIGINT while weights are saved", interrupt, signal.SIGINT, 0.5, "--save-weights")
add("SIGINT with two threads", lambda scratch: interrupt(scratch, signal.SIGINT, 0.1))


@case
def several_signals(scratch):
    process = begin(scratch, "--save-weights")
    since = time.monotonic()
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGINT):
        process.send_signal(number)
        time.sleep(0.01)
    ended(process, scratch, since)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@case
def interrupted_while_a_long_text_is_encoded(scratch):
    """In processor time, so that it does not matter what else the machine does; the whole text takes ten times as long."""
    text = (DEMO / "text.txt").read_bytes()
    (scratch / "long.txt").write_bytes(text * (80_000_000 // len(text)))
    process = start(DEMO / "mhar", "--text", scratch / "long.txt", "--device", "cpu", "-o", scratch / "run.h5", **PIPES)
    while cpu_seconds(process.pid) < 1.5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    before = cpu_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    out, err = process.communicate(timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime - before
    print(f"# {spent:.2f} s of processor time to the end")
    assert process.returncode == 130 and err.endswith(b"interrupted; nothing was written\n"), (process.returncode, err)
    assert spent < 1.5 and listing(scratch) == ["long.txt"], spent


def interrupted_report(scratch, folder, end, *more):
    """In its first batch, of which all but the null queries is little work."""
    before = listing(scratch)
    process = start(FULL, "--tokens", IDS, "--context", "512", "--device", "cpu", "--report", scratch / folder, *more, **PIPES)
    while cpu_seconds(process.pid) < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    assert (scratch / folder).is_dir()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and out == b"" and err.endswith(end), (process.returncode, err)
    assert listing(scratch) == before and not listing(scratch / "old"), [*scratch.rglob("*")]


@case
def interrupted_in_a_batch_of_a_report(scratch):
    """Between two of its controls, of which all take longer than the program waits, and one does not."""
    (scratch / "old").mkdir()
    for folder in ("old", "new"):
        interrupted_report(scratch, folder, b"interrupted; nothing was written\n", "--null-draws", "60" if sanitized() else "400")


@case
def ended_by_force_in_a_report(scratch):
    """One step that takes longer than the program waits."""
    (scratch / "old").mkdir()
    interrupted_report(scratch, "new", b"unfinished files were removed\n", "--kl", "--slices", "4", "--slicing", "contiguous", "--null-kind",
                       "random", "--null-norm", "query", "--null-draws", "16000")


@case
def interrupted_at_any_moment(scratch):
    """From the start, before anything is set up, on: no run is short of an answer."""
    for i in range(12):
        place = scratch / str(i)
        place.mkdir()
        for name in ("run.h5", "f.pdf"):
            (place / name).write_bytes(b"old")
        process = start(MH, *SHORT, "-o", place / "run.h5", "--figure", place / "f.pdf", **PIPES)
        time.sleep(0.012 * i)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        assert process.returncode in (0, 130, -signal.SIGINT), (process.returncode, err)
        assert listing(place) == ["f.pdf", "run.h5"], listing(place)
        old = [(place / name).read_bytes() == b"old" for name in ("run.h5", "f.pdf")]
        if process.returncode == 0:
            assert out and not any(old)
        else:
            assert not out and all(old), (process.returncode, old)


@case
def killed_at_any_moment(scratch):
    draw = random.Random(7)
    succeed(FULL, *SHORT, "-o", scratch / "run.h5")
    old = (scratch / "run.h5").read_bytes()
    whole = 0
    for _ in range(15):
        (scratch / "run.h5").write_bytes(old)
        process = start(MH, *SHORT, "--save-weights", "-o", scratch / "run.h5", **PIPES)
        time.sleep(draw.uniform(0, 0.25))
        process.kill()
        process.communicate()
        data = (scratch / "run.h5").read_bytes()
        if data != old:
            assert "mini-full_mh" in succeed("--from", scratch / "run.h5").out
            whole += 1
    print(f"# new in {whole} of 15")


@case
def second_of_two_checkpoints_interrupted(scratch):
    """The first is done by then; its results are not written alone."""
    process = begin(scratch, DEMO / "single", checkpoint=MH)
    seen = b""
    while b"single [" not in seen:
        part = os.read(process.stderr.fileno(), 4096)
        assert part, seen
        seen += part
    since = time.monotonic()
    process.send_signal(signal.SIGTERM)
    ended(process, scratch, since)


@case
def verify_interrupted(scratch):
    ids = [1] * 5000
    import numpy as np
    with open(scratch / "ref.safetensors", "wb") as f:
        head = json.dumps({"ids": {"dtype": "I64", "shape": [5000], "data_offsets": [0, 40000]},
                           "logits": {"dtype": "F32", "shape": [5000, 4096], "data_offsets": [40000, 40000 + 5000 * 4096 * 4]}}).encode()
        head += b" " * (-len(head) % 8)
        f.write(len(head).to_bytes(8, "little") + head + np.array(ids, "<i8").tobytes())
        f.truncate(8 + len(head) + 40000 + 5000 * 4096 * 4)
    process = start(MH, "--verify", scratch / "ref.safetensors", "--device", "cpu", **PIPES)
    time.sleep(0.3)
    assert process.poll() is None, process.communicate()
    since = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    took = time.monotonic() - since
    print(f"# ended after {took:.2f} s")
    assert process.returncode == 130 and out == b"" and took < 2, (process.returncode, out, err, took)


@case
def signals_that_the_parent_had_ignored_stay_ignored(scratch):
    """A script's background job does not stop at its Ctrl-C, nor one under nohup at a hang-up."""
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    process = start(MH, *SHORT, "--max-tokens", "3000", preexec_fn=ignore, **PIPES)
    for _ in range(5):
        time.sleep(0.03)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0 and b"mini-full_mh" in out, (process.returncode, err)


@case
def a_good_file_after_all_that(scratch):
    process = begin(scratch)
    process.send_signal(signal.SIGINT)
    process.communicate()
    succeed(MH, *SHORT, "-o", scratch / "run.h5")
    with h5py.File(scratch / "run.h5") as f:
        assert f["checkpoint_0"].attrs["path"] == str(MH)


@case
def queries_of_many_checkpoints(scratch):
    """--weights-only, which runs nothing, ends as a run does."""
    (scratch / "w.h5").write_bytes(b"old")
    process = start("--weights-only", *([DEMO / "mhar"] * 800), "-o", scratch / "w.h5", **PIPES)
    while "model.safetensors" not in Path(f"/proc/{process.pid}/maps").read_text():
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == b"" and err == b"mhar-probe: interrupted; nothing was written\n", (process.returncode, err)
    assert listing(scratch) == ["w.h5"] and (scratch / "w.h5").read_bytes() == b"old"


main()
