#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs over parts of a text, merged, are the run over all of it: every number to 1e-12. What is not of one kind is refused."""
import h5py
import numpy as np

from harness import *

CONTEXT = 16
# A window a batch: what a window gives then does not depend on its neighbours, to the bit.
RUN = ["--context", str(CONTEXT), "--batch", "1", "--null-draws", "5", "--device", "cpu"]
EXACT = 1e-12
OWN = {"command", "time", "history", "text", "text_sha256", "texts", "texts_sha256", "merged", "version"}


def pieces(scratch, *windows, rest=0):
    """Files of ids of that many windows each, one after the other, the last with `rest` ids more; and one of all."""
    ids = IDS.read_bytes()
    names, at = [], 0
    for i, n in enumerate(windows):
        size = 2 * (CONTEXT * n + (rest if i == len(windows) - 1 else 0))
        names.append(scratch / f"part{i}.u16")
        names[-1].write_bytes(ids[at:at + size])
        at += size
    (scratch / "whole.u16").write_bytes(ids[:at])
    return names


def runs(scratch, names, parts, *more):
    files = []
    for part in [*parts, scratch / "whole.u16"]:
        files.append(part.with_suffix(".h5"))
        succeed(*names, *RUN, *more, "--tokens", part, "-o", files[-1], "-q")
    return files[:-1], files[-1]


worst = [0.0, ""]


def close(a, b, where, tolerance):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape and np.array_equal(np.isnan(a), np.isnan(b)), where
    error = np.nanmax(np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-9), initial=0)
    if error / tolerance > worst[0]:
        worst[:] = [error / tolerance, where]
    assert error <= tolerance, (where, error)


def same(a, b, path="", skip=()):
    """Structure, texts and counts alike, numbers to 1e-12; float32 to its rounding."""
    assert [k for k in a if k not in skip] == [k for k in b if k not in skip], (path, list(a), list(b))
    assert sorted(set(a.attrs) - OWN) == sorted(set(b.attrs) - OWN), (path, set(a.attrs) ^ set(b.attrs))
    for k in set(a.attrs) - OWN - {"REFERENCE_LIST", "DIMENSION_LIST"}:
        x, y = a.attrs[k], b.attrs[k]
        if isinstance(x, (float, np.floating)):
            close(x, y, f"{path}@{k}", EXACT)
        else:
            assert np.array_equal(np.asarray(x), np.asarray(y)) or np.asarray(x).dtype.kind == "f", (path, k, x, y)
    for k in a:
        if k in skip:
            continue
        if isinstance(a[k], h5py.Group):
            same(a[k], b[k], f"{path}/{k}", skip)
            continue
        x, y = a[k][()], b[k][()]
        if x.dtype.kind == "f":
            close(x, y, f"{path}/{k}", EXACT if x.dtype == np.float64 else 2e-7)
        else:
            assert np.array_equal(x, y), (path, k)


def merged(scratch, names, windows, *more, rest=0):
    parts, whole = runs(scratch, names, pieces(scratch, *windows, rest=rest), *more)
    out = scratch / "merged.h5"
    a = json.loads(succeed("--merge", *parts, "-o", out, "--json", "-q").out)
    b = json.loads(succeed("--from", whole, "--json", "-q").out)
    worst[:] = [0.0, ""]
    with h5py.File(out) as x, h5py.File(whole) as y:
        for name in y:
            if name.startswith("checkpoint_"):
                same(x[name], y[name], name, skip=("sums",))
                texts = x[name]["sums/text"][()]
                assert list(texts) == [t for t, n in enumerate(windows) for _ in range(n + (rest > 0 and t == len(windows) - 1))]
            elif name in ("compare", "series"):
                same(x[name], y[name], name)
        assert list(x["provenance"].attrs["texts"]) == [p.with_suffix(".u16").name for p in parts]
        assert x["provenance"].attrs["text_tokens"] == y["provenance"].attrs["text_tokens"]
    print(f"# largest error: {worst[0]:.3f} of the allowance, {worst[1]}")
    assert [list(c) for c in a["checkpoints"]] == [list(c) for c in b["checkpoints"]]
    assert json.loads(succeed("--from", out, "--json", "-q").out)["checkpoints"] == a["checkpoints"]
    return parts, out


