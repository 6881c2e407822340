#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""--verify: logits and routing weights against what the authors' code gave, and against the oracle's own files."""
import re
import subprocess
import sys

import numpy as np

from harness import *

AUTHORS = FIXTURES / "authors"
CPU = ["--device", "cpu"]


def agree(scratch, name, checkpoint):
    result = succeed(checkpoint, "--verify", AUTHORS / f"{name}.safetensors", *CPU)
    assert result.err == ""
    error = float(re.search(r"^logits +relative norm error (\S+),", result.out, re.M).group(1))
    print(f"# relative norm error of the logits: {error / 1e-5:.1%} of the allowance")
    assert result.out.splitlines()[-1] == "1 tensor agrees", result.out


for name in sorted(p.stem for p in AUTHORS.glob("*.safetensors") if (FIXTURES / p.stem).is_dir()):
    add(f"agrees with the authors' code: {name}", agree, name, FIXTURES / name)
for name in ("single", "mhar"):
    add(f"agrees with the authors' code: demo {name}", agree, f"demo-{name}", DEMO / name)


def reference(name="mini-full_mh"):
    return read_tensors(AUTHORS / f"{name}.safetensors")


def tampered(tensors, name, change):
    dtype, shape, data = tensors[name]
    values = np.frombuffer(data, "<f4").copy()
    change(values)
    return {**tensors, name: (dtype, shape, values.astype("<f4").tobytes())}


def differs(scratch, tensors, first, checkpoint=MH, args=(), where=r"token \d+"):
    """`first` departs first, at the place that `where` matches; the same in JSON."""
    path = scratch / "ref.safetensors"
    write_tensors(path, tensors)
    result = probe(checkpoint, "--verify", path, *CPU, *args)
    assert result.code == 1, str(result)
    last = re.fullmatch(r"first tensor beyond the tolerance: (\S+?)(?:, the read of (\S+))?, first at (.+)", result.out.splitlines()[-1])
    assert last and last.group(1) == first and re.fullmatch(where, last.group(3)), result.out
    assert re.search(rf"^{re.escape(first)} .* DIFFERS, first at {re.escape(last.group(3))}$", result.out, re.M), result.out
    answer = probe(checkpoint, "--verify", path, *CPU, *args, "--json")
    assert answer.code == 1
    said = json.loads(answer.out)
    assert said["first"]["name"] == first and said["first"].get("label") == last.group(2) and not said["agrees"]
    assert str(said["first"]["token"]) == re.search(r"token (\d+)", last.group(3)).group(1)
    assert [t["name"] for t in said["tensors"] if not t["agrees"]] == re.findall(r"^(\S+) .* DIFFERS", result.out, re.M)
    return result


def set_all(factor):
    def change(values):
        values *= factor
    return change


@case
def tampered_logits(scratch):
    tensors = reference()
    differs(scratch, tampered(tensors, "logits", set_all(1.001)), "logits")
    write_tensors(scratch / "ref.safetensors", tampered(tensors, "logits", set_all(1.001)))
    result = succeed(MH, "--verify", scratch / "ref.safetensors", "--tolerance", "2e-3", *CPU)
    assert result.out.splitlines()[-1] == "1 tensor agrees"


@case
def not_a_number_never_agrees(scratch):
    def one_nan(values):
        values[12345] = np.nan
    def one_infinity(values):
        values[12345] = np.inf
    for change in (one_nan, one_infinity, set_all(0.0)):
        differs(scratch, tampered(reference(), "logits", change), "logits", args=["--tolerance", "0.9"])


@case
def another_checkpoint(scratch):
    differs(scratch, reference("mini-full_mh"), "logits", checkpoint=FULL)


# Routing weights, which the oracle writes

def oracle(scratch, checkpoint, n=40, offset=0):
    path = scratch / "oracle.safetensors"
    ids = " ".join(map(str, np.fromfile(IDS, "<u2")[offset:offset + n]))
    subprocess.run([sys.executable, ORACLE / "mhar_oracle.py", "forward", checkpoint, "--tokens", ids, "--out", path], check=True,
                   stdout=subprocess.DEVNULL)
    return path


