#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Calls that fail (shim.c, which $MHAR_SHIM names): every allocation of ours and of the libraries that can say no, every
read, write, fsync and rename of a run, or of many a sample (`make test-long`: all of them, and of HDF5's allocations 300).
It ends with one sentence and status 1 or 3, or is none the worse; the old output is whole or the new one is, and no
unfinished file is left."""
import errno
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent / "cli"))
import h5py

from harness import *

SHIM = os.environ.get("MHAR_SHIM", "")
RUN = ["--max-tokens", "150", "--context", "64", "--null-draws", "2", "--device", "cpu", "-q"]
OLD = b"old"


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def place_of(scratch):
    """Inputs and outputs in one folder: all calls about it are counted."""
    copy_checkpoint(MH, scratch / "m")
    shutil.copy(IDS, scratch / "ids.u16")
    (scratch / "out").mkdir()
    return scratch


def faulty(place, fault, *args, **kw):
    """A run in which the fault strikes, the number of calls there were."""
    count = place / "count"
    count.unlink(missing_ok=True)
    env = {"LD_PRELOAD": SHIM, "MHAR_FAULT": fault, "MHAR_FAULT_FOLDER": str(place), "MHAR_FAULT_COUNT": str(count)}
    result = probe(*args, env=env, **kw)
    # A saved run is read by a process of its own: the one with most of them counts.
    return result, max(map(int, count.read_text().split())) if count.exists() else 0


def run_args(place):
    return [place / "m", "--tokens", place / "ids.u16", *RUN, "-o", place / "out" / "run.h5", "--figure", place / "out" / "f.svg"]


def check(place, result, may_succeed):
    """What a run with a fault in it left."""
    out = place / "out"
    assert result.code in ((0, 1, 3) if may_succeed else (1, 3)), result
    left = listing(out)
    assert left == ["f.svg", "run.h5"], f"{left}\n{result}"
    if result.code != 0:
        lines = result.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("mhar-probe: ") and len(lines[0]) > 30, result
        assert not lines[0].endswith(".") and "(null)" not in lines[0], result
    if (out / "run.h5").read_bytes() != OLD:
        with h5py.File(out / "run.h5") as f:
            assert "weight" in f["checkpoint_0"]
    figure = (out / "f.svg").read_bytes()
    assert figure == OLD or figure.rstrip().endswith(b"</svg>"), result


def strike(place, fault, may_succeed=False):
    for name in ("run.h5", "f.svg"):
        (place / "out" / name).write_bytes(OLD)
    result, _ = faulty(place, fault, *run_args(place))
    try:
        check(place, result, may_succeed)
    except AssertionError:
        print(f"# {fault}")
        raise
    return result


def numbers(count, most):
    """1 … count, or so many of them, the first ones and the last among them."""
    if count <= most:
        return range(1, count + 1)
    draw = random.Random(3)
    return sorted({1, 2, 3, count - 1, count, *draw.sample(range(1, count + 1), most - 5)})


def counted(place, call):
    result, count = faulty(place, call, *run_args(place))
    assert result.code == 0, result
    for p in (place / "out").iterdir():
        p.unlink()
    return count


def allocation(scratch, where, least):
    """Of the last 140, which are the model's and the forward pass's, and of those before, the JSON reader's."""
    place = place_of(scratch)
    count = counted(place, f"alloc:0:{where}")
    assert count >= least, f"{count} allocations seen: is the shim loaded?"
    failed = 0
    late = [count - 140 + n for n in numbers(140, 140 if LONG else 12)]
    for n in [*numbers(count - 140, count if LONG else 5), *late]:
        failed += strike(place, f"alloc:{n}:{where}", may_succeed=True).code != 0
    strike(place, f"alloc:{count // 2}+:{where}", may_succeed=True)
    print(f"# {count} allocations, {failed} runs refused")
    assert failed > 0


add("allocations of ours fail", allocation, "/mhar-probe", 1000)


@case
def allocations_of_hdf5_fail(scratch):
    """HDF5 exits, and at some places crashes, where it gets no memory (SECURITY.md). The old file stays; after an exit there is a
    sentence and no unfinished file."""
    place = place_of(scratch)
    out = place / "out"
    count = counted(place, "alloc:0:libhdf5")
    assert count > 1000, count
    ends = {}
    for n in numbers(count, 300 if LONG else 7):
        out.joinpath("run.h5").write_bytes(OLD)
        env = {"LD_PRELOAD": SHIM, "MHAR_FAULT": f"alloc:{n}:libhdf5", "MHAR_FAULT_FOLDER": str(place)}
        process = start(*run_args(place)[:-2], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=60)
        ends[process.returncode] = ends.get(process.returncode, 0) + 1
        assert process.returncode in (0, 1, 3) or process.returncode < 0, (n, process.returncode, err)
        if process.returncode >= 0:
            assert listing(out) == ["run.h5"], (n, process.returncode, listing(out))
            # Where HDF5 cannot even begin, it prints a report of its own before our sentence.
            said = err.splitlines()
            assert process.returncode == 0 or said[-1].startswith(b"mhar-probe: ") and (len(said) == 1 or said[0].startswith(b"HDF5-DIAG")), (n, err)
        assert process.returncode == 0 or (out / "run.h5").read_bytes() == OLD, (n, err)
        for p in out.iterdir():
            p.unlink()
    print(f"# {count} allocations; runs by status: {ends}")
    assert ends.get(1, 0) > 1, ends


def call_fails(scratch, call, code, may_succeed, least):
    place = place_of(scratch)
    count = counted(place, f"{call}:0:0")
    assert count >= least, f"{count} calls seen"
    failed = sum(strike(place, f"{call}:{n}:{code}", may_succeed).code != 0 for n in numbers(count, count if LONG else 5))
    print(f"# {count} calls, {failed} runs refused")
    assert failed > 0


# A folder that cannot be opened or synchronised after the rename does not undo it.
for call, code, may_succeed, least in (("open", errno.EIO, True, 3), ("open", errno.EMFILE, True, 3), ("mmap", errno.ENOMEM, False, 3),
                                       ("pwrite", errno.ENOSPC, False, 10), ("pwrite", errno.EIO, False, 10), ("write", errno.ENOSPC, False, 1),
                                       ("fsync", errno.EIO, True, 3), ("ftruncate", errno.EIO, True, 1), ("rename", errno.EACCES, False, 2)):
    add(f"{call}: {errno.errorcode[code]}, each in turn", call_fails, call, code, may_succeed, least)


def awkward(scratch, how):
    """The same numbers as without."""
    place = place_of(scratch)
    plain, _ = faulty(place, "none", *run_args(place), "--json")
    (place / "out" / "run.h5").rename(place / "plain.h5")
    odd, _ = faulty(place, how, *run_args(place), "--json")
    assert plain.code == odd.code == 0, (plain, odd)
    a, b = json.loads(plain.out), json.loads(odd.out)
    assert a["checkpoints"] == b["checkpoints"]
    first, _ = faulty(place, "none", "--from", place / "plain.h5", "--json")
    second, _ = faulty(place, how, "--from", place / "out" / "run.h5", "--json")
    assert json.loads(first.out)["checkpoints"] == json.loads(second.out)["checkpoints"]


add("short reads and writes", awkward, "short")
add("interrupted reads and writes", awkward, "interrupted")


@case
def a_saved_run_on_a_bad_disk(scratch):
    place = place_of(scratch)
    saved = place / "saved.h5"
    succeed(*run_args(place)[:-4], "-o", saved)
    result, count = faulty(place, "pread:0:0", "--from", saved)
    assert result.code == 0 and count > 10, (result, count)
    for n in numbers(count, count if LONG else 6):
        check_refusal(faulty(place, f"pread:{n}:{errno.EIO}", "--from", saved)[0], 3, "saved.h5")
    print(f"# {count} reads")


@case
def standard_input_on_a_bad_disk(scratch):
    place = place_of(scratch)
    text = place / "text.txt"
    text.write_bytes((DEMO / "text.txt").read_bytes()[:4000])
    args = [DEMO / "single", "--text", "-", "--max-tokens", "64", "--null-draws", "0", "--device", "cpu", "-q"]
    with open(text, "rb") as f:
        check_refusal(faulty(place, f"read:1:{errno.EIO}", *args, stdin=f)[0], 3, "standard input")
    outs = []
    for how in ("none", "short", "interrupted"):
        with open(text, "rb") as f:
            outs.append(faulty(place, how, *args, stdin=f)[0])
    assert outs[0].code == 0 and all(o.out == outs[0].out for o in outs), outs


@case
def interrupted_while_pages_come_slowly(scratch):
    """A checkpoint on a network that does not answer: the thread that waits for a page cannot be told to stop."""
    place = place_of(scratch)
    for name in ("run.h5", "f.svg"):
        (place / "out" / name).write_bytes(OLD)
    for first in (1, 30):  # within the header, within the tensors
        env = {"LD_PRELOAD": SHIM, "MHAR_FAULT": f"slow:{first}:600", "MHAR_FAULT_FOLDER": str(place), "MHAR_FAULT_COUNT": str(place / "count")}
        process = start(*run_args(place), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(2)
        assert process.poll() is None, process.communicate()
        since = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        print(f"# ended after {time.monotonic() - since:.1f} s")
        assert process.returncode == 130 and out == b"" and err.startswith(b"mhar-probe: interrupted, and ended while"), (process.returncode, err)
        assert listing(place / "out") == ["f.svg", "run.h5"] and all((place / "out" / n).read_bytes() == OLD for n in listing(place / "out"))


@case
def glib_finds_no_memory(scratch):
    """Small allocations go through GLib, which ends the program where there is none (SECURITY.md). The old file stays."""
    place = place_of(scratch)
    out = place / "out" / "run.h5"
    for n in (2000, 20000, 60000):
        out.write_bytes(OLD)
        env = {"LD_PRELOAD": SHIM, "MHAR_FAULT": f"alloc:{n}+:libglib", "MHAR_FAULT_FOLDER": str(place)}
        process = start(*run_args(place)[:-2], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=60)
        assert process.returncode < 0 and b"allocate memory" in err or b"failed to allocate" in err, (process.returncode, err)
        assert out.read_bytes() == OLD and listing(out.parent) == ["run.h5"], listing(out.parent)


if not SHIM or sanitized():  # which want to be loaded first
    print("1..0 # SKIP the shim cannot stand before the sanitizers")
    sys.exit(0)
main()
