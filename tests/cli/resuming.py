#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A run that saves its state goes on after any death with the same bits; one that is another is refused by what differs."""
import random
import signal
import time

import h5py
import numpy as np

from harness import *

# Batches of four windows, the last one short; saved after every two batches.
OF_IDS = ["--max-tokens", "2411", "--context", "16", "--batch", "4", "--null-draws", "4", "--device", "cpu"]
LONG = ["--tokens", IDS, *OF_IDS]
EVERY = ["--checkpoint-every", "8"]
OWN = {"time", "history"}  # what each run has of its own


def same(a, b, path=""):
    """Every group, array and attribute alike to the bit."""
    assert list(a) == list(b), (path, list(a), list(b))
    for k in a.attrs:
        if k in OWN or k in ("REFERENCE_LIST", "DIMENSION_LIST"):
            continue
        assert np.asarray(a.attrs[k]).tobytes() == np.asarray(b.attrs[k]).tobytes() or list(a.attrs[k]) == list(b.attrs[k]), (path, k)
    for k in a:
        if isinstance(a[k], h5py.Group):
            same(a[k], b[k], f"{path}/{k}")
            continue
        x, y = np.asarray(a[k][()]), np.asarray(b[k][()])
        assert x.dtype == y.dtype and x.shape == y.shape, (path, k)
        assert list(x.flat) == list(y.flat) if x.dtype.kind == "O" else x.tobytes() == y.tobytes(), (path, k)


