#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--from with a file that is not a saved run, or one that was damaged by accident or on purpose: exit 3 and one sentence,
never a crash, a hang or an invented number."""
import fcntl
import os
import random
import subprocess
import time

import h5py
import numpy as np

from harness import *

_good = {}


def good(scratch):
    """A saved run of two checkpoints with everything in it; made once."""
    if not _good:
        succeed(FULL, MH, *SHORT, "--all", "--reads=*:*:top", "--match-sources", "6", "--slices", "4,2", "--null-kind", "random,shuffled", "--save-weights", "-o", scratch / "good.h5")
        _good["bytes"] = (scratch / "good.h5").read_bytes()
    path = scratch / "run.h5"
    path.write_bytes(_good["bytes"])
    return path


JOBS = [[], ["--json"], ["--table", "csv"], ["--figure-kind", "kl"], ["--figure-kind", "depth-map", "--first-sites", "0"], ["--figure-kind", "collinearity"], ["--figure-kind", "reads"]]


def no(scratch, path, *words):
    """Refused by whatever is asked of it."""
    place = scratch / "outputs"
    place.mkdir(exist_ok=True)
    for job in JOBS[:2]:
        result = probe("--from", path, *job, "--figure", place / "f.pdf", timeout=20)
        check_refusal(result, 3, path.name, *words)
        assert not any(place.iterdir())


def unharmed(path, place=None):
    """Either printed and drawn, or refused in one sentence."""
    for job in JOBS:
        figure = ["--figure", path.parent / "f.svg"] if "--figure-kind" in job else []
        result = probe("--from", path, *job, *figure, "-q", timeout=20)
        if result.code == 0:
            assert result.err == ""
            assert "--json" not in job or json.loads(result.out)
        else:
            check_refusal(result, 3)


def damaged(scratch, change, *words):
    path = good(scratch)
    with h5py.File(path, "r+") as f:
        change(f)
    no(scratch, path, *words)


def bent(scratch, change):
    path = good(scratch)
    with h5py.File(path, "r+") as f:
        change(f)
    unharmed(path)


@case
def the_good_one_is_good(scratch):
    path = good(scratch)
    text = succeed("--from", path).out
    assert "mini-full_mh" in text
    for job in JOBS:
        succeed("--from", path, *job, "--figure", scratch / "f.svg")


@case
def not_a_saved_run(scratch):
    for name, data in (("empty.h5", b""), ("text.h5", b"hello\n" * 100), ("zeros.h5", bytes(5000)), ("noise.h5", os.urandom(5000)),
                       ("head.h5", b"\x89HDF\r\n\x1a\n" + bytes(2000)), ("only.h5", b"\x89HDF\r\n\x1a\n")):
        (scratch / name).write_bytes(data)
        no(scratch, scratch / name, *(["is empty (0 bytes)"] if not data else []))


@case
def special_files(scratch):
    no(scratch, scratch / "nowhere.h5")
    no(scratch, scratch)
    os.mkfifo(scratch / "fifo.h5")
    no(scratch, scratch / "fifo.h5")
    (scratch / "device.h5").symlink_to("/dev/zero")
    no(scratch, scratch / "device.h5")


@case
def somebody_elses_hdf5_file(scratch):
    with h5py.File(scratch / "other.h5", "w") as f:
        f["x"] = np.arange(10)
    no(scratch, scratch / "other.h5")


@case
def truncated_at_many_lengths(scratch):
    path = good(scratch)
    data = path.read_bytes()
    for n in sorted({1, 8, 47, 95, 96, 511, 2048, len(data) - 1, *(len(data) * k // 12 for k in range(1, 12))}):
        path.write_bytes(data[:n])
        check_refusal(probe("--from", path, timeout=20), 3, path.name)


@case
def bytes_overwritten(scratch):
    path = good(scratch)
    data, draw = path.read_bytes(), random.Random(1)
    for _ in range(60):
        bad = bytearray(data)
        at = draw.randrange(len(data))
        bad[at : at + draw.choice((1, 2, 8, 64))] = os.urandom(1) * draw.choice((1, 2, 8, 64))
        path.write_bytes(bytes(bad))
        result = probe("--from", path, *draw.choice(JOBS[:3]), "-q", timeout=20)
        if result.code != 0:
            check_refusal(result, 3)


def set_attribute(group, name, value):
    def change(f):
        where = f[group] if group else f
        where.attrs[name] = value
    return change


def drop(*paths):
    def change(f):
        for path in paths:
            del f[path]
    return change


def drop_attribute(group, name):
    def change(f):
        del f[group].attrs[name]
    return change


def replace(path, data, like=None):
    """A dataset of the same name and scales where lengths allow, but with other data."""
    def change(f):
        old = f[path]
        dims = [d[0].name if len(d) else None for d in old.dims]
        del f[path]
        new = f.create_dataset(path, data=data)
        new.attrs["units"], new.attrs["long_name"] = "1", "x"
        for axis, name in enumerate(dims[: new.ndim]):
            if name is not None and f[name].shape[0] == new.shape[axis]:
                new.dims[axis].attach_scale(f[name])
    return change


for title, change, words in [
    ("no schema", lambda f: f.attrs.__delitem__("mhar_schema"), []),
    ("schema of tomorrow", set_attribute("", "mhar_schema", 2), ["2"]),
    ("schema 0", set_attribute("", "mhar_schema", 0), []),
    ("schema as text", set_attribute("", "mhar_schema", "1"), []),
    ("no provenance", drop("provenance"), ["provenance"]),
    ("no checkpoint", drop("checkpoint_0", "checkpoint_1"), ["no checkpoint"]),
    ("no path", drop_attribute("checkpoint_1", "path"), ["checkpoint_1"]),
    ("path a number", set_attribute("checkpoint_1", "path", 7), ["checkpoint_1"]),
    ("no site labels", drop("checkpoint_1/site_label"), ["checkpoint_1"]),
    ("no source counts", drop("checkpoint_1/n_sources"), ["checkpoint_1"]),
    ("no head counts", drop("checkpoint_0/n_heads"), ["checkpoint_0"]),
    ("weight of two dimensions", replace("checkpoint_1/weight", np.zeros((9, 4), "f4")), ["weight"]),
    ("weight of integers", replace("checkpoint_1/weight", np.zeros((9, 4, 9), "i4")), []),
    ("weight of doubles", replace("checkpoint_1/weight", np.zeros((9, 4, 9), "f8")), []),
    ("labels that are numbers", replace("checkpoint_1/site_label", np.arange(9, dtype="i4")), []),
    ("sources that are floats", replace("checkpoint_1/n_sources", np.ones(9, "f4")), []),
    ("more sources than there are", replace("checkpoint_1/n_sources", np.full(9, 10, "i4")), []),
    ("2^31 − 1 sources", replace("checkpoint_1/n_sources", np.full(9, 2**31 - 1, "i4")), []),
    ("fewer than no sources", replace("checkpoint_1/n_sources", np.full(9, -1, "i4")), []),
    ("more heads than there are", replace("checkpoint_1/n_heads", np.full(9, 5, "i4")), []),
    ("a scalar where an array was", replace("checkpoint_1/cosine", np.float32(1)), []),
    ("controls without what they are", drop("checkpoint_0/controls/measure"), ["controls"]),
    ("controls without numbers", drop("checkpoint_0/controls/trained"), ["controls"]),
    ("fewer numbers than controls", replace("checkpoint_0/controls/excess", np.zeros(2)), ["controls"]),
    ("slices that are text", replace("checkpoint_0/controls/slices", np.zeros(4)), ["controls"]),
    ("reads without their sites", drop("checkpoint_1/reads/n_sources"), ["reads/n_sources"]),
    ("reads without their bins", drop("checkpoint_0/reads/position_last"), ["reads/position_last"]),
    ("reads of three dimensions", replace("checkpoint_1/reads/weight_by_position", np.zeros((9, 4, 9), "f4")), ["weight_by_position"]),
    ("reads of a head that is not there", replace("checkpoint_1/reads/cell_head", np.full(36, 4, "i4")), ["reads"]),
    ("reads of a source that is not there", replace("checkpoint_1/reads/cell_source", np.full(36, 9, "i4")), ["reads"]),
    ("reads of a site before the first", replace("checkpoint_1/reads/cell_site", np.full(36, -1, "i4")), ["reads"]),
    ("tokens that no list shows", replace("checkpoint_1/reads/example_token", np.zeros(1, "i4")), []),
    ("a last read that is none", set_attribute("checkpoint_1/reads", "logit_site", 9), ["reads"]),
    ("a disagreement without its scale", replace("checkpoint_1/head_js", np.zeros(7, "f4")), []),
]:
    add(f"damaged: {title}", damaged, change, *words)


def group_in_place_of(path):
    def change(f):
        del f[path]
        f.create_group(path)
    return change


def everything_nan(f):
    for name, item in f["checkpoint_1"].items():
        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
            item[...] = np.nan


def everything_infinite(f):
    for name, item in f["checkpoint_1"].items():
        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
            item[...] = np.where(np.arange(item.size).reshape(item.shape) % 2, np.inf, -3e38)


def scalars_odd(f):
    for i, name in enumerate(list(f["checkpoint_1"].attrs)):
        if isinstance(f["checkpoint_1"].attrs[name], (float, np.floating)):
            f["checkpoint_1"].attrs[name] = [np.nan, np.inf, -1e308, 1e-308][i % 4]


def numbers_huge(f):
    for name in ("layers", "width", "sites", "heads", "tokens", "windows", "slices"):
        f["checkpoint_1"].attrs[name] = np.int64(-(2**63) if name == "heads" else 2**63 - 1)


def escapes(f):
    f["checkpoint_1"].attrs["path"] = "a/b\x1b[31m\nred"
    f["checkpoint_1"].attrs["mode"] = "\x1b]0;title\x07"
    f["checkpoint_0"].attrs["slicing"] = "\x1b[2J"
    f["checkpoint_1"].attrs.create("warnings", ["one\x1b[31m", "two\nlines"], dtype=h5py.string_dtype())


def label_missing(f):
    f["checkpoint_1/site_label"][3] = ""
    f["checkpoint_1/source_label"][4, 2] = ""


def long_names(f):
    f["checkpoint_1"].attrs["path"] = "x" * 60000
    f["checkpoint_1"].attrs["dialect"] = "é" * 20000


def cycle(f):
    f["checkpoint_1/again"] = f["checkpoint_1"]


def deep(f):
    group = f["checkpoint_1"]
    for _ in range(2000):
        group = group.create_group("g")


def many(f):
    for i in range(5000):
        f["checkpoint_1"].attrs[f"a{i}"] = i


def external(f):
    f["checkpoint_1/weight2"] = h5py.ExternalLink("/etc/passwd", "/x")
    f["checkpoint_1/soft"] = h5py.SoftLink("/nowhere")


def huge(f):
    del f["checkpoint_1/cosine"]
    f.create_dataset("checkpoint_1/cosine", shape=(2**31, 2**31), dtype="f4", chunks=(64, 64))


def more_checkpoints(f):
    f.create_group("checkpoint_99").attrs["path"] = "empty"


for title, change in [
    ("all NaN", everything_nan), ("all infinite or huge", everything_infinite), ("scalars NaN, infinite, tiny", scalars_odd),
    ("integers at their ends", numbers_huge), ("escape codes in its texts", escapes), ("labels missing", label_missing),
    ("names of 60,000 characters", long_names), ("a group inside itself", cycle), ("2,000 groups deep", deep), ("5,000 attributes more", many),
    ("links to elsewhere", external), ("an array of 2^62 elements", huge), ("a checkpoint without anything", more_checkpoints),
    ("a group in place of an array", group_in_place_of("checkpoint_1/weight")),
    ("an array in place of a group", lambda f: (f.__delitem__("checkpoint_1"), f.create_dataset("checkpoint_1", data=[1, 2]))),
    ("weight of other lengths", replace("checkpoint_1/weight", np.zeros((9, 4, 8), "f4"))),
    ("entropy of other lengths", replace("checkpoint_1/entropy", np.zeros((8, 4), "f4"))),
    ("a cosine that is not square", replace("checkpoint_1/cosine", np.zeros((9, 8), "f4"))),
    ("weights lost", drop("checkpoint_1/weight")), ("entropy lost", drop("checkpoint_1/entropy")),
    ("contribution lost", drop("checkpoint_1/contribution")), ("deviation lost", drop("checkpoint_1/deviation")),
    ("nulls lost", drop("checkpoint_0/slice_kl_null", "checkpoint_1/head_js_null")), ("trained lost", drop("checkpoint_0/slice_kl")),
    ("p-values of fewer heads", replace("checkpoint_1/deviation_p_value", np.zeros((9, 3)))),
    ("a null of fewer sites", replace("checkpoint_1/max_deviation_null", np.zeros((8, 4)))),
    ("p-values and intervals lost", drop("checkpoint_0/slice_kl_p_value", "checkpoint_0/slice_kl_site_low", "checkpoint_1/deviation_p_value")),
    ("what p-values are about lost", drop("checkpoint_0/slice_kl_site", "checkpoint_1/max_deviation_site", "checkpoint_1/max_deviation_null")),
    ("spread lost", drop("checkpoint_1/weight_sd")), ("intervals of controls lost", drop("checkpoint_0/controls/excess_low")),
    ("nulls of controls lost", drop("checkpoint_0/controls/null", "checkpoint_0/controls/p_value")),
    ("controls lost", drop("checkpoint_0/controls")),
    ("output labels lost", drop("checkpoint_1/output_label")), ("site numbers lost", drop("checkpoint_1/site")),
    ("sums and capture lost", drop("checkpoint_1/sums", "checkpoint_1/capture")),
    ("scalars lost", lambda f: [f["checkpoint_1"].attrs.__delitem__(a) for a in ("mode", "dialect", "layers", "loss", "heads", "sites", "warnings")]),
    ("all attributes lost but the path", lambda f: [f[c].attrs.__delitem__(a) for c in ("checkpoint_0", "checkpoint_1") for a in list(f[c].attrs) if a != "path"]),
    ("provenance empty", lambda f: [f["provenance"].attrs.__delitem__(a) for a in list(f["provenance"].attrs)]),
    ("attributes of other types", lambda f: [f["checkpoint_1"].attrs.__setitem__(a, np.arange(3)) for a in ("mode", "layers", "loss", "warnings", "slicing")]),
]:
    add(f"bent: {title}", bent, change)


@case
def escape_codes_do_not_reach_the_terminal(scratch):
    path = good(scratch)
    with h5py.File(path, "r+") as f:
        escapes(f)
    for style in ("text", "markdown", "latex"):
        result = probe("--from", path, "--table", style)
        assert result.code == 0 and "\x1b" not in result.out + result.err and "\x07" not in result.out, result
        assert all(line.startswith("mhar-probe: ") for line in result.err.splitlines()), result.err


def scale_lost(name, axis):
    def change(f):
        for scale in list(f[name].dims[axis].values()):
            f[name].dims[axis].detach_scale(scale)
    return change


def scales_lost(*names):
    def change(f):
        for name in names:
            del f[name].attrs["DIMENSION_LIST"]
    return change


def foreign_array(f):
    f.create_dataset("checkpoint_1/mine", data=np.zeros((2, 3)))


for name, axis in (("checkpoint_1/weight", 2), ("checkpoint_1/entropy", 1), ("checkpoint_1/cosine", 0), ("checkpoint_0/slice_kl", 0),
                   ("checkpoint_0/source_label", 1), ("checkpoint_0/slice_kl_null", 1)):
    add(f"{name} without the scale of an axis", damaged, scale_lost(name, axis), name, "dimension scale")
add("weight without any scale", damaged, scales_lost("checkpoint_1/weight"), "checkpoint_1/weight", "dimension scale")
add("head_js of another type", damaged, replace("checkpoint_1/head_js", np.zeros(9, "c8")), "checkpoint_1/head_js", "type")
add("bent: an array of one's own", bent, foreign_array)


@case
def an_array_of_ones_own_is_left_alone(scratch):
    path = good(scratch)
    before = succeed("--from", path, "--json").out
    with h5py.File(path, "r+") as f:
        foreign_array(f)
    assert succeed("--from", path, "--json").out == before


@case
def coefficients_bent(scratch):
    path, kind = scratch / "run.h5", ["--figure-kind", "coefficients"]
    for change, refused in ((drop("checkpoint_0/input_label"), False), (drop("checkpoint_0/output_label"), False),
                            (replace("checkpoint_0/coefficient", np.zeros((9, 8), "f4")), True),
                            (replace("checkpoint_0/coefficient", np.full((9, 9), np.inf, "f4")), False)):
        succeed(FIXTURES / "mini-hyper", *SHORT, "-o", path)
        with h5py.File(path, "r+") as f:
            change(f)
        if refused:
            no(scratch, path)
        for job in (["--json"], ["--figure", scratch / "f.svg", *kind], ["--figure", scratch / "f.svg"]):
            result = probe("--from", path, *job, "-q", timeout=20)
            if result.code != 0 or refused:
                check_refusal(result, 3)


@case
def what_takes_hdf5_down(scratch):
    """Forged files on which fuzzing saw HDF5 break down: refused, whatever HDF5 makes of them here."""
    for path in sorted((TESTS / "fuzz/corpus/h5").iterdir()):
        no(scratch, path)
    no(scratch, TESTS / "fuzz/corpus/h5/name-not-utf8", "group", "checkpoint_0", "damaged")


def reader_that(scratch, does):
    """The program with another reader beside it, as in a build folder."""
    program, reader = scratch / "app/cli/mhar-probe", scratch / "app/reader/mhar-h5-reader"
    if not program.exists():
        program.parent.mkdir(parents=True)
        reader.parent.mkdir(parents=True)
        shutil.copy2(PROBE, program)
    reader.write_text(f"#!/bin/sh\n{does}\n")
    reader.chmod(0o755)
    run = subprocess.run([program, "--from", good(scratch)], env=environment(), capture_output=True, timeout=20)
    return Result(run.returncode, run.stdout.decode(), run.stderr.decode())


@case
def the_reader_is_confined(scratch):
    """While it writes to a pipe that nobody empties: the kernel says that its calls are filtered."""
    reader = Path(PROBE).parent.parent / "reader" / "mhar-h5-reader"
    if sanitized() or b"seccomp_load" not in reader.read_bytes():
        raise Skip("a build without")
    receive, send = os.pipe()
    fcntl.fcntl(send, fcntl.F_SETPIPE_SZ, 4096)
    with open(good(scratch), "rb") as f:
        process = subprocess.Popen([reader, "run.h5"], stdin=f, stdout=send, stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{process.pid}/status")
    end = time.monotonic() + 60
    while "Seccomp:\t2" not in status.read_text() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    seen = status.read_text()
    process.kill()
    process.wait()
    os.close(receive)
    os.close(send)
    assert "Seccomp:\t2" in seen and "NoNewPrivs:\t1" in seen, seen


@case
def the_reader_fails(scratch):
    interrupted = "import os, signal; signal.pthread_sigmask(signal.SIG_UNBLOCK, {2}); signal.signal(2, signal.SIG_DFL); os.kill(os.getpid(), 2)"
    for does, code, *words in (("kill -SEGV $$", 3, "breaks down"), ("kill -ABRT $$", 3, "breaks down"), ("exit 1", 3, "breaks down"),
                               ("echo nonsense", 3, "breaks down"), ("yes", 3, "breaks down"), ("cat", 3, "breaks down"),
                               ("kill -KILL $$", 1, "memory"), ("exit 9", 1, "memory"), (f"exec {sys.executable} -c '{interrupted}'", 130, "interrupted")):
        check_refusal(reader_that(scratch, does), code, *words)
    (scratch / "app/reader/mhar-h5-reader").chmod(0o644)
    run = subprocess.run([scratch / "app/cli/mhar-probe", "--from", scratch / "run.h5"], env=environment(), capture_output=True, timeout=20)
    check_refusal(Result(run.returncode, run.stdout.decode(), run.stderr.decode()), 1, "run.h5", "mhar-h5-reader")


main()