add("two halves", lambda s: merged(s, [MH], [40, 40], "--all"))
add("odd pieces, the last cut short", lambda s: merged(s, [MH], [7, 33, 21], "--all", "--skip-first", "3", rest=9))
add("one head", lambda s: merged(s, [FULL], [13, 22], "--all", "--match-sources", "3", "--slicing", "interleaved", "--null-norm", "slice"))
add("whole rows", lambda s: merged(s, [FIXTURES / "mini-full_hw"], [11, 10], "--all"))
add("controls", lambda s: merged(s, [FULL], [9, 8], "--kl", "--slices", "4,2", "--slicing", "both", "--null-kind", "shuffled,random"))
add("controls of heads", lambda s: merged(s, [MH], [9, 8], "--kl", "--null-kind", "random,shuffled"))
add("interventions", lambda s: merged(s, [MH], [6, 7], "--all", "--consensus", "--top-k=1", "--ablate=*:embedding"))
add("an ablation map", lambda s: merged(s, [MH], [6, 7], "--depth-maps", "--ablation-map"))
add("no reads", lambda s: merged(s, [PLAIN], [6, 5], "--all"))
add("hyper-connections", lambda s: merged(s, [FIXTURES / "mini-hyper"], [6, 5], "--all"))
add("several checkpoints", lambda s: merged(s, [MH, FULL, PLAIN], [6, 5]))
add("a comparison", lambda s: merged(s, [FULL, MH], [20, 21], "--compare", "--all"))
add("no nulls", lambda s: merged(s, [MH], [6, 5], "--null-draws", "0"))
add("many windows", lambda s: merged(s, [MH], [301, 302], "--depth-maps", "--null-draws", "2"))  # more than the resamples keep apart


@case
def the_steps_of_a_training_run(scratch):
    (scratch / "run").mkdir()
    for step in (1, 2):
        copy_checkpoint(FULL, scratch / "run" / f"checkpoint-{step}")
    merged(scratch, [scratch / "run"], [6, 5], "--series")


@case
def merged_files_merge(scratch):
    parts = pieces(scratch, 5, 6, 7)
    files, whole = runs(scratch, [MH], parts, "--all")
    succeed("--merge", *files[:2], "-o", scratch / "first.h5")
    succeed("--merge", scratch / "first.h5", files[2], "-o", scratch / "both.h5")
    with h5py.File(scratch / "both.h5") as x, h5py.File(whole) as y:
        same(x["checkpoint_0"], y["checkpoint_0"], skip=("sums",))
        assert list(x["checkpoint_0/sums/text"]) == [0] * 5 + [1] * 6 + [2] * 7
        assert list(x["provenance"].attrs["texts"]) == ["part0.u16", "part1.u16", "part2.u16"]
    check_refusal(probe("--merge", scratch / "both.h5", files[1]), 3, "both.h5", "part1.h5", "at token 0, 16, 32 …", "part1.u16", "6 in all")


@case
def other_batches_are_as_good(scratch):
    """Then windows differ by rounding, and so do the numbers."""
    parts = pieces(scratch, 20, 21)
    for i, part in enumerate(parts):
        succeed(MH, *RUN, "--batch", str(3 + i), "--tokens", part, "-o", part.with_suffix(".h5"), "-q")
    a = report("--merge", *(p.with_suffix(".h5") for p in parts))["checkpoints"][0]
    b = report(MH, *RUN, "--batch", "8", "--tokens", scratch / "whole.u16")["checkpoints"][0]
    assert a["tokens"] == b["tokens"] and a["windows"] == b["windows"]
    for x, y in ((a["loss"], b["loss"]), (a["head_js"]["excess"], b["head_js"]["excess"])):
        assert abs(x - y) < 1e-5 * abs(y), (x, y)


@case
def text_through_a_tokenizer(scratch):
    lines = (DEMO / "text.txt").read_text().split("\n\n")
    for i in range(2):
        (scratch / f"{i}.txt").write_text("\n\n".join(lines[4 * i:4 * i + 4]))
        succeed(DEMO / "mhar", "--text", scratch / f"{i}.txt", "--context", "32", "--null-draws", "2", "--device", "cpu", "-o", scratch / f"{i}.h5", "-q")
    found = report("--merge", scratch / "0.h5", scratch / "1.h5", "-o", scratch / "x.h5")["checkpoints"][0]
    counts = [report("--from", scratch / f"{i}.h5")["checkpoints"][0] for i in range(2)]
    assert found["tokens"] == sum(c["tokens"] for c in counts)
    assert abs(found["loss"] - sum(c["loss"] * (c["tokens"] - c["windows"]) for c in counts) / sum(c["tokens"] - c["windows"] for c in counts)) < 1e-12 * found["loss"]