def weights(scratch, checkpoint, sites):
    path = oracle(scratch, checkpoint)
    result = succeed(checkpoint, "--verify", path, *CPU)
    rows = re.findall(r"^(\S+) +relative norm error (\S+), largest (\S+) +ok$", result.out, re.M)
    assert [r[0] for r in rows] == [f"weights.{s}" for s in range(sites)] + ["logits"], result.out
    assert result.out.splitlines()[-1] == f"{sites + 1} tensors agree" if sites else "1 tensor agrees", result.out
    largest = max([float(r[2]) for r in rows[:-1]], default=0)
    print(f"# largest difference of a weight: {largest / 1e-5:.1%} of the allowance")
    assert largest <= 1e-5


add("weights agree with the oracle: one head", weights, FULL, 9)
add("weights agree with the oracle: four heads", weights, MH, 9)
add("weights agree with the oracle: a plain Transformer has none", weights, PLAIN, 0)


@case
def weights_agree_in_the_plain_path_too(scratch):
    succeed(MH, "--verify", oracle(scratch, MH), "--routing", "plain", *CPU)


@case
def tampered_weights(scratch):
    path = oracle(scratch, MH)
    tensors = read_tensors(path)

    def swap(values):
        values[:2] = values[1::-1].copy()
        values[0] += 0.01
    result = differs(scratch, tampered(tampered(tensors, "weights.5", swap), "weights.7", swap), "weights.5", where="token 0")
    assert result.out.count("DIFFERS") == 2 and re.search(r"^logits .* ok$", result.out, re.M)


