#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small inputs of every kind for the fuzz targets, made from the fixtures: make-seeds.py FOLDER makes FOLDER/TARGET/NAME.

They are made where they are used and not kept; what a fuzzer once found is kept, in corpus/TARGET/."""
import json
import struct
import sys
from pathlib import Path

import h5py
import numpy as np

TESTS = Path(__file__).resolve().parent.parent
FIXTURES = TESTS / "fixtures"
DEMO = TESTS.parent / "data" / "demo"
WIDTH, LAYERS, VOCAB = 8, 2, 16


def header_of(path):
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        return json.loads(f.read(size))


def tensors(entries):
    """A safetensors file of zeros: [(name, dtype, shape)]."""
    bits = {"BF16": 2, "F16": 2, "F32": 4, "I64": 8, "U8": 1}
    header, at = {}, 0
    for name, dtype, shape in entries:
        n = bits[dtype] * int(np.prod(shape, dtype=np.int64))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(i % 64 for i in range(at))


def shrink(folder):
    """The fixture's config and tensors at a width of 8: the same names, the same kinds of shapes, a few kB."""
    config = json.loads((folder / "config.json").read_text())
    header = header_of(folder / "model.safetensors")
    header.pop("__metadata__", None)
    sizes = {config["hidden_size"]: WIDTH, config["vocab_size"]: VOCAB}
    ffn = config.get("intermediate_size")
    heads, dim = config["num_attention_heads"], config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    kv = config.get("num_key_value_heads") or heads
    sizes.setdefault(ffn, 6)
    sizes.setdefault(heads * dim, heads * 2)
    sizes.setdefault(kv * dim, kv * 2)
    sizes.setdefault(dim, 2)
    entries = [(k, v["dtype"], [sizes.get(n, n) for n in v["shape"]]) for k, v in header.items()]
    small = dict(config, hidden_size=WIDTH, vocab_size=VOCAB, intermediate_size=sizes[ffn], head_dim=2)
    return json.dumps(small, separators=(",", ":")).encode(), tensors(entries)


def tokenizer(pattern=True, extra=None):
    full = json.loads((DEMO / "single" / "tokenizer.json").read_text())
    full["model"].update(vocab={t: i for i, t in enumerate(["<|endoftext|>", "t", "h", "e", "Ġ", "th", "the", "Ġthe", "a", "aa"])},
                         merges=[["t", "h"], "th e", ["Ġ", "the"], ["a", "a"]])
    if not pattern:
        full["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    full["model"].update(extra or {})
    return json.dumps(full, ensure_ascii=False, separators=(",", ":")).encode()


def pickled(body):
    return b"\x80\x02" + body + b"."


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()


def tensor_pickle(key="0", shape=(2, 2)):
    size = b"(" + b"".join(b"K" + bytes([n]) for n in shape) + b"t"
    stride = b"(" + b"".join(b"K" + bytes([int(np.prod(shape[i + 1:], dtype=int))]) for i in range(len(shape))) + b"t"
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + b"K" + bytes([int(np.prod(shape))]) + b"tQ"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\0" + size + stride + b"\x89ccollections\nOrderedDict\n)RtR"


def pickles():
    state = b"}(" + text("a.weight") + tensor_pickle() + text("b") + tensor_pickle("1", (4,)) + b"u"
    return {"state": pickled(state), "wrapped": pickled(b"}" + text("model") + state + b"s"),
            "ordered": pickled(b"ccollections\nOrderedDict\n)R(" + text("module.a") + tensor_pickle() + b"u}" + text("v") + b"K\1sb"),
            "plain": pickled(b"](NG?\xf0\0\0\0\0\0\0J\xff\xff\xff\xff\x8a\x02\xff\x7f\x88\x89K\1M\1\1e"),
            "memo": pickled(b"]q\0h\0a(]r\1\0\0\0j\1\0\0\0t0"), "proto4": b"\x80\x04\x95\x09\0\0\0\0\0\0\0}\x94\x8c\x01a\x94K\1s.",
            "call": pickled(b"cos\nsystem\n(" + text("true") + b"tR")}


def zipped(files):
    import io
    import zipfile
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        for name, data in files.items():
            z.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def archives():
    data = struct.pack("<4f", 1, 2, 3, 4)
    return {name: zipped({"m/data.pkl": p, "m/byteorder": b"little", "m/data/0": data, "m/data/1": data, "m/version": b"3\n"})
            for name, p in pickles().items()}


def npys():
    out = {}
    for kind in ("<u2", "<i4", "<u4", "<i8", "|u1", "<f4"):
        shape = f"'descr': '{kind}', 'fortran_order': False, 'shape': (3,), "
        head = ("{" + shape + "}").ljust(53).encode() + b"\n"
        out[kind[1:]] = b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + bytes(3 * int(kind[2]))
    out["version2"] = b"\x93NUMPY\x02\0" + struct.pack("<I", len(head)) + head + bytes(12)
    out["raw16"], out["raw32"] = b"\x01" + bytes(range(8)), b"\x02" + bytes(8)
    return out