def same_files(a, b):
    with h5py.File(a) as x, h5py.File(b) as y:
        same(x, y)


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def killed(scratch, names, *more, kills=4, seed=0):
    """The run as it is, and one that is killed at random moments and goes on each time."""
    args = [*names, *LONG, *EVERY, "--json", "-q", "-o", "run.h5", *more]
    places = [scratch / "whole", scratch / "killed"]
    for place in places:
        place.mkdir()
    began = time.monotonic()
    whole = succeed(*args, cwd=places[0])
    took = time.monotonic() - began
    draw, deaths, kept = random.Random(seed), 0, 0
    for _ in range(kills):
        process = start(*args, "--resume", cwd=places[1], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(draw.uniform(0.02, max(0.1, took * 0.6)))
        process.kill()
        process.communicate()
        deaths += process.returncode == -9
        kept += (places[1] / "run.h5.part" / "state.h5").exists()
    again = succeed(*args, "--resume", cwd=places[1])
    print(f"# {deaths} deaths, state there after {kept}; {took:.2f} s whole")
    assert again.out == whole.out
    same_files(*(p / "run.h5" for p in places))
    assert listing(places[1]) == listing(places[0]) == ["run.h5"], listing(places[1])
    return deaths, kept


@case
def killed_twenty_times(scratch):
    deaths, kept = killed(scratch, [MH], "--all", kills=20)
    assert deaths > 0 and kept > 0


add("killed with everything saved", lambda scratch: killed(
    scratch, [MH], "--all", "--reads=*:*:*", "--save-weights=f16", "--skip-first", "3", "--null-tokens", "900", seed=1))
add("killed with interventions", lambda scratch: killed(
    scratch, [MH], "--kl", "--consensus", "--ablation-map", "--max-tokens", "300", seed=2))
add("killed with controls", lambda scratch: killed(
    scratch, [FULL], "--kl", "--slices", "2,4", "--slicing", "both", "--null-kind", "random,shuffled", "--match-sources", "3", seed=3))
add("killed among several", lambda scratch: killed(scratch, [MH, FULL, PLAIN], seed=4))
add("killed while comparing", lambda scratch: killed(scratch, [FULL, MH], "--all", "--compare", seed=5))


def interrupted(scratch, *args, name="run.h5"):
    """A run that is killed as soon as something is saved; the folder that it leaves."""
    process = start(*args, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    state = scratch / f"{name}.part" / "state.h5"
    while not state.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    process.kill()
    process.communicate()
    return state.parent


BASE = [*LONG, *EVERY, "-q", "-o", "run.h5"]


@case
def it_does_what_a_run_without_does(scratch):
    a = succeed(MH, *LONG, "--json", "-q", "-o", scratch / "a.h5")
    b = succeed(MH, *LONG, *EVERY, "--json", "-q", "-o", scratch / "b.h5")
    strip = lambda r: {k: v for k, v in json.loads(r.out).items() if k != "command"}
    assert strip(a) == strip(b)
    with h5py.File(scratch / "a.h5") as x, h5py.File(scratch / "b.h5") as y:
        same(x["checkpoint_0"], y["checkpoint_0"])
    assert listing(scratch) == ["a.h5", "b.h5"]


@case
def nothing_saved_is_begun(scratch):
    succeed(MH, *BASE, "--resume", cwd=scratch)
    assert listing(scratch) == ["run.h5"]


@case
def what_was_saved_is_not_overwritten(scratch):
    folder = interrupted(scratch, MH, *BASE)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    check_refusal(probe(MH, *BASE, cwd=scratch), 2, "run.h5.part", "--resume", "remove")
    assert before == {p.name: p.read_bytes() for p in folder.iterdir()} and listing(scratch) == ["run.h5.part"]


@case
def another_command_is_refused(scratch):
    """By what differs, then and now; of what changes no number nothing is said."""
    interrupted(scratch, MH, *BASE)
    for more, words in ((["--seed", "1"], ["another --seed (then 0, now 1)"]), (["--kl"], ["another --depth-maps (then yes, now no)", "--collinearity"]),
                        (["--slices", "8"], ["--slices (then 4, now 8)"]), (["--ablate", "*:oldest"], ["--ablate (then none, now *:oldest)"]),
                        (["--save-weights"], ["--save-weights (then no, now f32)"]), (["--context", "8", "--batch", "2"], ["--context (then 16, now 8), another --batch"]),
                        (["--seed=1", "--batch=2", "--context=8", "--skip-first=1", "--null-draws=2"], ["and more"]), ([FULL], ["another checkpoint 2 (then none, now mini-full, SHA-256"])):
        check_refusal(probe(MH, *BASE, *more, "--resume", cwd=scratch), 2, "run.h5.part is of a run with", "remove the folder", *words)
    (scratch / "ids.u16").symlink_to(IDS)
    shutil.copy(MH / "config.json", scratch / "config.json")
    succeed(f"{MH}/", *BASE, "--json", "--seed", "0", "--slices", "4", "--slicing", "contiguous", "--all", "--checkpoint-every", "3", "--figure", "f.svg",
            "--first-sites", "3", "--private", "--digest", "--progress", "always", "--config", "config.json", "--resume", cwd=scratch)
    assert "sha256_files" in h5py.File(scratch / "run.h5")["checkpoint_0"].attrs


@case
def the_second_of_two_processes_waits_outside(scratch):
    args = [MH, *BASE, "--resume"]
    for place in ("two", "whole"):
        (scratch / place).mkdir()
    two = {"cwd": scratch / "two"}
    first = start(*args, **two, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (scratch / "two" / "run.h5.part" / "state.h5").exists():
        time.sleep(0.001)
    first.send_signal(signal.SIGSTOP)
    for kind in (args, args[:-1], [FULL, *args[1:]]):
        check_refusal(probe(*kind, **two), 3, "run.h5.part", "another process", "-o")
    first.kill()  # whose lock goes with it
    first.communicate()
    assert first.returncode == -9 and (scratch / "two" / "run.h5.part" / "lock").exists()
    assert succeed(*args, **two).out == succeed(*args, cwd=scratch / "whole").out
    assert listing(scratch / "two") == ["run.h5"]
    same_files(scratch / "two" / "run.h5", scratch / "whole" / "run.h5")


@case
def many_at_once_leave_one_result(scratch):
    """Whoever comes meanwhile is refused; nobody harms another, and the folder is gone at the end."""
    args = [MH, *BASE, "--max-tokens", "400", "--null-draws", "0", "--resume"]
    (scratch / "whole").mkdir()
    want = succeed(*args, cwd=scratch / "whole")
    done = 0
    for _ in range(3):
        ours = [start(*args, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
        for process in ours:
            out, err = process.communicate(timeout=60)
            assert process.returncode in (0, 3), err
            assert process.returncode == 0 or b"another process" in err, err
            assert process.returncode == 3 or out.decode() == want.out
            done += process.returncode == 0
        assert listing(scratch) == ["run.h5", "whole"]
        same_files(scratch / "run.h5", scratch / "whole" / "run.h5")
    assert done >= 3


@case
def a_lock_that_is_no_file(scratch):
    (scratch / "run.h5.part").mkdir()
    (scratch / "elsewhere").write_text("mine")
    lock = scratch / "run.h5.part" / "lock"
    lock.symlink_to("../elsewhere")
    check_refusal(probe(MH, *BASE, cwd=scratch), 1, "run.h5.part/lock")
    assert (scratch / "elsewhere").read_text() == "mine" and lock.is_symlink()
    lock.unlink()
    lock.mkdir()
    check_refusal(probe(MH, *BASE, cwd=scratch), 1, "run.h5.part/lock")


@case
def nothing_saved_leaves_no_folder(scratch):
    check_refusal(probe(MH, *BASE, "--skip-first", "5000", cwd=scratch), 3)
    assert listing(scratch) == [], listing(scratch)


@case
def another_text_is_refused(scratch):
    ids = bytearray(IDS.read_bytes())
    (scratch / "ids.u16").write_bytes(ids)
    args = [MH, *OF_IDS, "--tokens", "ids.u16", *EVERY, "-q", "-o", "run.h5"]
    interrupted(scratch, *args)
    ids[4000] ^= 1
    (scratch / "ids.u16").write_bytes(ids)
    check_refusal(probe(*args, "--resume", cwd=scratch), 2, "another text", "ids.u16")


@case
def another_checkpoint_is_refused(scratch):
    copy_checkpoint(MH, scratch / "x")
    args = ["x", *BASE]
    interrupted(scratch, *args)
    tensors = read_tensors(MH / "model.safetensors")
    name = next(n for n in tensors if "res_proj" in n)
    dtype, shape, data = tensors[name]
    tensors[name] = (dtype, shape, data[::-1])
    write_tensors(scratch / "x" / "model.safetensors", tensors)
    check_refusal(probe(*args, "--resume", cwd=scratch), 2, "another checkpoint 1", "x, SHA-256")


@case
def damaged_state_is_refused(scratch):
    """Whatever is cut, changed or exchanged: one sentence, or the right numbers."""
    folder = interrupted(scratch, MH, *BASE)
    kept = {p.name: p.read_bytes() for p in folder.iterdir()}
    draw = random.Random(5)
    for name in ("state.h5", "000000.h5"):
        for size in (0, 100, len(kept[name]) // 2, len(kept[name]) - 1):
            (folder / name).write_bytes(kept[name][:size])
            result = probe(MH, *BASE, "--resume", cwd=scratch)
            check_refusal(result, 3, f"run.h5.part/{name}", "remove", "run.h5.part")
            assert "-o" not in result.err and "make" not in result.err, result
            (folder / name).write_bytes(kept[name])
    (folder / "000000.h5").unlink()
    check_refusal(probe(MH, *BASE, "--resume", cwd=scratch), 3, "000000.h5")
    (folder / "000000.h5").write_bytes(kept["state.h5"])
    check_refusal(probe(MH, *BASE, "--resume", cwd=scratch), 3, "run.h5.part", "sums")
    (folder / "000000.h5").write_bytes(kept["000000.h5"])
    with h5py.File(folder / "000000.h5", "r+") as f:
        f["sums/start"][:] += 16 * 8  # as the next segment has it
    check_refusal(probe(MH, *BASE, "--resume", cwd=scratch), 3, "run.h5.part", "windows in their order")
    for _ in range(25):
        data = bytearray(kept["000000.h5"])
        for _ in range(20):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        (folder / "000000.h5").write_bytes(data)
        result = probe(MH, *BASE, "--resume", cwd=scratch)
        assert result.code in (0, 3), str(result)
        for p in kept:
            folder.mkdir(exist_ok=True)
            (folder / p).write_bytes(kept[p])


@case
def what_is_no_state_is_refused(scratch):
    """Another's file, one of ours that is something else, and no file at all: each by its name, with what to do."""
    folder = interrupted(scratch, MH, *BASE)
    state = folder / "state.h5"
    kept = state.read_bytes()
    succeed(MH, *SHORT, "-o", scratch / "results.h5")
    with h5py.File(scratch / "foreign.h5", "w", libver="latest") as f:
        f["x"] = [1, 2]
    shutil.copy(state, scratch / "emptied.h5")
    with h5py.File(scratch / "emptied.h5", "r+") as f:
        for k in set(f) - {"identity"}:
            del f[k]
    for words, put in (("mhar_schema", "foreign.h5"), ("is not the state of a run", "results.h5"), ("state of a run", "emptied.h5"),
                       ("not an HDF5 file", IDS)):
        shutil.copy(scratch / put, state)
        check_refusal(probe(MH, *BASE, "--resume", cwd=scratch), 3, "state.h5", words, "run.h5.part", "remove the folder", "start")
    state.unlink()
    for make in (state.mkdir, lambda: os.mkfifo(state), lambda: state.symlink_to("nowhere")):
        make()
        check_refusal(probe(MH, *BASE, "--resume", cwd=scratch, timeout=20), 3, "run.h5.part/state.h5", "remove the folder")
        check_refusal(probe(MH, *BASE, cwd=scratch), 2, "run.h5.part", "--resume")
        state.rmdir() if state.is_dir() else state.unlink()
    state.write_bytes(kept)
    succeed(MH, *BASE, "--resume", cwd=scratch)


@case
def sums_of_another_shape_are_refused(scratch):
    folder = interrupted(scratch, MH, *BASE)
    with h5py.File(folder / "000000.h5", "r+") as f:
        del f["sums/weight"]
    check_refusal(probe(MH, *BASE, "--resume", cwd=scratch), 3, "run.h5.part", "sums/weight")


@case
def interrupted_by_the_keyboard(scratch):
    args = [MH, *BASE, "--max-tokens", "28000"]
    process = start(*args, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (scratch / "run.h5.part" / "state.h5").exists():
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == b"" and b"--resume" in err, (process.returncode, err)
    assert listing(scratch) == ["run.h5.part"]


@case
def interrupted_before_anything_is_saved(scratch):
    process = start(MH, *BASE, "--max-tokens", "28000", "--checkpoint-every", "100000", cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (scratch / "run.h5.part").exists():
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"nothing was written" in err and b"--resume" not in err, (process.returncode, err)
    assert listing(scratch) == []


@case
def a_stranger_in_the_folder_stays(scratch):
    (scratch / "run.h5.part").mkdir()
    (scratch / "run.h5.part" / "letter.txt").write_text("mine")
    succeed(MH, *BASE, cwd=scratch)
    assert listing(scratch / "run.h5.part") == ["letter.txt"]


add("usage: --checkpoint-every without -o", lambda scratch: check_refusal(probe(MH, *LONG, *EVERY), 2, "--checkpoint-every", "-o"))
add("usage: --resume alone", lambda scratch: check_refusal(probe(MH, *LONG, "--resume", "-o", scratch / "x.h5"), 2, "--resume", "--checkpoint-every"))
add("usage: --from --resume", lambda scratch: check_refusal(probe("--from", "x.h5", "--resume"), 2, "--resume"))

main()