@case
def weights_of_the_wrong_head(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    dtype, shape, data = tensors["weights.6"]
    turned = np.frombuffer(data, "<f4").reshape(shape)[:, :, ::-1].copy()
    differs(scratch, {**tensors, "weights.6": (dtype, shape, turned.tobytes())}, "weights.6")


# References that cannot be compared

def refused(scratch, tensors, *words, checkpoint=MH):
    path = scratch / "ref.safetensors"
    write_tensors(path, tensors)
    refuse(scratch, 3, ["ref.safetensors", *words], checkpoint, "--verify", path, *CPU, outputs=False)


def with_ids(ids, dtype="I64", numpy="<i8"):
    logits = np.zeros((len(ids), 4096), "<f4")
    return {"ids": (dtype, [len(ids)], np.array(ids).astype(numpy).tobytes()), "logits": ("F32", list(logits.shape), logits.tobytes())}


@case
def wrong_shapes(scratch):
    good = reference()
    dtype, shape, data = good["logits"]
    refused(scratch, {**good, "logits": (dtype, [shape[0] - 1, shape[1]], data[: -4 * shape[1]])}, "logits")
    refused(scratch, {**good, "logits": (dtype, [shape[1], shape[0]], data)}, "logits")
    refused(scratch, {**good, "logits": (dtype, [shape[0] * shape[1]], data)}, "logits")
    refused(scratch, {**good, "logits": (dtype, [1, *shape], data)}, "logits")
    refused(scratch, {**good, "logits": ("I32", shape, data)}, "logits")
    refused(scratch, {**good, "ids": ("I32", [2 * shape[0]], good["ids"][2])}, "ids")
    refused(scratch, {**good, "ids": ("I64", [2, shape[0] // 2], good["ids"][2])}, "ids")


@case
def weights_of_wrong_shapes(scratch):
    good = read_tensors(oracle(scratch, MH))
    dtype, shape, data = good["weights.4"]
    refused(scratch, {**good, "weights.4": (dtype, [shape[2], shape[1], shape[0]], data)}, "weights.4")
    refused(scratch, {**good, "weights.4": good["weights.5"]}, "weights.4")
    refused(scratch, {**good, "weights.4": ("I32", shape, data)}, "weights.4")


@case
def tensors_missing(scratch):
    good = reference()
    refused(scratch, {"ids": good["ids"]}, "logits", "weights")
    refused(scratch, {"logits": good["logits"]}, "ids")
    refused(scratch, {}, "ids")


# What else a reference may be

def floats(tensors, name):
    dtype, shape, data = tensors[name]
    return np.frombuffer(data, "<f4").reshape(shape)


def stored(values, dtype="F32"):
    if dtype == "BF16":
        data = (np.ascontiguousarray(values, "<f4").view("<u4") >> 16).astype("<u2")
    else:
        data = np.ascontiguousarray(values, {"F32": "<f4", "F64": "<f8", "F16": "<f2"}[dtype])
    return dtype, list(values.shape), data.tobytes()


def agrees(scratch, tensors, n, checkpoint=MH, args=()):
    path = scratch / "good.safetensors"
    write_tensors(path, tensors)
    result = succeed(checkpoint, "--verify", path, *CPU, *args)
    assert result.out.splitlines()[-1] == (f"{n} tensors agree" if n > 1 else "1 tensor agrees"), result.out
    said = json.loads(succeed(checkpoint, "--verify", path, *CPU, *args, "--json").out)
    assert said["agrees"] and said["first"] is None and len(said["tensors"]) == n
    assert said["reference"] == str(path) and said["device"] == "cpu" and said["precision"] == "fp32" and said["schema"] == 1
    return said


@case
def the_first_token_that_departs(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    for name, token in (("weights.3", 17), ("logits", 39), ("weights.8", 0)):
        values = floats(tensors, name).copy()
        values[(slice(None), slice(token, None)) if name != "logits" else slice(token, None)] += 0.01
        differs(scratch, {**tensors, name: stored(values)}, name, where=f"token {token}")


@case
def the_first_site_departs_before_the_logits(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    logits, weights = floats(tensors, "logits") * 1.01, floats(tensors, "weights.6").copy()
    weights[:, 5] *= 1.01
    result = differs(scratch, {**tensors, "logits": stored(logits), "weights.6": stored(weights)}, "weights.6", where="token 5")
    assert "the read of L3.attn" in result.out and result.out.count("DIFFERS") == 2


@case
def dtypes(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    for dtype, tolerance, low in (("F64", "1e-5", 0), ("F16", "1e-3", 1e-6), ("BF16", "1e-2", 1e-5)):
        said = agrees(scratch, {k: stored(floats(tensors, k), dtype) if k != "ids" else v for k, v in tensors.items() if k != "loss"}, 10,
                      args=["--tolerance", tolerance])
        assert all(t["relative_error"] > low for t in said["tensors"] if t["name"] != "weights.0"), said
    refused(scratch, {**tensors, "logits": ("I32", *tensors["logits"][1:])}, "logits", "I32")


@case
def sites_by_label(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    tensors["weights.L1.mlp"] = tensors.pop("weights.3")
    tensors["weights.final"] = tensors.pop("weights.8")
    said = agrees(scratch, tensors, 10)
    assert [t["name"] for t in said["tensors"]][3::5] == ["weights.L1.mlp", "weights.final"]
    refused(scratch, {**tensors, "weights.3": tensors["weights.L1.mlp"]}, "weights.3", "weights.L1.mlp", "one read")
    for name in ("weights.9", "weights.L4.attn", "weights.", "weights.3 "):
        refused(scratch, {**tensors, name: tensors["weights.4"]}, name, "no read")


@case
def sources_last(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    for name in [n for n in tensors if n.startswith("weights.")]:
        tensors[name] = stored(floats(tensors, name).transpose(1, 2, 0))
    agrees(scratch, tensors, 10)
    values = floats(tensors, "weights.4").copy()
    values[11:] += 0.01
    differs(scratch, {**tensors, "weights.4": stored(values)}, "weights.4", where="token 11")


@case
def a_layout_that_could_be_either(scratch):
    tensors = read_tensors(oracle(scratch, MH, n=4))  # four tokens, four heads; site 3 has four sources
    del tensors["outputs"]
    refused(scratch, tensors, "weights.3", "[4, 4, 4]", "another number of tokens")
    # what the file says of itself counts, where it says either
    path = scratch / "said.safetensors"
    turned = {**tensors, "weights.3": stored(floats(tensors, "weights.3").transpose(1, 2, 0))}
    for order, given, good in (("sources,tokens,heads", tensors, True), ("tokens,heads,sources", tensors, False),
                               ("sources,tokens,heads", turned, False), ("tokens,heads,sources", turned, True)):
        write_tensors(path, given, {"weights_order": order})
        result = probe(MH, "--verify", path, *CPU)
        assert result.code == (0 if good else 1) and ("weights.3" in result.out.splitlines()[-1]) == (not good), (order, result)
    write_tensors(path, tensors, {"weights_order": "heads first"})
    check_refusal(probe(MH, "--verify", path, *CPU), 3, "weights.3", "weights_order")
    del tensors["weights.3"]
    agrees(scratch, tensors, 9)


@case
def our_own_reference_is_never_ambiguous(scratch):
    for n in (2, 3, 4, 5):
        path = scratch / f"{n}.safetensors"
        for checkpoint, tensors in ((MH, 10), (FULL, 10)):
            succeed(checkpoint, "--save-reference", path, "--tokens", IDS, "--max-tokens", str(n), *CPU)
            assert f"{tensors} tensors agree" in succeed(checkpoint, "--verify", path, *CPU).out


@case
def some_rows_of_logits(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    rows = np.array([39, 0, 7], "<i8")
    logits = floats(tensors, "logits")[rows].copy()
    part = {**tensors, "logits": stored(logits), "positions": ("I64", [3], rows.tobytes())}
    agrees(scratch, part, 10)
    logits[0] += 1
    logits[2] += 1
    differs(scratch, {**part, "logits": stored(logits)}, "logits", where="token 7")
    refused(scratch, {**part, "positions": ("I64", [3], np.array([0, 1, 40], "<i8").tobytes())}, "positions", "40")
    refused(scratch, {**part, "positions": ("I64", [3], np.array([0, 1, -1], "<i8").tobytes())}, "positions", "-1")
    refused(scratch, {**part, "positions": ("I32", [3], rows.astype("<i4").tobytes())}, "positions")
    refused(scratch, {**part, "positions": ("I64", [2], rows[:2].tobytes())}, "logits", "positions")
    refused(scratch, {**part, "positions": ("I64", [0], b"")}, "positions")


@case
def weights_alone(scratch):
    tensors = read_tensors(oracle(scratch, MH))
    said = agrees(scratch, {k: tensors[k] for k in ("ids", "weights.5")}, 1)
    assert said["tensors"][0]["label"] == "L2.mlp" and said["tensors"][0]["site"] == 5


@case
def several_windows(scratch):
    """Each is run by itself: the same ids in another window make other numbers."""
    whole = [read_tensors(oracle(scratch, MH, n=12, offset=at)) for at in (0, 12, 24)]
    names = ["logits"] + [f"weights.{s}" for s in range(9)]
    tensors = {name: stored(np.stack([floats(t, name) for t in whole])) for name in names}
    tensors["ids"] = ("I64", [3, 12], b"".join(t["ids"][2] for t in whole))
    agrees(scratch, tensors, 10)
    values = floats(tensors, "weights.2").copy()
    values[1, :, 3:] += 0.01
    differs(scratch, {**tensors, "weights.2": stored(values)}, "weights.2", where="token 3 of window 1")
    differs(scratch, {**tensors, "weights.7": stored(floats(tensors, "weights.7")[::-1])}, "weights.7", where="token 0 of window 0|token 1 of window 0")
    refused(scratch, {**tensors, "weights.2": whole[0]["weights.2"]}, "weights.2")
    refused(scratch, {**tensors, "ids": ("I64", [1, 3, 12], tensors["ids"][2])}, "ids")


# References of our own

@case
def our_own_reference(scratch):
    path = scratch / "ours.safetensors"
    for checkpoint, n in ((MH, 10), (FULL, 10), (PLAIN, 1)):
        result = succeed(checkpoint, "--save-reference", path, "--tokens", IDS, "--max-tokens", "40", *CPU)
        assert result.out == ""
        said = agrees(scratch, read_tensors(path), n, checkpoint=checkpoint)
        assert all(t["relative_error"] == 0 for t in said["tensors"])
        theirs = read_tensors(oracle(scratch, checkpoint))
        ours = read_tensors(path)
        assert ours["ids"] == theirs["ids"]
        for name in set(ours) - {"ids"}:
            error = np.linalg.norm(floats(ours, name) - floats(theirs, name)) / np.linalg.norm(floats(theirs, name))
            assert ours[name][1] == theirs[name][1] and error < 1e-5, (name, error)
    assert subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import mhar_oracle as o; "
                           "print(len(o.read_safetensors(sys.argv[2])))", ORACLE, path], capture_output=True, check=True).stdout == b"2\n"


@case
def our_own_reference_is_of_one_window(scratch):
    path = scratch / "ours.safetensors"
    succeed(MH, "--save-reference", path, "--tokens", IDS, "--context", "24", *CPU)
    assert read_tensors(path)["ids"][1] == [24]
    succeed(DEMO / "mhar", "--save-reference", path, "--prompt", "The river rose at night.", *CPU)
    assert succeed(DEMO / "mhar", "--verify", path, *CPU).out.splitlines()[-1] == "14 tensors agree"


@case
def our_own_reference_where_it_cannot_be(scratch):
    words = [MH, "--tokens", IDS, "--max-tokens", "20", *CPU]
    refuse(scratch, 1, ["nowhere"], *words, "--save-reference", scratch / "nowhere" / "r.safetensors", outputs=False)
    refuse(scratch, 1, [scratch.name], *words, "--save-reference", scratch, outputs=False)
    copy = copy_checkpoint(MH, scratch / "copy")
    before = (copy / "model.safetensors").read_bytes()
    refuse(scratch, 2, ["overwritten"], copy, *words[1:], "--save-reference", copy / "model.safetensors", outputs=False)
    assert (copy / "model.safetensors").read_bytes() == before
    np.array([1, 4096], "<u2").tofile(scratch / "ids.u16")
    refuse(scratch, 3, ["4096"], MH, "--tokens", scratch / "ids.u16", *CPU, "--save-reference", scratch / "r", outputs=False)
    assert not (scratch / "r").exists()


@case
def bad_ids(scratch):
    refused(scratch, with_ids([]), "ids")
    refused(scratch, with_ids([1, 4096]), "4096")
    refused(scratch, with_ids([1, -1]), "-1")
    refused(scratch, with_ids([1, 2**62]), str(2**62))


@case
def one_id_will_do(scratch):
    path = scratch / "ref.safetensors"
    write_tensors(path, with_ids([5]))
    assert probe(MH, "--verify", path, *CPU).code == 1


@case
def more_ids_than_the_model_knows(scratch):
    """Beyond max_position_embeddings: run all the same, as the authors' code would."""
    write_tensors(scratch / "ref.safetensors", with_ids([1] * 1100))
    assert probe(MH, "--verify", scratch / "ref.safetensors", *CPU).code == 1


@case
def files_that_are_no_reference(scratch):
    good = (AUTHORS / "mini-full_mh.safetensors").read_bytes()
    for name, data in (("cut", good[:-1]), ("empty", b""), ("text", b"logits = 3\n" * 50)):
        path = scratch / f"{name}.safetensors"
        path.write_bytes(data)
        refuse(scratch, 3, [path.name], MH, "--verify", path, *CPU, outputs=False)
    refuse(scratch, 3, ["nowhere"], MH, "--verify", scratch / "nowhere", *CPU, outputs=False)
    refuse(scratch, 3, [scratch.name], MH, "--verify", scratch, *CPU, outputs=False)
    import os
    os.mkfifo(scratch / "fifo")
    refuse(scratch, 3, ["fifo"], MH, "--verify", scratch / "fifo", *CPU, outputs=False, timeout=10)


main()