@case
def what_is_left_out_is_said(scratch):
    parts = pieces(scratch, 5, 6)
    files, _ = runs(scratch, [MH], parts, "--all", "--reads", "--save-weights")
    result = succeed("--merge", *files, "-o", scratch / "x.h5")
    assert result.err.count("reads (--reads)") == 2 and result.err.count("--save-weights") == 2, result.err
    with h5py.File(scratch / "x.h5") as f:
        assert "reads" not in f["checkpoint_0"] and "capture" not in f["checkpoint_0"]
        assert any("left out" in w for w in f["checkpoint_0"].attrs["warnings"])
    figure = scratch / "x.svg"
    succeed("--merge", *files, "--figure", figure, "-q")
    assert figure.read_text().startswith("<?xml")


@case
def the_same_windows_twice(scratch):
    files, _ = runs(scratch, [MH], pieces(scratch, 5, 6))
    refuse(scratch, 3, ["part0.h5", "windows at token 0, 16, 32 …", "part0.u16", "5 in all"], "--merge", files[0], files[0])


@case
def other_options_are_refused(scratch):
    parts = pieces(scratch, 5, 6)
    base = scratch / "a.h5"
    succeed(MH, *RUN, "--tokens", parts[0], "-o", base, "-q")
    for words, more in (("--seed", ["--seed", "1"]), ("--context", ["--context", "8"]), ("--null-draws", ["--null-draws", "4"]),
                        ("--skip-first", ["--skip-first", "1"]), ("--null-kind", ["--null-kind", "shuffled"]),
                        ("sums/weight", ["--kl"]), ("interventions", ["--consensus"]), ("--slices", ["--slices", "2"]),
                        ("controls", ["--null-kind", "random,shuffled"])):
        succeed(MH, *RUN, *more, "--tokens", parts[1], "-o", scratch / "b.h5", "-q")
        refuse(scratch, 3, ["a.h5", "b.h5", words], "--merge", base, scratch / "b.h5")
    succeed(FULL, *RUN, "--tokens", parts[1], "-o", scratch / "b.h5", "-q")
    refuse(scratch, 3, ["a.h5", "b.h5", "digest of the checkpoint"], "--merge", base, scratch / "b.h5")
    succeed(MH, FULL, *RUN, "--tokens", parts[1], "-o", scratch / "b.h5", "-q")
    refuse(scratch, 3, ["1 checkpoints, the other 2"], "--merge", base, scratch / "b.h5")
    succeed("--weights-only", MH, "-o", scratch / "w.h5", "-q")
    refuse(scratch, 3, ["w.h5", "--weights-only"], "--merge", scratch / "w.h5", base)


@case
def changed_files_do_no_harm(scratch):
    """Sums of another length, kind or name; texts that are not there; no sums at all."""
    files, _ = runs(scratch, [MH], pieces(scratch, 5, 6), "--all")

    def change(what):
        shutil.copy(files[1], scratch / "x.h5")
        with h5py.File(scratch / "x.h5", "r+") as f:
            what(f["checkpoint_0"])
        result = probe("--merge", files[0], scratch / "x.h5")
        check_refusal(result, 3, "x.h5")

    def replace(group, name, data):
        del group[name]
        group[name] = data
    change(lambda c: c["sums"].pop("weight"))
    change(lambda c: c.pop("sums"))
    change(lambda c: c.pop("pooled"))
    change(lambda c: replace(c["sums"], "loss", np.zeros((3, 2))))
    change(lambda c: replace(c["sums"], "start", np.zeros(0)))
    change(lambda c: c.attrs.__setitem__("seed", "x"))
    change(lambda c: c.attrs.__setitem__("slices", 3))
    change(lambda c: c.attrs.__delitem__("sha256_routing"))
    succeed("--merge", *files, "-q")
    for file in files:
        with h5py.File(file, "r+") as f:
            del f["checkpoint_0"].attrs["sha256_routing"]
    refuse(scratch, 3, ["part0.h5", "no digest"], "--merge", *files)


@case
def an_input_is_not_overwritten(scratch):
    files, _ = runs(scratch, [MH], pieces(scratch, 5, 6))
    before = files[1].read_bytes()
    check_refusal(probe("--merge", *files, "-o", files[1]), 2, "part1.h5", "overwritten")
    assert files[1].read_bytes() == before


add("usage: --merge of one", lambda s: check_refusal(probe("--merge", "x.h5"), 2, "--merge", "two files"))
add("usage: --merge and --text", lambda s: check_refusal(probe("--merge", "x.h5", "y.h5", "--text", "z"), 2, "--text"))
add("usage: --merge and --slices", lambda s: check_refusal(probe("--merge", "x.h5", "y.h5", "--slices", "2"), 2, "--slices", "--merge"))
add("usage: --merge and --info", lambda s: check_refusal(probe("--merge", "--info", "x.h5", "y.h5"), 2, "choose one"))
main()