def saved_run(path, version, chunks=None, many=0):
    """A file as ours are: schema, groups, variables with scales, texts, references. Where there are `many` more, HDF5 keeps
    their names in fractal heaps and B-trees."""
    with h5py.File(path, "w", libver=version) as f:
        f.attrs["mhar_schema"] = np.int64(1)
        f.attrs["default"] = "checkpoint_0"
        g = f.create_group("checkpoint_0", track_order=True)
        g.attrs["path"], g.attrs["layers"], g.attrs["loss"] = "m", np.int64(2), 1.5
        g.attrs.create("warnings", ["one", "two"], dtype=h5py.string_dtype())
        g["site"], g["source"] = np.arange(3, dtype="i4"), np.arange(2, dtype="i4")
        g.create_dataset("site_label", data=["a", "b", "c"], dtype=h5py.string_dtype())
        more = {"chunks": chunks, "compression": 4, "shuffle": True} if chunks else {}
        g.create_dataset("weight", data=np.ones((3, 2), "f4"), **more)
        g.create_dataset("entropy", data=np.ones(3, "f8"))
        for name in ("site", "source"):
            g[name].make_scale(name)
        for name, dims in (("site_label", ["site"]), ("weight", ["site", "source"]), ("entropy", ["site"])):
            for i, d in enumerate(dims):
                g[name].dims[i].attach_scale(g[d])
            g[name].attrs["units"] = "1"
        p = f.create_group("provenance", track_order=True)
        p.attrs["version"] = "1"
        for i in range(many):
            g.create_dataset(f"more_{i}", data=np.int32(i))
            p.attrs[f"word_{i}"] = np.int64(i)
    return path.read_bytes()


CONFIGS = sorted(FIXTURES.glob("mini-*")) + [FIXTURES / "d3-block"] + sorted((FIXTURES / "hf").glob("*/"))
INDEX = {"metadata": {"total_size": 8}, "weight_map": {"x": "a.safetensors", "y": "b.safetensors", "z": "a.safetensors"}}
MAP = {"name": "ours", "attn": {"query": "q.{i}.w", "norm": "n.{i}"}, "mlp": {"product": "p.{i}", "bias": "b.{i}"},
       "final": {"query": "q.final"}, "read": "add", "blocks": "layers:2", "heads": 2, "eps": 1e-5,
       "body": {"model.embed_tokens.weight": "emb", "model.layers.{i}.self_attn.q_proj.weight": "h.{i}.q"}}
PATTERNS = ["'s|'t| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", "(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s*[\\r\\n]+",
            "(a+)+b", "(?:a|aa)+$", "(a*)*c", "[a-f\\x{41}-\\u0046]{2,5}+|.", "(?<=a)b|(?>x+)y|^q$", "(\\w+\\s?)+!"]


def seeds(scratch):
    small = {p.name: shrink(p) for p in CONFIGS if (p / "model.safetensors").exists()}
    configs = {p.name: (p / "config.json").read_bytes() for p in CONFIGS if (p / "config.json").exists()}
    yield "checkpoint", {k: c + b"\0" + t for k, (c, t) in small.items()}
    yield "config", configs
    yield "safetensors", {"few": tensors([("a", "F32", [2, 2]), ("b", "BF16", [3]), ("c", "U8", [])]), "none": tensors([]),
                          "metadata": struct.pack("<Q", 32) + b'{"__metadata__":{"format":"pt"}} '[:32],
                          "mini": small["mini-full"][1]}
    yield "index", {"two": json.dumps(INDEX).encode(), "away": json.dumps(dict(INDEX, weight_map={"x": "../a"})).encode()}
    yield "name-map", {"full": json.dumps(MAP).encode(), "least": b'{"attn":{"query":"a{i}"},"mlp":{"query":"b{i}"}}'}
    yield "tokenizer", {"split": tokenizer(), "gpt2": tokenizer(pattern=False), "ignore": tokenizer(extra={"ignore_merges": True})}
    yield "pattern", {str(i): p.encode() + b"\n" + b"aaaa bbb's 123\r\n\n aab!" + b"a" * 40 for i, p in enumerate(PATTERNS)}
    yield "text", {"demo": (DEMO / "text.txt").read_bytes()[:600], "marks": "e\u0301 \u1100\u1161 <|endoftext|>\0 \U0001f600\r\n".encode(),
                   "run": b"a" * 300, "bad": b"ab\xff\xc3"}
    yield "pickle", pickles()
    yield "torch", archives()
    yield "npy", npys()
    yield "h5", {"ours": saved_run(scratch, ("v108", "v108")), "latest": saved_run(scratch, "latest"),
                 "earliest": saved_run(scratch, "earliest"), "chunked": saved_run(scratch, ("v108", "v108"), (2, 2)),
                 "latest-chunked": saved_run(scratch, "latest", (2, 2)), "dense": saved_run(scratch, ("v108", "v108"), None, 12)}


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    scratch = out / "scratch.h5"
    for target, files in seeds(scratch):
        (out / target).mkdir(exist_ok=True)
        for name, data in files.items():
            (out / target / f"seed-{name}").write_bytes(data)
    scratch.unlink()


main()
