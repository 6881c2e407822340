#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A long run takes no more memory at its end than at its beginning, and with --max-memory no more than that.
`make test-long` takes 1,000,000 tokens."""
import importlib.util
import re
import time

import h5py

from harness import *

_spec = importlib.util.spec_from_file_location("anonymous_memory", TESTS / "bench" / "anonymous-memory.py")
memory = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(memory)

MB = 1 << 20
TOKENS = 1_000_000 if LONG else 120_000


def text_of(scratch, tokens=TOKENS):
    ids = IDS.read_bytes()
    path = scratch / "long.u16"
    path.write_bytes((ids * (2 * tokens // len(ids) + 1))[:2 * tokens])
    return path


def watch(args, cwd):
    """[(share done, RssAnon)] while the run goes on, from its progress line; its exit status."""
    process = start(*args, "--progress", "always", cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.set_blocking(process.stderr.fileno(), False)
    seen, line = [], b""
    while process.poll() is None:
        try:
            line = (line + (os.read(process.stderr.fileno(), 1 << 16) or b""))[-400:]
        except BlockingIOError:
            pass
        marks = line.rpartition(b" %")[0].split()
        anonymous = memory.status_of(process.pid).get("RssAnon")
        if marks and marks[-1].isdigit() and anonymous:
            seen.append((int(marks[-1]), anonymous))
        time.sleep(0.002)
    return seen, process.returncode


def check_flat(scratch, *more):
    if sanitized():
        raise Skip("sanitizers take memory of their own")
    path = text_of(scratch)
    seen, code = watch([MH, "--tokens", path, "--context", "128", "--batch", "8", "--null-draws", "2", "--device", "cpu", "-o", "x.h5", *more], scratch)
    assert code == 0, code
    early = max(size for share, size in seen if share <= 25)
    late = max(size for share, size in seen if 50 <= share < 100)
    print(f"# {early / MB:.1f} MB up to a quarter, {late / MB:.1f} MB in the second half; {len(seen)} looks")
    # What the intervals are made of is kept up to 256 entries, 16 % of the run; HDF5 keeps its chunk indexes in a cache.
    assert late < early + 4 * MB, (early, late)
    with h5py.File(scratch / "x.h5") as f:
        assert f["checkpoint_0"].attrs["tokens"] == TOKENS // 128 * 128 + TOKENS % 128


add("memory is flat", lambda scratch: check_flat(scratch, "--all"))
add("memory is flat with reads", lambda scratch: check_flat(scratch, "--depth-maps", "--reads"))
add("memory is flat while the state is saved", lambda scratch: check_flat(scratch, "--kl", "--checkpoint-every", "100"))


def peak(folder, *args):
    env = environment()
    env.pop("MALLOC_PERTURB_", None)  # meson's, which has every page touched that is only set aside
    code, err, _, anonymous, _ = memory.watch([PROBE, folder, "--device", "cpu", "-q", *args], env)
    return code, err, anonymous


@case
def max_memory_is_kept(scratch):
    if sanitized():
        raise Skip("sanitizers take memory of their own")
    memory.write_checkpoint(scratch / "x", memory.SHAPES["small"])
    base = ["--tokens", str(scratch / "x" / "ids.u16"), "--context", "32", "--max-tokens", "1024"]
    for probes in (["--collinearity"], ["--all"], ["--depth-maps", "--reads=*:*:*", "--save-weights", "-o", str(scratch / "x.h5")]):
        peaks = []
        for limit in (100, 160):
            code, err, anonymous = peak(str(scratch / "x"), *base, *probes, "--max-memory", f"{limit}M")
            assert code == 0, err
            assert anonymous < limit * MB, (probes, limit, anonymous / MB)
            peaks.append(anonymous / MB)
        print(f"# {probes[0]}: {peaks[0]:.1f} MB under 100M, {peaks[1]:.1f} MB under 160M")
        assert peaks[1] > peaks[0] + 5, "more room is not used"


@case
def max_memory_too_small_for_a_window(scratch):
    for limit in ("16M", "1M"):
        refuse(scratch, 2, ["one window of 64 tokens", f"the {limit} of --max-memory", "--context"], MH, *SHORT, "--max-memory", limit)


@case
def max_memory_says_what_is_taken(scratch):
    """What is said to be needed is no less than what is taken, and not much more."""
    if sanitized():
        raise Skip("sanitizers take memory of their own")
    folder = scratch / "random"
    shape = "--mode full_mh --layers 8 --width 512 --heads 8 --kv-heads 8 --ffn 1024 --vocab 4096 --heads-routing 8"
    subprocess.run([sys.executable, str(ORACLE / "make_checkpoint.py"), str(folder), *shape.split()], check=True)
    for name, context, *more in ((DEMO / "mhar", 1024, "--collinearity"), (DEMO / "single", 512, "--kl", "--null-draws", "200"), (folder, 256, "--all"), (folder, 64, "--kl", "--null-draws", "1000"),
                                 (folder, 1024, "--depth-maps", "--null-draws", "8"), (folder, 256, "--depth-maps", "--save-weights", "-o", scratch / "x.h5")):
        args = ["--tokens", str(IDS), "--context", str(context), "--max-tokens", str(4 * context), "--batch", "1", *map(str, more)]
        refused = probe(str(name), *args, "--device", "cpu", "--max-memory", "1M")
        said = int(re.search(r"about (\d+)M", refused.err).group(1))
        code, err, taken = peak(str(name), *args)
        print(f"# {Path(name).name} {more[0]}: said {said} MB, taken {taken / MB:.1f}")
        assert code == 0 and taken <= said * MB <= 1.25 * taken + 4 * MB, (said, taken / MB)


@case
def max_memory_changes_no_number(scratch):
    a, b = (report(MH, *SHORT, "--batch", "1", *more)["checkpoints"] for more in ([], ["--max-memory", "2G"]))
    assert a == b


for word in ("", "x", "8Q", "-1", "1.5G", "1000", "0", "8GB", "99999999999T", "G", "1 G"):
    add(f"usage: --max-memory “{word}”", lambda scratch, word=word: check_refusal(
        probe(MH, *SHORT, f"--max-memory={word}"), 2, "--max-memory", "8G"))
for word in ("2097152K", "2048M", "2g", "1T", "2147483648"):
    add(f"--max-memory {word}", lambda scratch, word=word: succeed(MH, *SHORT, "--max-memory", word))

main()
