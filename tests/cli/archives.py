#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checkpoints saved by torch.save: one file in place of a folder, or pytorch_model.bin in one. The same numbers come out as
of the safetensors file; whatever else a pickle may hold is refused by name, and nothing of it is run."""
import collections
import os
import zipfile

import torchfile
from harness import *


def archive(scratch, change=lambda tensors: tensors, name="step.pt", source=MH, **how):
    """scratch/NAME with the tensors of a fixture, changed, and its config.json beside it."""
    shutil.copy(source / "config.json", scratch)
    torchfile.save(scratch / name, change(read_tensors(source / "model.safetensors")), **how)
    return scratch / name


def no(scratch, path, *words):
    refuse(scratch, 3, words, path, *SHORT)


def without_names(answer):
    answer.pop("command")
    answer["checkpoints"][0].pop("path")
    return answer


def prefixed(prefix):
    return lambda tensors: {prefix + k: v for k, v in tensors.items()}


def training(tensors):
    state = collections.OrderedDict(tensors)
    state._metadata = collections.OrderedDict(a={"version": 1})
    moments = {0: {"step": 3, "exp_avg": ("F32", [2], bytes(8))}}
    return {"model": state, "step": 12, "loss": 0.5, "best": None, "done": False, "betas": (0.9, 0.95), "tags": ["a", 2**40],
            "optimizer": {"state": moments, "param_groups": [{"lr": 1e-3, "params": [0, 1]}]}}


def same(scratch, change, how):
    path = archive(scratch, change, **how)
    assert without_names(report(path, *SHORT)) == without_names(report(MH, *SHORT))


for title, change, how in [
    ("a state dict", lambda t: t, {}),
    ("of protocol 4", lambda t: t, {"protocol": 4}),
    ("of protocol 5", lambda t: t, {"protocol": 5}),
    ("under model, with all that training keeps", training, {}),
    ("under state_dict", lambda t: {"state_dict": t}, {}),
    ("under model_state", lambda t: {"model_state": t}, {}),
    ("under model_state_dict", lambda t: {"model_state_dict": t, "epoch": 1}, {}),
    ("prefix module.", prefixed("module."), {}),
    ("prefix _orig_mod.", prefixed("_orig_mod."), {}),
    ("prefixes on one another", prefixed("_orig_mod.module._orig_mod."), {}),
    ("parameters", lambda t: {k: torchfile.parameter(torchfile.tensor(*v)) for k, v in t.items()}, {}),
    ("named .pth", lambda t: t, {"name": "model.pth"}),
    ("named .bin", lambda t: t, {"name": "model.bin"}),
    ("with another folder inside", lambda t: t, {"root": "checkpoint-7"}),
]:
    add(f"same numbers: {title}", same, change, how)


@case
def tensors_that_share_a_storage(scratch):
    def pack(tensors):
        whole = torchfile.Storage("BF16", b"".join(v[2] for v in tensors.values()))
        at, packed = 0, {}
        for name, (dtype, shape, data) in tensors.items():
            packed[name] = torchfile.tensor(dtype, shape, data, offset=at // 2, storage=whole)
            at += len(data)
        return packed
    same(scratch, pack, {})


@case
def folder_with_pytorch_model_bin(scratch):
    archive(scratch, name="pytorch_model.bin")
    assert without_names(report(scratch, *SHORT)) == without_names(report(MH, *SHORT))


@case
def folder_with_bin_shards(scratch):
    tensors = read_tensors(MH / "model.safetensors")
    names = list(tensors)
    parts = {"pytorch_model-00001-of-00002.bin": names[:20], "pytorch_model-00002-of-00002.bin": names[20:]}
    for part, held in parts.items():
        torchfile.save(scratch / part, {n: tensors[n] for n in held})
    index = {"weight_map": {n: part for part, held in parts.items() for n in held}}
    (scratch / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    shutil.copy(MH / "config.json", scratch)
    assert without_names(report(scratch, *SHORT)) == without_names(report(MH, *SHORT))
    (scratch / "pytorch_model-00002-of-00002.bin").unlink()
    no(scratch, scratch, "pytorch_model-00002-of-00002.bin", "fetch that file")


@case
def text_goes_through_the_tokenizer_beside_it(scratch):
    path = archive(scratch, source=DEMO / "mhar")
    shutil.copy(DEMO / "mhar" / "tokenizer.json", scratch)
    how = ["--prompt", "The river rose at night, and nobody had seen it.", "--device", "cpu", "--collinearity"]
    assert without_names(report(path, *how)) == without_names(report(DEMO / "mhar", *how))


@case
def config_from_elsewhere(scratch):
    path = archive(scratch)
    (scratch / "config.json").rename(scratch / "other.json")
    no(scratch, path, "step.pt", "no config.json beside it", "--config")
    answer = report(path, "--config", scratch / "other.json", *SHORT)
    assert without_names(answer) == without_names(report(MH, *SHORT))
    refuse(scratch, 3, ["nowhere.json"], path, "--config", scratch / "nowhere.json", *SHORT)


@case
def config_goes_before_that_of_a_folder(scratch):
    values = json.loads((MH / "config.json").read_text())
    values["attnres_mode"] = "full"
    (scratch / "one.json").write_text(json.dumps(values))
    assert report(MH, "--config", scratch / "one.json", *SHORT)["checkpoints"][0]["heads"] == 1


@case
def digest_depends_on_every_tensor(scratch):
    digests = []
    for turn in range(2):
        def change(tensors):
            dtype, shape, data = tensors["model.layers.0.mlp.down_proj.weight"]
            tensors["model.layers.0.mlp.down_proj.weight"] = (dtype, shape, bytes([data[0] ^ turn]) + data[1:])
            return tensors
        path = archive(scratch, change)
        succeed(path, *SHORT, "--digest", "-o", scratch / "out.h5")
        digests.append((scratch / "out.h5").read_bytes())
    assert digests[0] != digests[1]


# What is refused.

class Evil:
    """Were it unpickled, a file would appear."""
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (os.mkdir, (self.path,))


@case
def nothing_is_run(scratch):
    path = archive(scratch, lambda t: {"model": t, "hook": Evil(scratch / "made by the pickle")})
    no(scratch, path, "step.pt", "posix.mkdir is not read", "so that no code can run")
    assert not (scratch / "made by the pickle").exists()
    with zipfile.ZipFile(path) as z:
        data = z.read("archive/data.pkl")
    assert b"posix\nmkdir\n" in data  # Python would have run it


for module, name in [("numpy.core.multiarray", "scalar"), ("numpy.core.multiarray", "_reconstruct"), ("argparse", "Namespace"),
                     ("builtins", "eval"), ("torch._utils", "_rebuild_sparse_tensor"), ("torch", "load"),
                     ("torch.storage", "_load_from_bytes"), ("omegaconf.dictconfig", "DictConfig"), ("pathlib", "PosixPath")]:
    def other_name(scratch, module, name):
        call = torchfile.Call(torchfile.named(module, name), 1)
        no(scratch, archive(scratch, lambda t: {"model": t, "x": call}), "step.pt", f"{module}.{name} is not read")
    add(f"refused by name: {module}.{name}", other_name, module, name)


KEY = "model.layers.0.mlp.down_proj.weight"


def turned(tensors):
    dtype, (rows, columns), data = tensors[KEY]
    tensors[KEY] = torchfile.tensor(dtype, [rows, columns], data, stride=[1, rows])
    return tensors


def cut_storage(tensors):
    dtype, shape, data = tensors[KEY]
    tensors[KEY] = torchfile.tensor(dtype, shape, data[:-4])
    return tensors


for title, change, how, words in [
    ("a transposed tensor", turned, {}, (KEY, "transposed")),
    ("a storage cut short", cut_storage, {}, (KEY, "of a storage that has")),
    ("compressed", lambda t: t, {"compression": zipfile.ZIP_DEFLATED}, ("archive/data.pkl", "compressed (method 8)")),
    ("big-endian", lambda t: t, {"byteorder": "big"}, ("little-endian",)),
    ("two state dicts", lambda t: {"model": t, "state_dict": t}, {}, ("'model'", "'state_dict'")),
    ("no state dict", lambda t: {"weights": t}, {}, ("no state dict",)),
    ("a list", lambda t: [1, 2], {}, ("no state dict",)),
    ("names alike without prefixes", lambda t: {**t, "module." + KEY: t[KEY]}, {}, (KEY, "twice")),
    ("a tensor absent", lambda t: {k: v for k, v in t.items() if k != KEY}, {}, (KEY, "missing")),
    ("protocol 0", lambda t: t, {"protocol": 0}, ("protocol 0 or 1 is not read",)),
    ("protocol 1", lambda t: t, {"protocol": 1}, ("protocol 0 or 1 is not read",)),
]:
    add(f"refused: {title}", lambda scratch, change, how, words: no(scratch, archive(scratch, change, **how), "step.pt", *words),
        change, how, words)


@case
def old_pickles(scratch):
    data, _ = torchfile.pickled({"a": 1})
    (scratch / "old.pt").write_bytes(data)
    no(scratch, scratch / "old.pt", "old.pt", "torch before 1.6", "save it again")


@case
def every_cut_of_a_file(scratch):
    path = archive(scratch)
    data = path.read_bytes()
    for n in sorted({0, 1, 4, 30, 1000, len(data) // 2, len(data) - 4000, len(data) - 100, len(data) - 22, len(data) - 1}):
        path.write_bytes(data[:n])
        no(scratch, path, "step.pt")


@case
def special_files(scratch):
    shutil.copy(MH / "config.json", scratch)
    os.mkfifo(scratch / "fifo.pt")
    no(scratch, scratch / "fifo.pt", "fifo.pt", "not a folder")
    (scratch / "loop.pt").symlink_to("loop.pt")
    no(scratch, scratch / "loop.pt", "loop.pt")
    (scratch / "link.pt").symlink_to(archive(scratch, name="real.pt"))
    succeed("--info", scratch / "link.pt")


main()
