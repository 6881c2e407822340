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


def differs(scratch, tensors, first, checkpoint=MH, args=()):
    path = scratch / "ref.safetensors"
    write_tensors(path, tensors)
    result = probe(checkpoint, "--verify", path, *CPU, *args)
    assert result.code == 1, str(result)
    assert result.out.splitlines()[-1] == f"first tensor beyond the tolerance: {first}", result.out
    assert re.search(rf"^{re.escape(first)} .* DIFFERS$", result.out, re.M), result.out
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

def oracle(scratch, checkpoint, n=40):
    path = scratch / "oracle.safetensors"
    ids = " ".join(map(str, np.fromfile(IDS, "<u2")[:n]))
    subprocess.run([sys.executable, ORACLE / "mhar_oracle.py", "forward", checkpoint, "--tokens", ids, "--out", path], check=True,
                   stdout=subprocess.DEVNULL)
    return path


def weights(scratch, checkpoint, sites):
    path = oracle(scratch, checkpoint)
    result = succeed(checkpoint, "--verify", path, *CPU)
    rows = re.findall(r"^(\S+) +relative norm error (\S+), largest (\S+) +ok$", result.out, re.M)
    assert [r[0] for r in rows] == ["logits"] + [f"weights.{s}" for s in range(sites)], result.out
    assert result.out.splitlines()[-1] == f"{sites + 1} tensors agree" if sites else "1 tensor agrees", result.out
    largest = max([float(r[2]) for r in rows[1:]], default=0)
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
    result = differs(scratch, tampered(tampered(tensors, "weights.5", swap), "weights.7", swap), "weights.5")
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
    refused(scratch, {"ids": good["ids"]}, "logits")
    refused(scratch, {"logits": good["logits"]}, "ids")
    refused(scratch, {}, "ids")


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
